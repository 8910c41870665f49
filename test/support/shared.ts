import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, test } from 'vitest';

const PROJECT = resolve(import.meta.dirname, '../..');

/** Absolute path of the folder with recordings and fixtures (`SLUICE_SHARED`, else `../shared` beside the project), or null if there is none. */
function sharedFolder(): string | null {
  const folder = resolve(PROJECT, process.env['SLUICE_SHARED'] ?? '../shared');
  return existsSync(folder) && statSync(folder).isDirectory() ? folder : null;
}

/** What a suite needs from the machine: `found` is what the suite is handed, null if the machine lacks it. */
export interface Need<T> {
  readonly found: T | null;
  /** One phrase for the skip line: what is missing and what would enable the suite. */
  readonly enable: string;
}

/**
 * A suite that needs something a fresh machine may lack. Without it the suite is skipped and its title says what would enable it (the skips
 * reporter prints that as one line); under SLUICE_TEST_ALL=1 it fails instead. `body` is not called when the need is not met.
 */
export function describeNeeding<T>(name: string, need: Need<T>, body: (found: T) => void): void {
  const { found } = need;
  if (found !== null) {
    describe(name, () => body(found));
    return;
  }
  const title = `${name} (needs ${need.enable})`;
  if (process.env['SLUICE_TEST_ALL'] === '1') {
    test(title, () => {
      throw new Error(`SLUICE_TEST_ALL=1 allows no skipped suite: ${title}.`);
    });
    return;
  }
  // skipped: the title carries the reason
  test.skip(title, () => {});
}

/** A suite over the shared folder's recordings; `body` gets the folder's absolute path. */
export function describeShared(name: string, body: (folder: string) => void): void {
  const enable = 'the shared folder: put it beside the project as ../shared or set SLUICE_SHARED to it';
  describeNeeding(name, { found: sharedFolder(), enable }, body);
}
