import { resolve } from 'node:path';
import { unreadable, type Poll } from '../../core/asset/poll.ts';
import type { TableSchema } from '../../core/asset/schema/schema.ts';
import type { Commit } from '../../core/asset/version.ts';
import { SluiceError } from '../../core/errors.ts';
import {
  detectFormat,
  loadFiles,
  loadSource,
  READABLE_FORMATS,
  schemeOf,
  whyNoTable,
  type TableRef,
} from '../../compose/sources.ts';
import { readCursorFile, type SavedCursor } from './cursor-file.ts';

/** One question about a table. */
export interface Request {
  readonly location: string;
  /** null: found out from what stands in the folder. */
  readonly format: string | null;
  /** null: main. */
  readonly branch: string | null;
  /** Only versions after this one. */
  readonly since: string | null;
  /** Only what happened since the cursor in this file. */
  readonly cursorFile: string | null;
}

/** What a source said, and what is needed to tell it. */
export interface Answer {
  readonly request: Request;
  /** null: no table was found. */
  readonly format: string | null;
  readonly poll: Poll;
  /** The commits to be listed: those of the poll, or fewer with `since`. */
  readonly commits: readonly Commit[];
  /** The schema at the cursor; null without one. */
  readonly schemaBefore: TableSchema | null;
  /** What to write into the cursor file once the answer has been given; null: leave it as it is. */
  readonly next: SavedCursor | null;
}

/**
 * Asks the table. A table in any state gets an answer (UNREADABLE included). Throws SluiceError for a cursor file that cannot be used
 * and for a `since` that the table does not have.
 */
export async function ask(request: Request): Promise<Answer> {
  const saved = request.cursorFile === null ? null : await readCursorFile(request.cursorFile);
  const location = schemeOf(request.location) === '' ? resolve(request.location) : request.location;
  const files = await loadFiles(location);
  if (files === undefined)
    return noAnswer(
      request,
      `Sluice does not read ${schemeOf(location)}: locations yet: name a folder on this machine.`,
    );
  const table: TableRef = { location, branch: request.branch, files };
  const format =
    request.format ?? saved?.format ?? (await detectFormat(table)) ?? (await detectFormat({ ...table, branch: null }));
  if (format === undefined) return noAnswer(request, await whyNoTable(table));
  if (saved !== null && saved.format !== format)
    throw new SluiceError(
      'BAD_REQUEST',
      `The cursor file belongs to a table of format ${saved.format}: name another file.`,
    );
  const source = await loadSource(format);
  if (source === undefined)
    return {
      ...noAnswer(request, `Sluice does not read ${format} tables yet, only ${READABLE_FORMATS.join(', ')}.`),
      format,
    };
  const poll = await source.poll(table, saved?.cursor ?? null, { firstReadLimit: Number.MAX_SAFE_INTEGER });
  return answerOf(request, format, poll, saved);
}

function answerOf(request: Request, format: string, poll: Poll, saved: SavedCursor | null): Answer {
  const readable = poll.outcome.kind !== 'UNREADABLE' && poll.cursor !== null;
  const next = readable ? { format, cursor: poll.cursor, schema: poll.schema ?? saved?.schema ?? null } : null;
  const commits = request.since === null || !readable ? poll.commits : commitsAfter(request.since, poll);
  const since: Poll =
    request.since === null || !readable ? poll : { ...poll, outcome: { kind: commits.length > 0 ? 'NEW' : 'NONE' } };
  return { request, format, poll: since, commits, schemaBefore: saved?.schema ?? null, next };
}

const noAnswer = (request: Request, reason: string): Answer => {
  const poll = unreadable(null, reason, false);
  return { request, format: null, poll, commits: [], schemaBefore: null, next: null };
};

function commitsAfter(since: string, { commits }: Poll): readonly Commit[] {
  const at = commits.findIndex((commit) => commit.snapshotId === since);
  if (at !== -1) return commits.slice(at + 1);
  const [first, last] = [commits.at(0), commits.at(-1)];
  const range = first === undefined ? 'it has none' : `it has ${first.snapshotId} to ${last?.snapshotId}`;
  throw new SluiceError(
    'NOT_FOUND',
    `The table has no readable version ${since} (${range}): name one of those with --since.`,
  );
}
