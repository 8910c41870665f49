import type { TableRef } from '../../../src/sources/source.ts';
import { archiveLog, avroClean, avroCommit, avroRestore, avroRollback, type ArchivedEntry } from './avro-bytes.ts';
import { MemoryFiles } from './memory-files.ts';

export interface CommitParts {
  readonly operation?: string | null;
  readonly inserts?: number;
  readonly updates?: number;
  readonly deletes?: number;
  readonly writes?: number;
  readonly partition?: string;
  readonly replaces?: Readonly<Record<string, readonly string[]>>;
  readonly compacted?: boolean;
  readonly schema?: string;
  readonly extra?: Readonly<Record<string, string>>;
  readonly eventTime?: number;
}

export const SCHEMA = JSON.stringify({
  type: 'record',
  name: 'orders_record',
  fields: [
    { name: '_hoodie_commit_time', type: ['null', 'string'], doc: '', default: null },
    { name: 'id', type: ['null', 'string'], default: null },
    { name: 'amount', type: ['null', 'int'], default: null },
  ],
});

/** The metadata of a commit as an object, to be written as JSON or Avro. */
export function commitMetadata(parts: CommitParts = {}): object {
  const { inserts = 0, updates = 0, deletes = 0, partition = '', replaces, schema = SCHEMA } = parts;
  const rows = inserts + updates + deletes;
  const writes = parts.writes ?? inserts + updates;
  const stat = {
    fileId: 'f-0',
    path: `${partition}/f-0_0.parquet`,
    prevCommit: 'null',
    numWrites: writes,
    numDeletes: deletes,
    numUpdateWrites: updates,
    totalWriteBytes: 435_286,
    numInserts: inserts,
    maxEventTime: parts.eventTime ?? null,
  };
  return {
    partitionToWriteStats: rows + writes > 0 ? { [partition]: [stat] } : {},
    compacted: parts.compacted ?? false,
    extraMetadata: { schema, ...parts.extra },
    version: null,
    operationType: parts.operation === undefined ? 'UPSERT' : parts.operation,
    partitionToReplaceFileIds: replaces ?? null,
  };
}

/** 2026-01-01T00:00:00Z, from which the made-up clock starts. */
const START = Date.UTC(2026, 0, 1);

const stamp = (ms: number): string => new Date(ms).toISOString().replace(/\D/g, '').slice(0, 17);

interface Written {
  readonly time: string;
  readonly action: string;
  readonly files: string[];
  readonly metadata: object | null;
}

/** A Hudi table in memory that is written as the engine would: requested, inflight and completed files, in either layout. */
export class MadeUpTable {
  readonly files = new MemoryFiles();
  readonly ref: TableRef = { location: '/w/t', branch: null, files: this.files };
  layout: 1 | 2;
  /** Milliseconds that the writer's clock and zone are away from UTC. */
  offset = 0;
  #now = START;
  #saved = 0;
  #archives = 0;
  readonly written: Written[] = [];

  constructor(layout: 1 | 2 = 2, properties: Readonly<Record<string, string>> = {}) {
    this.layout = layout;
    this.create(properties);
  }

  /** The time of the next action, a second after the last. */
  tick(seconds = 1): string {
    this.#now += seconds * 1000;
    return stamp(this.#now + this.offset);
  }

  get now(): number {
    return this.#now;
  }

  put(path: string, body: Uint8Array | string): void {
    this.files.files.set(`/w/t/.hoodie/${path}`, Buffer.from(body));
  }

  remove(path: string): void {
    this.files.files.delete(`/w/t/.hoodie/${path}`);
  }

  body(path: string): Uint8Array {
    return this.files.files.get(`/w/t/.hoodie/${path}`) ?? new Uint8Array();
  }

  create(properties: Readonly<Record<string, string>> = {}): this {
    const lines = {
      'hoodie.table.name': 't',
      'hoodie.table.type': 'COPY_ON_WRITE',
      'hoodie.table.version': this.layout === 1 ? '6' : '9',
      'hoodie.timeline.layout.version': `${this.layout}`,
      'hoodie.table.recordkey.fields': 'id',
      ...properties,
    };
    const at = new Date(this.#now + this.#saved++);
    const header = [`#Properties saved on ${at.toISOString()}`, `#${javaDate(at)}`];
    this.put('hoodie.properties', [...header, ...Object.entries(lines).map(([k, v]) => `${k}=${v}`)].join('\n'));
    return this;
  }

  drop(): void {
    this.files.files.clear();
    this.written.length = 0;
  }

  at(file: string): string {
    return this.layout === 1 ? file : `timeline/${file}`;
  }

  /** The write has begun. */
  begin(action = 'commit'): string {
    const time = this.tick();
    this.put(this.at(`${time}.${action}.requested`), '');
    this.put(this.at(action === 'commit' ? `${time}.inflight` : `${time}.${action}.inflight`), '');
    return time;
  }

  /** Completes what began; gives the name of the completed file. */
  complete(time: string, parts: CommitParts = {}, action = 'commit', began = action): string {
    const metadata = commitMetadata(parts);
    const file = this.layout === 1 ? `${time}.${action}` : `${time}_${this.tick()}.${action}`;
    this.put(this.at(file), this.layout === 1 ? JSON.stringify(metadata, null, 2) : avroCommit(metadata));
    const started = [
      `${time}.${began}.requested`,
      began === 'commit' ? `${time}.inflight` : `${time}.${began}.inflight`,
    ];
    this.written.push({ time, action, files: [...started, file], metadata });
    return file;
  }

  commit(parts: CommitParts = { inserts: 1 }, action = 'commit', began = action): string {
    const time = this.begin(began);
    this.complete(time, parts, action, began);
    return time;
  }

  #act(action: string, body: (time: string) => Uint8Array): string {
    const time = this.tick();
    const file = this.layout === 1 ? `${time}.${action}` : `${time}_${this.tick()}.${action}`;
    const started = [`${time}.${action}.requested`, `${time}.${action}.inflight`];
    for (const name of started) this.put(this.at(name), '');
    this.put(this.at(file), body(time));
    this.written.push({ time, action, files: [...started, file], metadata: null });
    return time;
  }

  rollback(...times: readonly string[]): string {
    this.forget(times);
    return this.#act('rollback', (time) => avroRollback(time, times));
  }

  restore(...times: readonly string[]): string {
    this.forget(times);
    return this.#act('restore', (time) => avroRestore(time, times));
  }

  clean(earliest: string): string {
    return this.#act('clean', (time) => avroClean(time, earliest));
  }

  savepoint(time: string): void {
    const file = this.layout === 1 ? `${time}.savepoint` : `${time}_${this.tick()}.savepoint`;
    this.put(this.at(file), 'a savepoint is not read');
  }

  /** Deletes all files of these actions. */
  forget(times: readonly string[]): void {
    for (const path of [...this.files.files.keys()]) {
      const name = path.slice(path.lastIndexOf('/') + 1);
      if (times.some((time) => name.startsWith(time))) this.files.files.delete(path);
    }
    for (const time of times) {
      const at = this.written.findIndex((written) => written.time === time);
      if (at !== -1) this.written.splice(at, 1);
    }
  }

  /** Moves all but the newest actions into a log of layout 1's archive. */
  archive(keep: number, folder = 'archived'): void {
    const going = this.written.splice(0, Math.max(this.written.length - keep, 0));
    const entries = going.flatMap(({ time, action, metadata }): ArchivedEntry[] =>
      ['REQUESTED', 'COMPLETED'].map((actionState) => ({
        commitTime: time,
        actionType: action,
        actionState,
        hoodieCommitMetadata: metadata,
      })),
    );
    if (entries.length > 0) this.put(`${folder}/.commits_.archive.${++this.#archives}_1-0-1`, archiveLog(entries));
    for (const { files } of going) for (const file of files) this.remove(this.at(file));
  }

  /** Moves and renames the timeline's files to the other layout, as an upgrade or a downgrade does. */
  convert(properties: Readonly<Record<string, string>> = {}): void {
    const from = this.layout;
    this.layout = from === 1 ? 2 : 1;
    for (const written of this.written)
      written.files.forEach((file, at) => {
        const body = this.body(from === 1 ? file : `timeline/${file}`);
        this.remove(from === 1 ? file : `timeline/${file}`);
        const completed = !/requested$|inflight$/.test(file);
        const name = completed ? this.#renamed(file) : file;
        written.files[at] = name;
        const metadata = completed && written.metadata !== null ? written.metadata : null;
        this.put(
          this.at(name),
          metadata === null ? body : this.layout === 1 ? JSON.stringify(metadata) : avroCommit(metadata),
        );
      });
    this.create(properties);
  }

  #renamed(file: string): string {
    const [stem = '', action = ''] = file.split('.');
    const [time = ''] = stem.split('_');
    return this.layout === 1 ? `${time}.${action}` : `${time}_${time.slice(0, 16)}9.${action}`;
  }
}

const javaDate = (at: Date): string => {
  const [day = '', date = '', month = '', year = '', time = ''] = at.toUTCString().replace(',', '').split(' ');
  return `${day} ${month} ${date} ${time} UTC ${year}`;
};
