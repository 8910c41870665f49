import Type, { type Static } from 'typebox';
import { Nullable, Time } from './common.ts';
import { GroupAnswerBody, LastFireBody } from './dependencies.ts';

/** An attempt that waits, with each of its groups as it is now; any one of them releases it. */
const WaitingAttemptBody = Type.Object({
  runId: Type.Integer(),
  taskInstanceId: Type.Integer(),
  attempt: Type.Integer(),
  since: Time,
  /** When its time is up; null: never. */
  deadline: Nullable(Time),
  groups: Type.Array(GroupAnswerBody),
});
export type WaitingAttemptBody = Static<typeof WaitingAttemptBody>;

/** Why a waiting task has not gone on. `groups` are those of the newest attempt that waits; `waiting` has up to 20 of `waitingCount`. */
export const TaskWhyBody = Type.Object({
  workflow: Type.String(),
  task: Type.String(),
  /** false: the task does not wait for tables. */
  waits: Type.Boolean(),
  groups: Type.Array(GroupAnswerBody),
  waiting: Type.Array(WaitingAttemptBody),
  waitingCount: Type.Integer(),
  lastRelease: Nullable(Type.Object({ group: Type.String(), ...LastFireBody.properties })),
});
export type TaskWhyBody = Static<typeof TaskWhyBody>;
