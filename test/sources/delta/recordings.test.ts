import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Cursor, Poll } from '../../../src/core/asset/poll.ts';
import { createLocalFiles } from '../../../src/files/local.ts';
import { createDeltaSource } from '../../../src/sources/delta/source.ts';
import { describeShared } from '../../support/shared.ts';

interface Step {
  readonly step: number;
  readonly did: string;
  readonly removed?: readonly string[];
  readonly expect?: Readonly<Record<string, Expectation>>;
}

interface Expectation {
  readonly outcome: string;
  /** Other outcomes that are as honest. */
  readonly allowed?: readonly string[];
  readonly head: string | null;
  readonly dataHead: string | null;
  readonly new: readonly { readonly snapshotId: string; readonly operation: string; readonly dataChange: boolean }[];
  readonly lost?: readonly string[];
  readonly uuid?: string;
}

/** Brings the warehouse to the state after the step, as the recording's engine left it. */
function lay(recording: string, { step, removed = [] }: Step, warehouse: string): void {
  const files = join(recording, 'steps', String(step).padStart(2, '0'));
  if (existsSync(files)) cpSync(files, warehouse, { recursive: true });
  for (const path of removed) {
    rmSync(join(warehouse, path), { force: true });
    let folder = dirname(join(warehouse, path));
    for (; folder !== warehouse && readdirSync(folder).length === 0; folder = dirname(folder)) rmdirSync(folder);
  }
}

const expected = ({ head, dataHead, new: fresh, lost, uuid }: Expectation): object => ({
  head,
  dataHead,
  commits: fresh.map((version) => `${version.snapshotId} ${version.operation} ${version.dataChange}`),
  tableId: uuid ?? null,
  gap: lost === undefined ? null : [lost.at(0), lost.at(-1)],
});

const seen = ({ outcome, head, dataHead, commits, tableId }: Poll): object => ({
  head,
  dataHead,
  commits: commits.map((commit) => `${commit.snapshotId} ${commit.operation} ${commit.dataChange}`),
  tableId,
  gap: outcome.kind === 'GAP' ? [outcome.from, outcome.to] : null,
});

describeShared('tables that Spark and delta-rs wrote, step by step', (shared) => {
  const root = join(shared, 'recorded/delta');
  const recordings = readdirSync(root).filter((name) => existsSync(join(root, name, 'steps.jsonl')));

  test.each(recordings)('%s', async (name) => {
    const warehouse = mkdtempSync(join(tmpdir(), 'sluice-delta-'));
    onTestFinished(() => rmSync(warehouse, { recursive: true, force: true }));
    const [source, files] = [createDeltaSource(), createLocalFiles()];
    const cursors = new Map<string, Cursor | null>();
    const lines = readFileSync(join(root, name, 'steps.jsonl'), 'utf8')
      .split('\n')
      .filter(Boolean);
    for (const step of lines.map((line) => JSON.parse(line) as Step)) {
      lay(join(root, name), step, warehouse);
      for (const [table, expectation] of Object.entries(step.expect ?? {})) {
        const before = cursors.get(table) ?? null;
        const poll = await source.poll({ location: join(warehouse, table), branch: null, files }, before);
        const where = `step ${step.step} ${table}: ${step.did}`;
        expect([expectation.outcome, ...(expectation.allowed ?? [])], where).toContain(poll.outcome.kind);
        if (expectation.outcome === 'UNREADABLE') expect(poll.cursor, where).toEqual(before);
        else expect(seen(poll), where).toEqual(expected(expectation));
        expect(poll.problems, where).toEqual([]);
        cursors.set(table, JSON.parse(JSON.stringify(poll.cursor)) as Cursor | null);
      }
    }
  });
});
