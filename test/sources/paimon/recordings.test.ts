import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Cursor, Poll } from '../../../src/core/asset/poll.ts';
import { compareSchemas, type TableSchema } from '../../../src/core/asset/schema/schema.ts';
import { createLocalFiles } from '../../../src/files/local.ts';
import { createPaimonSource } from '../../../src/sources/paimon/source.ts';
import { describeShared } from '../../support/shared.ts';

interface Step {
  readonly step: number;
  readonly did: string;
  readonly removed?: readonly string[];
  readonly expect?: Readonly<Record<string, Expectation>>;
}

interface Expectation {
  readonly outcome: string;
  readonly head: string | null;
  readonly dataHead: string | null;
  readonly new: readonly { readonly snapshotId: string; readonly operation: string; readonly dataChange: boolean }[];
  readonly tags?: Readonly<Record<string, string>>;
  readonly schema?: string;
  readonly schemaChange?: string;
  readonly gap?: { readonly from: string; readonly to: string };
  readonly rollbackTo?: string;
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

const expected = ({
  outcome,
  head,
  dataHead,
  tags = {},
  new: fresh,
  gap,
  rollbackTo,
  schemaChange,
  schema,
}: Expectation): object => ({
  outcome,
  head,
  dataHead,
  commits: fresh.map((version) => `${version.snapshotId} ${version.operation} ${version.dataChange}`),
  tags,
  ...(gap === undefined ? {} : { gap: `${gap.from}-${gap.to}` }),
  ...(rollbackTo === undefined ? {} : { rollbackTo }),
  ...(schemaChange === undefined ? {} : { schemaChange }),
  ...(schema === undefined ? {} : { schema }),
});

function seen({ outcome, head, dataHead, tags, commits, schema }: Poll, before: TableSchema | null): object {
  const changed =
    before !== null && schema !== null && before.schemaId !== schema.schemaId && outcome.kind !== 'RECREATED';
  return {
    outcome: outcome.kind,
    head,
    dataHead,
    commits: commits.map((commit) => `${commit.snapshotId} ${commit.operation} ${commit.dataChange}`),
    tags,
    ...(outcome.kind === 'GAP' ? { gap: `${outcome.from}-${outcome.to}` } : {}),
    ...(outcome.kind === 'ROLLBACK' ? { rollbackTo: outcome.to } : {}),
    ...(changed ? { schemaChange: compareSchemas(before, schema).verdict } : {}),
    ...(schema === null ? {} : { schema: schema.schemaId }),
  };
}

/** What the recordings' statements wrote into which days; folders as Paimon names them. By recording, table and snapshot. */
const PARTITIONS: Readonly<Record<string, readonly string[] | undefined>> = {
  'maintenance ops_db.db/parts 1': ['dt=2026-11-28', 'dt=2026-11-29', 'dt=2026-11-30'],
  'maintenance ops_db.db/parts 2': ['dt=2026-11-29'],
  'maintenance ops_db.db/parts 3': ['dt=2026-11-30'],
  'maintenance ops_db.db/parts 4': ['dt=2026-11-28', 'dt=2026-11-29', 'dt=2026-11-30', 'dt=2026-12-01'],
  'maintenance ops_db.db/parts 5': ['dt=2026-12-01'],
  'maintenance ops_db.db/parts 7': ['dt=2026-12-02'],
  'gmv ods_db.db/ods_order_latest 1': ['dt=2026-11-29'],
  'gmv ods_db.db/ods_order_latest 3': undefined, // a compaction
  'gmv ods_db.db/ods_order_latest 5': ['dt=2026-11-30'],
  'gmv dw_db.db/dwd_trade_event_fact 4': ['dt=2026-11-29'],
  'append log_db.db/m_null 1': ['dt=2026-11-29', 'dt=2026-11-30'],
  'append log_db.db/m_deflate 2': ['dt=__DEFAULT_PARTITION__'],
  'append log_db.db/m_snappy 3': ['dt=a b%2Fc%3Dd%2525'],
  'append log_db.db/m_zstd 3': ['dt=a b%2Fc%3Dd%2525'],
  'append log_db.db/loose 1': undefined, // no partitions
};

describeShared('tables that Paimon wrote, step by step', (shared) => {
  const root = join(shared, 'recorded/paimon');
  const recordings = readdirSync(root).filter((name) => existsSync(join(root, name, 'steps.jsonl')));

  test.each(recordings)('%s', async (name) => {
    const warehouse = mkdtempSync(join(tmpdir(), 'sluice-paimon-'));
    onTestFinished(() => rmSync(warehouse, { recursive: true, force: true }));
    const [source, files] = [createPaimonSource(), createLocalFiles()];
    const cursors = new Map<string, Cursor | null>();
    const schemas = new Map<string, TableSchema>();
    const asked = new Set<string>();
    const lines = readFileSync(join(root, name, 'steps.jsonl'), 'utf8')
      .split('\n')
      .filter(Boolean);
    for (const step of lines.map((line) => JSON.parse(line) as Step)) {
      lay(join(root, name), step, warehouse);
      for (const [table, expectation] of Object.entries(step.expect ?? {})) {
        const [folder = '', branch = null] = table.split('@');
        const before = cursors.get(table) ?? null;
        const poll = await source.poll({ location: join(warehouse, folder), branch, files }, before);
        const where = `step ${step.step} ${table}: ${step.did}`;
        if (expectation.outcome === 'UNREADABLE')
          expect([poll.outcome.kind, poll.cursor], where).toEqual(['UNREADABLE', before]);
        else expect(seen(poll, schemas.get(table) ?? null), where).toEqual(expected(expectation));
        for (const { snapshotId, partitions } of poll.commits) {
          const key = `${name} ${table} ${snapshotId}`;
          if (!(key in PARTITIONS)) continue;
          expect(partitions, where).toEqual(PARTITIONS[key]);
          asked.add(key);
        }
        cursors.set(table, poll.cursor);
        if (poll.schema !== null) schemas.set(table, poll.schema);
      }
    }
    expect([...asked].sort()).toEqual(
      Object.keys(PARTITIONS)
        .filter((key) => key.startsWith(`${name} `))
        .sort(),
    );
  });
});
