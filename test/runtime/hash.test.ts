import { expect, test } from 'vitest';
import { sha256 } from '../../src/runtime/hash.ts';
import { nonce } from '../../src/runtime/id.ts';

test('sha256 is that of FIPS 180-2 for "abc", for text and bytes alike', () => {
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  expect(sha256('abc')).toBe(abc);
  expect(sha256(new TextEncoder().encode('abc'))).toBe(abc);
});

test('a nonce has the length asked for and does not come twice', () => {
  expect(nonce()).toMatch(/^[0-9a-f]{32}$/);
  expect(nonce(4)).toMatch(/^[0-9a-f]{8}$/);
  expect(new Set(Array.from({ length: 1000 }, () => nonce())).size).toBe(1000);
});
