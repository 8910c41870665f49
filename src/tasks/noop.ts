import { ok } from '../core/result.ts';
import { checkNames } from './params.ts';
import type { TaskPlugin } from './task.ts';

/** NOOP: does nothing and succeeds. It joins branches, and stands for work that happens elsewhere. */
export const noop: TaskPlugin = Object.freeze({
  type: 'NOOP',
  hasBody: false,
  check: (params) => checkNames('NOOP', params, []),
  prepare: () => ok({ kind: 'NOTHING' }),
} satisfies TaskPlugin);
