import { isJsonObject, parseJson, type Json } from '../../core/json.ts';
import { paced } from './paced.ts';
import { createTally, type CommitFacts, type Tally } from './tally.ts';

const [QUOTE, ESCAPE, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Bytes passed over between two pauses: a few milliseconds. */
const SLICE = 1024 * 1024;
/** Write stats that are read between two pauses: some milliseconds. */
const AT_ONCE = 256;

type Steps<T = void> = Generator<undefined, T, undefined>;

/**
 * Walks through JSON text so that a long list in it need not be held or parsed as a whole. Throws SyntaxError for text that ends too
 * soon; what is passed over is only checked for its brackets.
 */
class JsonText {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The next byte that is no space; undefined at the end. */
  peek(): number | undefined {
    while (isSpace(this.#bytes[this.#at])) this.#at++;
    return this.#bytes[this.#at];
  }

  expect(byte: number): void {
    if (this.peek() !== byte) throw new SyntaxError('it is not whole JSON');
    this.#at++;
  }

  /** Is there one more member or item? Goes past the comma, or past the closing bracket. */
  more(close: number): boolean {
    if (this.peek() === COMMA) this.#at++;
    if (this.peek() !== close) return true;
    this.#at++;
    return false;
  }

  *key(): Steps<string> {
    if (this.peek() !== QUOTE) throw new SyntaxError('it is not whole JSON');
    const key = yield* this.value();
    this.expect(COLON);
    return String(key);
  }

  /** The next value, parsed as a whole. */
  *value(): Steps<Json> {
    this.peek();
    const start = this.#at;
    yield* this.pass();
    return parseJson(this.#bytes.toString('utf8', start, this.#at));
  }

  /** Goes past the next value. */
  *pass(): Steps {
    this.peek();
    let depth = 0;
    let pause = this.#at + SLICE;
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new SyntaxError('it ends too soon');
      if (byte === QUOTE) this.#passText();
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
      else if (depth === 0) return this.#passWord();
      if (byte !== QUOTE) this.#at++;
      if (depth <= 0) return;
      if (this.#at < pause) continue;
      pause = this.#at + SLICE;
      yield;
    }
  }

  #passText(): void {
    for (this.#at++; ; this.#at++) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new SyntaxError('it ends too soon');
      if (byte === ESCAPE) this.#at++;
      else if (byte === QUOTE) break;
    }
    this.#at++;
  }

  /** A number, true, false or null. */
  #passWord(): void {
    const start = this.#at;
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined || isSpace(byte) || byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST) break;
      this.#at++;
    }
    if (this.#at === start) throw new SyntaxError('it is not whole JSON');
  }
}

/** The facts of a completed commit of Hudi 0.x. Throws SyntaxError for a file that is not whole. */
export async function readJsonCommit(bytes: Uint8Array): Promise<CommitFacts> {
  const tally = createTally();
  await paced(readCommit(new JsonText(bytes), tally));
  return tally.facts();
}

function* readCommit(text: JsonText, tally: Tally): Steps {
  text.expect(OPEN_OBJECT);
  while (text.more(CLOSE_OBJECT)) {
    const key = yield* text.key();
    if (key === 'partitionToWriteStats') yield* readStats(text, tally);
    else if (READ.has(key)) take(key, yield* text.value(), tally);
    else yield* text.pass();
  }
  if (text.peek() !== undefined) throw new SyntaxError('something follows its end');
}

/** `{partition: [stat, …], …}` */
function* readStats(text: JsonText, tally: Tally): Steps {
  let left = AT_ONCE;
  if (text.peek() !== OPEN_OBJECT) {
    if ((yield* text.value()) !== null) throw new SyntaxError('its write stats are none');
    return;
  }
  text.expect(OPEN_OBJECT);
  while (text.more(CLOSE_OBJECT)) {
    const partition = yield* text.key();
    text.expect(OPEN_LIST);
    while (text.more(CLOSE_LIST)) {
      const stat = yield* text.value();
      if (!isJsonObject(stat)) throw new SyntaxError(`its write stats of ${partition} are none`);
      tally.stat(partition, stat);
      if (--left > 0) continue;
      left = AT_ONCE;
      yield;
    }
  }
}

const READ = new Set(['partitionToReplaceFileIds', 'extraMetadata', 'operationType', 'compacted']);

function take(key: string, value: Json, tally: Tally): void {
  if (key === 'operationType') tally.operation(value);
  else if (key === 'compacted') tally.compacted(value);
  else if (isJsonObject(value))
    for (const [name, member] of Object.entries(value)) {
      if (key === 'extraMetadata') tally.extra(name, member);
      else tally.replaced(name, Array.isArray(member) ? member.length : 0);
    }
}
