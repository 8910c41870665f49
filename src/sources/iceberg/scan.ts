/** Where a value stands in the bytes of a JSON document; `end` is excluded. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The bytes are not a whole JSON document: half-written, cut short, or something else. */
export class BrokenJson extends Error {
  override readonly name = 'BrokenJson';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const [COMMA, COLON] = [0x2c, 0x3a];

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** What numbers, true, false and null are written with. */
const isScalar = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  byte === 0x2d ||
  byte === 0x2b ||
  byte === 0x2e ||
  byte === 0x45;

/**
 * Goes through JSON byte by byte and hands out where things stand, so that 110 MB of table metadata can be looked through in slices and
 * only what is needed is parsed (JSON.parse of the whole would hold the event loop for a second). Whole values are skipped by their
 * brackets and quotes alone; who uses one parses it, and finds then what is wrong in it.
 */
export class Scanner {
  readonly #bytes: Buffer;
  readonly #end: number;
  #first = true;
  at: number;

  constructor(bytes: Uint8Array, span: Span = { start: 0, end: bytes.length }) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = span.start;
    this.#end = span.end;
  }

  /** What kind of value comes next. */
  peek(): 'object' | 'list' | 'other' {
    this.#blanks();
    const byte = this.#bytes[this.at];
    return byte === OPEN_OBJECT ? 'object' : byte === OPEN_LIST ? 'list' : 'other';
  }

  enterObject(): void {
    this.#take(OPEN_OBJECT);
    this.#first = true;
  }

  enterList(): void {
    this.#take(OPEN_LIST);
    this.#first = true;
  }

  /** The next key of the object entered, its value comes next; null at the object's end, which is then behind. */
  key(): string | null {
    if (!this.#more(CLOSE_OBJECT)) return null;
    const start = this.at;
    if (this.#bytes[start] !== QUOTE) throw this.#broken();
    this.#string();
    const key = this.#bytes.toString('latin1', start + 1, this.at - 1);
    this.#take(COLON);
    return key;
  }

  /** Whether the list entered has another element, which comes next; if not, the list's end is behind. */
  element(): boolean {
    return this.#more(CLOSE_LIST);
  }

  /** Goes past the next value. */
  skip(): Span {
    this.#blanks();
    const start = this.at;
    const byte = this.#bytes[start];
    if (byte === QUOTE) this.#string();
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#container();
    else this.#scalar();
    this.#first = false;
    return { start, end: this.at };
  }

  /** What is written there, if it is plain ASCII (a number). */
  text({ start, end }: Span): string {
    return this.#bytes.toString('latin1', start, end);
  }

  /** Nothing but white space may follow. */
  finish(): void {
    this.#blanks();
    if (this.at < this.#end) throw new BrokenJson('it goes on after its end');
  }

  #more(close: number): boolean {
    this.#blanks();
    if (this.#bytes[this.at] === close && this.at < this.#end) {
      this.at++;
      this.#first = false;
      return false;
    }
    if (!this.#first) this.#take(COMMA);
    this.#first = false;
    this.#blanks();
    return true;
  }

  #take(byte: number): void {
    this.#blanks();
    if (this.at >= this.#end || this.#bytes[this.at] !== byte) throw this.#broken();
    this.at++;
  }

  #blanks(): void {
    while (this.at < this.#end && isBlank(this.#bytes[this.at])) this.at++;
  }

  #string(): void {
    this.at = this.#stringEnd(this.at);
  }

  #stringEnd(from: number): number {
    const bytes = this.#bytes;
    for (let at = from + 1; at < this.#end; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at++;
    }
    throw new BrokenJson('it is cut short');
  }

  #container(): void {
    const bytes = this.#bytes;
    let depth = 0;
    for (let at = this.at; at < this.#end; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) at = this.#stringEnd(at) - 1;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
      else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --depth === 0) {
        this.at = at + 1;
        return;
      }
    }
    throw new BrokenJson('it is cut short');
  }

  #scalar(): void {
    const start = this.at;
    while (this.at < this.#end && isScalar(this.#bytes[this.at] ?? 0)) this.at++;
    if (this.at === start) throw this.#broken();
  }

  #broken(): BrokenJson {
    return new BrokenJson(this.at >= this.#end ? 'it is cut short' : `it is not JSON at byte ${this.at}`);
  }
}
