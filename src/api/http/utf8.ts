/** The bytes without a character that is cut off at their end (UTF-8): at most three fewer, but never nothing of something. */
export const wholeCharacters = (bytes: Uint8Array): Uint8Array => {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break; // a character of its own
    if (byte < 0xc0) continue; // the middle of one: its head is further back
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back && bytes.length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
};
