import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layStep, readSteps } from '../demo/recording.ts';
import { put, type TableWriter } from './table-writer.ts';
import { deltaWriter } from './tables-delta.ts';
import { hudiWriter } from './tables-hudi.ts';
import { icebergWriter } from './tables-iceberg.ts';

/** A format joins the benchmarks by one line here. */
const WRITERS: ReadonlyMap<string, () => TableWriter> = new Map([
  ['paimon', () => paimonWriter()],
  ['delta', deltaWriter],
  ['hudi', hudiWriter],
  ['iceberg', icebergWriter],
]);

export const FORMATS = [...WRITERS.keys()];

export const tableWriter = (format: string): TableWriter => {
  const make = WRITERS.get(format);
  if (make === undefined)
    throw new Error(`The benchmarks write no ${format} tables yet; use one of: ${FORMATS.join(', ')}.`);
  return make();
};

const TABLE = 'ods_db.db/ods_order_latest';
/** Steps of the recording: the table is made; three orders are appended. */
const STEPS = [1, 2];

interface RecordedFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

const recordedTable = (): readonly RecordedFile[] => {
  const staging = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  try {
    for (const number of STEPS) {
      const step = readSteps().get(number);
      if (step !== undefined) layStep(step, staging);
    }
    const root = join(staging, TABLE);
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ path: path.slice(root.length + 1), bytes: readFileSync(path) }));
  } finally {
    rmSync(staging, { recursive: true });
  }
};

/** Tables from a commit that Flink wrote. Later commits are the recorded one under the next id: the same three rows appended once more, so a reader finds the same work in each. */
const paimonWriter = (): TableWriter => {
  const files = recordedTable();
  const folders = [...new Set(files.map(({ path }) => path.split('/')[0] ?? ''))];
  const first = textOf(files, 'snapshot/snapshot-1');
  // As text: a commit identifier goes beyond 2^53 and must stay as it is.
  const snapshot = (id: number): string =>
    first
      .replace(/("id"\s*:\s*)\d+/, `$1${id}`)
      .replace(/("uuid"\s*:\s*)"[^"]*"/, `$1"${crypto.randomUUID()}"`)
      .replace(/("timeMillis"\s*:\s*)\d+/, `$1${Date.now()}`);
  return {
    create(folder) {
      for (const name of folders) mkdirSync(join(folder, name), { recursive: true });
      for (const { path, bytes } of files) writeFileSync(join(folder, path), bytes);
    },
    commit(folder, id) {
      put(join(folder, 'snapshot', `snapshot-${id}`), snapshot(id));
      put(join(folder, 'snapshot/LATEST'), String(id));
    },
    nameOf: String,
    probe: (folder, id) => join(folder, 'snapshot', `snapshot-${id + 1}`),
  };
};

const textOf = (files: readonly RecordedFile[], path: string): string => {
  const file = files.find((each) => each.path === path);
  if (file === undefined) throw new Error(`The recording in demo/gmv has no ${path}.`);
  return new TextDecoder().decode(file.bytes);
};
