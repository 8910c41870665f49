import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addressIn, announceAddress, ensureToken, tokenIn } from '../../src/runtime/data-folder.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-data-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the token is made once, and is what commands find', () => {
  expect(tokenIn(folder)).toBeNull();
  const token = ensureToken(folder);
  expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/); // 32 bytes
  expect([ensureToken(folder), tokenIn(folder)]).toEqual([token, token]);
});

test('the address is there until it is withdrawn', () => {
  const withdraw = announceAddress(folder, 'http://127.0.0.1:8484');
  expect(addressIn(folder)).toBe('http://127.0.0.1:8484');
  withdraw();
  expect(addressIn(folder)).toBeNull();
});

test('both files are for their owner alone, and nothing else is left behind', () => {
  ensureToken(folder);
  announceAddress(folder, 'http://127.0.0.1:1');
  const modes = readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]);
  expect(Object.fromEntries(modes)).toEqual({ 'admin.token': '600', 'server.json': '600' });
});

test.each(['', '{"url":', '{"pid":1}', '{"url":7}', 'null'])(
  'an address file that holds %j names no server',
  (text) => {
    writeFileSync(join(folder, 'server.json'), text);
    expect(addressIn(folder)).toBeNull();
  },
);
