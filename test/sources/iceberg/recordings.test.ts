import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Cursor, Poll } from '../../../src/core/asset/poll.ts';
import { createLocalFiles } from '../../../src/files/local.ts';
import { createIcebergSource } from '../../../src/sources/iceberg/source.ts';
import { describeShared } from '../../support/shared.ts';

interface Version {
  readonly snapshotId: string;
  readonly operation: string;
  readonly dataChange: boolean;
  readonly schemaId: string | null;
}

interface Expectation {
  readonly outcome: string;
  readonly head: string | null;
  readonly dataHead: string | null;
  readonly new?: readonly Version[];
  readonly restored?: readonly Version[];
  readonly refs?: Readonly<Record<string, readonly [string, string]>>;
  readonly uuid?: string;
  readonly schemaId?: string;
  /** Where the catalog says that the current metadata file is. */
  readonly metadata?: string;
}

interface Step {
  readonly step: number;
  readonly did: string;
  readonly added: readonly string[];
  readonly removed?: readonly string[];
  readonly expect?: Readonly<Record<string, Expectation>>;
}

const jsonLines = <T>(file: string): T[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);

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

const marked = ({ snapshotId, operation, dataChange, schemaId }: Version): string =>
  `${snapshotId} ${operation} ${dataChange} ${schemaId}`;

const expected = (expectation: Expectation): object => ({
  outcome: expectation.outcome,
  head: expectation.head,
  dataHead: expectation.dataHead,
  commits: (expectation.new ?? []).map(marked),
  tags: Object.fromEntries(
    Object.entries(expectation.refs ?? {}).flatMap(([name, [type, id]]) => (type === 'tag' ? [[name, id]] : [])),
  ),
  tableId: expectation.uuid,
  schemaId: expectation.schemaId,
});

/** Snapshots that a rewind brings back from another branch may be told as new or not. */
function seen(poll: Poll, { restored = [] }: Expectation): object {
  const back = new Set(restored.map((version) => version.snapshotId));
  return {
    outcome: poll.outcome.kind,
    head: poll.head,
    dataHead: poll.dataHead,
    commits: poll.commits.filter((commit) => !back.has(commit.snapshotId)).map(marked),
    tags: poll.tags,
    tableId: poll.tableId,
    schemaId: poll.schema?.schemaId,
  };
}

describeShared('Iceberg tables that engines wrote, step by step', (shared) => {
  const root = join(shared, 'recorded/iceberg');
  const recordings = readdirSync(root).filter((name) => existsSync(join(root, name, 'steps.jsonl')));

  test.each(recordings)('%s', async (name) => {
    const warehouse = mkdtempSync(join(tmpdir(), 'sluice-iceberg-'));
    onTestFinished(() => rmSync(warehouse, { recursive: true, force: true }));
    const [source, files] = [createIcebergSource(), createLocalFiles()];
    const cursors = new Map<string, Cursor | null>();
    const steps = jsonLines<Step>(join(root, name, 'steps.jsonl'));
    const catalogued = steps.some((step) => step.added.includes('catalog.db'));
    for (const step of steps) {
      lay(join(root, name), step, warehouse);
      for (const [table, expectation] of Object.entries(step.expect ?? {})) {
        if (catalogued && expectation.metadata === undefined) continue; // the catalog says that it is gone
        const [folder = '', branch = null] = table.split('@');
        const location = join(warehouse, catalogued ? (expectation.metadata ?? '') : folder);
        const before = cursors.get(table) ?? null;
        const poll = await source.poll({ location, branch, files }, before);
        const where = `step ${step.step} ${table}: ${step.did}`;
        if (expectation.outcome === 'UNREADABLE')
          expect([poll.outcome.kind, poll.cursor], where).toEqual(['UNREADABLE', before]);
        else expect(seen(poll, expectation), where).toEqual(expected(expectation));
        cursors.set(table, poll.cursor && (JSON.parse(JSON.stringify(poll.cursor)) as Cursor));
      }
    }
  });
});

interface Truth {
  readonly path: string;
  readonly format: string;
  readonly head: string | null;
  readonly dataHead: string | null;
  readonly versions: readonly Version[];
  readonly documents?: readonly {
    readonly file: string;
    readonly readable: boolean | null;
    readonly head: string | null;
    readonly versions: readonly Version[];
  }[];
}

describeShared('Iceberg tables found in public', (shared) => {
  const root = join(shared, 'fixtures');
  const truths = jsonLines<Truth>(join(root, 'EXPECT.jsonl')).filter((truth) => truth.format === 'iceberg');
  const tables = truths.filter((truth) => truth.documents === undefined);
  const documents = truths.flatMap(({ path, documents = [] }) =>
    documents.map((document) => ({ ...document, path: join(path, document.file) })),
  );
  const poll = (path: string): Promise<Poll> =>
    createIcebergSource().poll({ location: join(root, path), branch: null, files: createLocalFiles() }, null);

  test.each(tables)('$path', async ({ path, head, dataHead, versions }) => {
    const answer = await poll(path);
    expect(answer).toMatchObject({ head, dataHead });
    expect(answer.commits.map(marked)).toEqual(versions.map(marked));
  });

  test.each(documents)('$path alone: readable $readable', async ({ path, readable, head, versions }) => {
    const answer = await poll(path);
    if (readable !== null) expect(answer.outcome.kind === 'UNREADABLE').toBe(!readable);
    if (answer.outcome.kind === 'UNREADABLE') return;
    expect(answer.head).toBe(head);
    expect(answer.commits.map((commit) => commit.snapshotId)).toEqual(versions.map((version) => version.snapshotId));
  });
});
