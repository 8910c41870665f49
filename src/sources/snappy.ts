/** Bytes; a guard against a block made to fill the memory. */
const LARGEST = 256 * 1024 * 1024;

const damaged = (): Error => new Error('a snappy block is damaged');

/** Decompresses one block of Snappy's raw format: the length, then literals and copies of what came before. Throws Error if damaged. */
export function snappy(data: Uint8Array): Buffer {
  const input = new Input(data);
  const out = new Output(input.length());
  while (!input.ended()) {
    const tag = input.little(1);
    switch (tag & 3) {
      case 0:
        out.literal(input.bytes(literalSize(input, tag >> 2) + 1));
        break;
      case 1:
        out.copy((tag >> 5) * 256 + input.little(1), ((tag >> 2) & 7) + 4);
        break;
      case 2:
        out.copy(input.little(2), (tag >> 2) + 1);
        break;
      default:
        out.copy(input.little(4), (tag >> 2) + 1);
    }
  }
  return out.whole();
}

/** Below 60 the size itself (less one); 60 to 63 say in how many bytes it follows. */
const literalSize = (input: Input, size: number): number => (size < 60 ? size : input.little(size - 59));

class Input {
  readonly #data: Uint8Array;
  #at = 0;

  constructor(data: Uint8Array) {
    this.#data = data;
  }

  ended(): boolean {
    return this.#at === this.#data.length;
  }

  bytes(size: number): Uint8Array {
    const end = this.#at + size;
    if (end > this.#data.length) throw damaged();
    const part = this.#data.subarray(this.#at, end);
    this.#at = end;
    return part;
  }

  little(size: number): number {
    return this.bytes(size).reduceRight((value, byte) => value * 256 + byte, 0);
  }

  /** The uncompressed length: seven bits a byte, the lowest first. */
  length(): number {
    let length = 0;
    for (let factor = 1; factor <= 128 ** 4; factor *= 128) {
      const byte = this.little(1);
      length += (byte & 0x7f) * factor;
      if (byte < 0x80) return length;
    }
    throw damaged();
  }
}

class Output {
  readonly #bytes: Buffer;
  #filled = 0;

  constructor(length: number) {
    if (length > LARGEST) throw damaged();
    this.#bytes = Buffer.alloc(length);
  }

  literal(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }

  /** May overlap what it writes: a short pattern is repeated so. */
  copy(offset: number, size: number): void {
    this.#room(size);
    if (offset === 0 || offset > this.#filled) throw damaged();
    for (const end = this.#filled + size; this.#filled < end; this.#filled++)
      this.#bytes[this.#filled] = this.#bytes[this.#filled - offset] ?? 0;
  }

  whole(): Buffer {
    if (this.#filled !== this.#bytes.length) throw damaged();
    return this.#bytes;
  }

  #room(size: number): void {
    if (this.#filled + size > this.#bytes.length) throw damaged();
  }
}
