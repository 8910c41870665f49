import type { Cursor, Outcome, Poll } from '../../core/asset/poll.ts';
import type { TableSchema } from '../../core/asset/schema.ts';
import { commitTime, newestWithData, tell, type ReadFiles, type Told } from './commits.ts';
import type { CommitFile } from './commit-file.ts';
import { toCursor, type Memory, type SeenCommit } from './cursor.ts';
import type { Missing, Passage } from './decide.ts';
import type { Settled, Sight } from './look.ts';
import type { LogReader } from './reader.ts';
import { stagedVersions } from './staged.ts';
import { keepingSchema, type TableState } from './state.ts';

/** All that a look at a table found. */
export interface Findings {
  readonly cursor: Cursor | null;
  readonly memory: Memory | null;
  readonly sight: Sight;
  readonly verdict: Settled;
  readonly way: Passage;
  readonly read: ReadFiles;
  readonly told: Told;
}

/** What the memory says of a table that was not looked at, or that has not changed. */
export const remembered = ({ head, dataHead, state }: Memory): Omit<Poll, 'outcome' | 'cursor'> => ({
  commits: [],
  head: head.id.toString(),
  dataHead: dataHead?.toString() ?? null,
  tags: {},
  tagChanges: [],
  schema: state?.schema ?? null,
  newSchemas: [],
  tableId: state?.tableId ?? null,
  problems: [],
});
