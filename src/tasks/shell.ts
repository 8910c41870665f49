import { ok, refuse } from '../core/result.ts';
import { checkNames } from './params.ts';
import type { TaskPlugin } from './task.ts';

/** SHELL: a script for bash. `rawScript` is its text, in which `${name}` stands for a parameter. */
export const shell: TaskPlugin = Object.freeze({
  type: 'SHELL',
  hasBody: true,
  check: (params) => {
    const named = checkNames('SHELL', params, ['rawScript']);
    if (!named.ok) return named;
    return isScript(params['rawScript']) ? ok(undefined) : noScript;
  },
  prepare: ({ params, render }) => {
    const raw = params['rawScript'];
    if (!isScript(raw)) return noScript;
    const script = render(raw);
    return script.ok ? ok({ kind: 'PROCESS', script: script.value, cwd: null }) : script;
  },
} satisfies TaskPlugin);

const noScript = refuse('BAD_FILE', 'A SHELL task needs params.rawScript: the text of its script, not empty.');

const isScript = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
