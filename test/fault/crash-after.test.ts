import { expect, test } from 'vitest';
import { enumerateDeaths } from './enumerate.ts';

test('a server that dies just after any of its commits is followed by one that goes on as if nothing had happened', async () => {
  expect(await enumerateDeaths('AFTER')).toBeGreaterThan(15);
}, 600_000);
