import type { Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import { unreadable } from '../../core/asset/poll.ts';
import { ask, type Answer, type Request } from './answer.ts';
import { writeCursorFile } from './cursor-file.ts';
import { summaryLine, versionLines } from './lines.ts';
import { write } from './once.ts';

/**
 * Answers `{location, format?, branch?, cursor?}` requests, one a line, in order, each with its version lines and its summary, until the
 * input ends. A request that cannot be answered gets a summary with outcome UNREADABLE, so that every line has its answer.
 */
export async function serveStdin(input: Readable, out: Writable): Promise<void> {
  for await (const line of createInterface({ input })) {
    if (line.trim() !== '') await serve(line, out);
  }
}

async function serve(line: string, out: Writable): Promise<void> {
  const answer = await answerTo(line);
  await write(out, versionLines(answer));
  await moveCursor(answer);
  await write(out, summaryLine(answer));
}

/** After the versions and before the summary: whoever has read the summary may use the cursor file, and dying in between repeats, never loses. */
async function moveCursor({ request, next }: Answer): Promise<void> {
  if (request.cursorFile === null || next === null) return;
  try {
    await writeCursorFile(request.cursorFile, next);
  } catch (error) {
    process.stderr.write(`sluice: ${messageOf(error)}\n`);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function answerTo(line: string): Promise<Answer> {
  const request = parseRequest(line);
  if (typeof request === 'string') return failure(NO_REQUEST, request);
  try {
    return await ask(request);
  } catch (error) {
    return failure(request, messageOf(error));
  }
}

const NO_REQUEST: Request = { location: '', format: null, branch: null, since: null, cursorFile: null };

const failure = (request: Request, reason: string): Answer => ({
  request,
  format: request.format,
  poll: unreadable(null, reason, false),
  commits: [],
  schemaBefore: null,
  next: null,
});

/** The request, or what is wrong with the line. */
function parseRequest(line: string): Request | string {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return 'The request is not JSON: write one object a line, such as {"location": "./warehouse/ods.db/orders"}.';
  }
  if (typeof json !== 'object' || json === null) return 'The request is not a JSON object: it must have a location.';
  const { location, format = null, branch = null, cursor = null } = json as Record<string, unknown>;
  if (typeof location !== 'string' || location === '')
    return 'The request has no location: name the folder of a table.';
  if (!isTextOrNull(format) || !isTextOrNull(branch) || !isTextOrNull(cursor))
    return 'format, branch and cursor of the request must be texts.';
  return { location, format, branch, since: null, cursorFile: cursor };
}

const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string';
