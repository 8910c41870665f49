import { fingerprint } from '../fingerprint.ts';

/** What `.hoodie/hoodie.properties` says of a table, as far as a reader of its timeline needs it. */
export interface TableConfig {
  /** `hoodie.table.version`; 0 in tables of before 0.6. */
  readonly version: number;
  readonly mergeOnRead: boolean;
  /** Folders in `.hoodie`: null, the timeline stands in `.hoodie` itself. */
  readonly timeline: string | null;
  /** The archive of layout 2, in the timeline's folder, and that of layout 1, in `.hoodie`. */
  readonly history: string;
  readonly archived: string;
  /** The timeline's times are UTC for certain. */
  readonly utc: boolean;
  /** The lines that a writer puts above the properties whenever it writes them. */
  readonly comments: readonly string[];
  readonly partitionKeys: readonly string[];
  readonly primaryKeys: readonly string[];
  /** Avro JSON of the schema that CREATE TABLE gave; null if the first write made the table. */
  readonly createSchema: string | null;
  /** Of the whole file: another table at this place has another, since the file holds the time of its writing. */
  readonly fingerprint: string;
}

/** Table version from which the engine orders by completion time and keeps the timeline in a folder of its own. */
const COMPLETION_VERSION = 8;

/** Is the engine's order that of completion times? */
export const ordersByCompletion = ({ version }: TableConfig): boolean => version >= COMPLETION_VERSION;

/** Parses the file; null if it does not even name the table (it is being written, or is damaged). */
export function parseProperties(bytes: Uint8Array): TableConfig | null {
  const text = new TextDecoder().decode(bytes);
  const lines = text.split(/\r\n|\n|\r/).map((line) => line.trim());
  const comments = lines.filter((line) => /^[#!]/.test(line)).map((line) => line.slice(1).trim());
  const properties = new Map(lines.flatMap(property));
  const get = (key: string): string | undefined => properties.get(`hoodie.${key}`);
  if (get('table.name') === undefined) return null;
  const version = Number(/^\d{1,3}$/.exec(get('table.version') ?? '')?.[0] ?? 0);
  const second = version >= COMPLETION_VERSION || get('timeline.layout.version') === '2';
  return {
    version,
    mergeOnRead: get('table.type')?.toUpperCase() === 'MERGE_ON_READ',
    timeline: second ? plainName(get('timeline.path'), 'timeline') : null,
    history: plainName(get('timeline.history.path'), 'history'),
    archived: plainName(get('archivelog.folder'), 'archived'),
    utc: get('table.timeline.timezone')?.toUpperCase() === 'UTC',
    comments,
    partitionKeys: names(get('table.partition.fields')),
    primaryKeys: names(get('table.recordkey.fields')),
    createSchema: get('table.create.schema') ?? null,
    fingerprint: fingerprint(bytes),
  };
}

/** A folder of the table; a name that would lead out of it is not followed. */
const plainName = (name: string | undefined, otherwise: string): string =>
  name !== undefined && /^[\w.-]+$/.test(name) && !/^\.+$/.test(name) ? name : otherwise;

/** `dt:SIMPLE,region` names two columns. */
const names = (list: string | undefined): readonly string[] =>
  (list ?? '')
    .split(',')
    .map((name) => name.trim().replace(/:(?:SIMPLE|TIMESTAMP)$/i, ''))
    .filter((name) => name !== '');

/** A line of Java's properties format; Hudi writes one line a property. */
function property(line: string): [string, string][] {
  if (line === '' || /^[#!]/.test(line)) return [];
  const [, key = '', value = ''] = /^((?:\\.|[^\\=:\s])+)\s*[=:]?\s*(.*)$/.exec(line) ?? [];
  return key === '' ? [] : [[unescape(key), unescape(value)]];
}

const CONTROL: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

const unescape = (text: string): string =>
  text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, code: string | undefined, other: string | undefined) =>
    code === undefined ? (CONTROL[other ?? ''] ?? other ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  );
