import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Cursor, Poll } from '../../../src/core/asset/poll.ts';
import { isoTime } from '../../../src/core/time.ts';
import { createLocalFiles } from '../../../src/files/local.ts';
import { createHudiSource } from '../../../src/sources/hudi/source.ts';
import { describeShared } from '../../support/shared.ts';

interface Step {
  readonly step: number;
  readonly did: string;
  readonly removed?: readonly string[];
  readonly expect?: Readonly<Record<string, Expectation>>;
}

interface Expectation {
  readonly outcome: string;
  readonly accept?: readonly string[];
  readonly head: string | null;
  readonly dataHead: string | null;
  readonly new: readonly {
    readonly snapshotId: string;
    readonly operation: string;
    readonly dataChange: boolean;
    readonly commitTime: string;
    readonly addedRecords: string;
    readonly watermark: string | null;
  }[];
}

/** Brings the warehouse to the state after the step, as the recording's engine left it. */
function lay(recording: string, { step, removed = [] }: Step, warehouse: string): void {
  const files = join(recording, 'steps', String(step).padStart(2, '0'));
  if (existsSync(files)) cpSync(files, warehouse, { recursive: true });
  for (const path of removed) {
    rmSync(join(warehouse, path), { force: true });
    for (
      let folder = dirname(join(warehouse, path));
      folder !== warehouse && readdirSync(folder).length === 0;
      folder = dirname(folder)
    )
      rmdirSync(folder);
  }
}

const expected = ({ head, dataHead, new: fresh }: Expectation): object => ({
  head,
  dataHead,
  commits: fresh.map(
    ({ snapshotId, operation, dataChange, commitTime, addedRecords, watermark }) =>
      `${snapshotId} ${operation} ${dataChange} ${commitTime} ${addedRecords} ${watermark}`,
  ),
});

const seen = ({ head, dataHead, commits }: Poll): object => ({
  head,
  dataHead,
  commits: commits.map(
    ({ snapshotId, operation, dataChange, commitTime, addedRecords, watermark }) =>
      `${snapshotId} ${operation} ${dataChange} ${isoTime(commitTime)} ${addedRecords} ${watermark}`,
  ),
});

describeShared('tables that Hudi wrote, step by step', (shared) => {
  const root = join(shared, 'recorded/hudi');
  const recordings = readdirSync(root).filter((name) => existsSync(join(root, name, 'steps.jsonl')));

  test.each(recordings)('%s', async (name) => {
    const warehouse = mkdtempSync(join(tmpdir(), 'sluice-hudi-'));
    onTestFinished(() => rmSync(warehouse, { recursive: true, force: true }));
    const [source, files] = [createHudiSource(), createLocalFiles()];
    const cursors = new Map<string, Cursor | null>();
    const lines = readFileSync(join(root, name, 'steps.jsonl'), 'utf8')
      .split('\n')
      .filter(Boolean);
    for (const step of lines.map((line) => JSON.parse(line) as Step)) {
      lay(join(root, name), step, warehouse);
      for (const [table, expectation] of Object.entries(step.expect ?? {})) {
        const before = cursors.get(table) ?? null;
        const ref = { location: join(warehouse, table), branch: null, files };
        const quick = await source.poll(ref, before, { depth: 'QUICK' });
        const poll = await source.poll(ref, before);
        const where = `step ${step.step} ${table}: ${step.did}`;
        expect([expectation.outcome, ...(expectation.accept ?? [])], where).toContain(poll.outcome.kind);
        // A quick look may not notice a table that is gone or whose properties are, but no commit escapes it.
        if (poll.outcome.kind !== 'NONE' && poll.outcome.kind !== 'UNREADABLE')
          expect(quick.outcome.kind, where).toBe(poll.outcome.kind);
        if (expectation.outcome === 'UNREADABLE') expect(poll.cursor, where).toBe(before);
        else expect(seen(poll), where).toEqual(expected(expectation));
        cursors.set(table, poll.cursor);
      }
    }
  });

  test.each(recordings)('%s, polled once at its end', async (name) => {
    const warehouse = mkdtempSync(join(tmpdir(), 'sluice-hudi-'));
    onTestFinished(() => rmSync(warehouse, { recursive: true, force: true }));
    const steps = readFileSync(join(root, name, 'steps.jsonl'), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Step & { expect: Record<string, Expectation & { visible: string[] }> });
    for (const step of steps) lay(join(root, name), step, warehouse);
    for (const [table, { visible, head, dataHead }] of Object.entries(steps.at(-1)?.expect ?? {})) {
      const ref = { location: join(warehouse, table), branch: null, files: createLocalFiles() };
      const poll = await createHudiSource().poll(ref, null);
      const ids = poll.commits.map(({ snapshotId }) => snapshotId);
      expect([table, ids, poll.head, poll.dataHead]).toEqual([table, visible, head, dataHead]);
    }
  });
});
