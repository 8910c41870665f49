import type { Result } from '../core/result.ts';

/** What a task plugin gets: parameters already resolved by priority; `render` substitutes ${...} in a text and refuses unsafe values. */
export interface TaskContext {
  readonly params: Readonly<Record<string, unknown>>;
  readonly render: (text: string) => Result<string>;
}

/** What there is to do: a process for an executor, or nothing at all. */
export type TaskWork =
  | { readonly kind: 'PROCESS'; readonly script: string; readonly cwd: string | null }
  | { readonly kind: 'NOTHING' };

/** A task type. One file in tasks/, one line in compose/tasks.ts, one page in docs/guide/tasks. */
export interface TaskPlugin {
  /** `SHELL`, `NOOP` … as definitions name it. */
  readonly type: string;
  /** false: nothing runs, so that nobody would read the task's local parameters, and no time limit could end it. */
  readonly hasBody: boolean;
  /** Are these parameters usable? The problem names the field and what it must be. */
  check(params: Readonly<Record<string, unknown>>): Result<void>;
  prepare(context: TaskContext): Result<TaskWork>;
}
