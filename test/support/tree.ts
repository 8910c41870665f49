import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';

/** The project's own folder, absolute. */
export const PROJECT = resolve(import.meta.dirname, '../..');

/** A temporary folder with these files (path → text), removed when the test that asked for it has ended. Returns its absolute path. */
export function temporaryTree(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'sluice-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** Lets a temporary tree see the project's installed packages. */
export function linkPackages(root: string): void {
  symlinkSync(join(PROJECT, 'node_modules'), join(root, 'node_modules'), 'junction');
}
