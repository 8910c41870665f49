/** Reads Avro's binary encoding from a buffer. Throws RangeError where the bytes end too soon or cannot be right. */
export class AvroTap {
  readonly #bytes: Buffer;
  #at = 0;
  #items: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#items = bytes.byteLength;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new RangeError('it is cut short');
    this.#at++;
    return byte;
  }

  take(size: number): Buffer {
    if (!(size >= 0) || size > this.left) throw new RangeError('it is cut short');
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }

  /** A zig-zag variable-length integer: a number where it is one exactly, else a bigint. */
  long(): number | bigint {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 7; count++, factor *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
    return this.#longer(BigInt(value));
  }

  /** The rest of an integer of more than 49 bits. */
  #longer(low: bigint): number | bigint {
    let value = low;
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        const long = (value >> 1n) ^ -(value & 1n);
        return long >= Number.MIN_SAFE_INTEGER && long <= Number.MAX_SAFE_INTEGER ? Number(long) : long;
      }
    }
    throw new RangeError('an integer of it is too long');
  }

  /** A size or an index. */
  size(): number {
    return Number(this.long());
  }

  text(): string {
    return this.take(this.size()).toString('utf8');
  }

  /**
   * How many items the next block of an array or a map holds; 0: there is no further block. An item takes at least a byte, so that more
   * items than bytes prove damage (and cannot keep the reader busy).
   */
  block(): number {
    const count = this.size();
    if (count < 0) this.size(); // a negative count is followed by the block's size in bytes
    this.#items -= Math.abs(count);
    if (this.#items < 0) throw new RangeError('it counts more items than it holds');
    return Math.abs(count);
  }
}
