import type { App } from '../app.ts';

/** Which methods a path answers to, by the routes that were declared. */
export interface Methods {
  /** Sorted; empty: there is nothing at this path. */
  at(path: string): readonly string[];
}

/** Must be called before the first route is declared. */
export const noteMethods = (app: App): Methods => {
  const routes: { readonly pattern: readonly string[]; readonly method: string }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) routes.push({ pattern: url.split('/'), method: each });
  });
  return {
    at: (path) => {
      const parts = path.split('/');
      return [...new Set(routes.flatMap(({ pattern, method }) => (fits(pattern, parts) ? [method] : [])))].sort();
    },
  };
};

const fits = (pattern: readonly string[], parts: readonly string[]): boolean =>
  pattern.length === parts.length &&
  pattern.every((part, i) => (part.startsWith(':') ? parts[i] !== '' : part === parts[i]));
