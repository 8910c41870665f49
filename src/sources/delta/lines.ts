import { setImmediate } from 'node:timers/promises';

/** Bytes that are worked on before others get their turn: some 5 ms. */
export const TURN = 256 * 1024;

/** The bytes in pieces of a turn each. */
export function* parts(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += TURN) yield bytes.subarray(at, at + TURN);
}

const LINE_FEED = 10;

/**
 * Calls `visit` for each line of a file that is not blank, giving way to others in between, so that a commit of a million files holds up
 * nobody. `last`: nothing follows it.
 */
export async function eachLine(bytes: Uint8Array, visit: (line: string, last: boolean) => void): Promise<void> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let turn = TURN;
  for (let at = 0; at < text.length; ) {
    const feed = text.indexOf(LINE_FEED, at);
    const end = feed === -1 ? text.length : feed;
    const line = text.toString('utf8', at, end);
    if (line.trim() !== '') visit(line, feed === -1 || feed === text.length - 1);
    at = end + 1;
    if (at < turn) continue;
    turn = at + TURN;
    await setImmediate();
  }
}
