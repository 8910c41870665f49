import { type ErrorCode, SluiceError } from './errors.ts';

/** The outcome of something that may be refused: a value, or the problem in words for people. */
export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

/** Why something was refused. `code` is a key of ERRORS (errors.ts); `detail` is one sentence that says what to do. */
export interface Problem {
  readonly code: ErrorCode;
  readonly detail: string;
}

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });

export const refuse = (code: ErrorCode, detail: string): { readonly ok: false; readonly problem: Problem } => ({
  ok: false,
  problem: { code, detail },
});

/** For whoever cannot go on without the value: the problem is thrown as a SluiceError. */
export const valueOrThrow = <T>(result: Result<T>): T => {
  if (result.ok) return result.value;
  throw new SluiceError(result.problem.code, result.problem.detail);
};
