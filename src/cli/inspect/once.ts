import type { Writable } from 'node:stream';
import { ask, type Request } from './answer.ts';
import { writeCursorFile } from './cursor-file.ts';
import { jsonLines } from './lines.ts';

/** Resolves when the text has been handed to who reads it. */
export const write = (out: Writable, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    out.write(text, (error) => (error ? reject(error) : resolve()));
  });

/** Answers one request; the cursor is moved only after the answer was written. Returns the exit code: 1 if the table is unreadable. */
export async function inspectOnce(request: Request, json: boolean, out: Writable, err: Writable): Promise<number> {
  const answer = await ask(request);
  const { outcome } = answer.poll;
  if (json) await write(out, jsonLines(answer));
  if (outcome.kind === 'UNREADABLE') {
    await write(err, `sluice: ${outcome.reason}\n`);
    return 1;
  }
  if (!json) {
    const { describe } = await import('./text.ts');
    await write(out, describe(answer));
  }
  if (request.cursorFile !== null && answer.next !== null) await writeCursorFile(request.cursorFile, answer.next);
  return 0;
}
