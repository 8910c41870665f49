import type { Client, Query } from './client.ts';

const LARGEST = 500;

/** The first `limit` items of a list, page by page. */
export const collect = async <T>(client: Client, path: string, limit: number, query: Query = {}): Promise<T[]> => {
  const items: T[] = [];
  let cursor: string | undefined;
  while (items.length < limit) {
    const page = await client.get<{ items: T[]; nextCursor: string | null }>(path, {
      ...query,
      cursor,
      limit: Math.min(LARGEST, limit - items.length),
    });
    items.push(...page.items);
    if (page.nextCursor === null || page.items.length === 0) break;
    cursor = page.nextCursor;
  }
  return items;
};
