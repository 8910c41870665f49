import { asLong, canonicalJson, isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { SchemaField, TableSchema } from '../../core/asset/schema/schema.ts';
import { fingerprint } from '../fingerprint.ts';
import type { Parsed } from '../trouble.ts';
import { parseObject } from './snapshot.ts';

/** One schema file. */
export interface PaimonSchema {
  readonly id: bigint;
  readonly table: TableSchema;
  readonly options: ReadonlyMap<string, string>;
  /** Differs between a table and another created later in its place: the file holds the time of its making. */
  readonly fingerprint: string;
}

/** Which written rows a batch read with default options does not see until a compaction moves them. */
export interface HiddenRows {
  /** Files of level 0: deletion vectors and first-row keep merged rows above it. */
  readonly levelZero: boolean;
  /** Files of a table with `bucket = -2` that have not been given their bucket. */
  readonly postponed: boolean;
}

export const NOTHING_HIDDEN: HiddenRows = { levelZero: false, postponed: false };

/** As Paimon's batch scan decides it (DataTableBatchScan and CoreOptions.batchScanSkipLevel0 of Paimon 1.4 and 2.0). */
export function hiddenRows({ table, options }: PaimonSchema): HiddenRows {
  const postponed = options.get('bucket') === '-2';
  const keyed = table.primaryKeys.length > 0;
  const wholeScan = (options.get('batch-scan-mode') ?? 'none').toLowerCase() === 'none';
  return { levelZero: keyed && wholeScan && skipsLevelZero(options), postponed };
}

function skipsLevelZero(options: ReadonlyMap<string, string>): boolean {
  const on = (key: string): boolean => options.get(key)?.toLowerCase() === 'true';
  if (on('deletion-vectors.enabled')) return !on('deletion-vectors.merge-on-read');
  return options.get('merge-engine')?.toLowerCase() === 'first-row';
}

const broken = (reason: string): { readonly ok: false; readonly reason: string } => ({ ok: false, reason });

/** Parses the body of `schema-<id>`. */
export function parseSchema(bytes: Uint8Array, id: bigint): Parsed<PaimonSchema> {
  const parsed = parseObject(bytes);
  if (!parsed.ok) return parsed;
  const json = parsed.value;
  if (asLong(json['id']) !== id) return broken(`it says that it is schema ${String(json['id'])}`);
  const fields = fieldList(json['fields'], 0);
  if (fields === null) return broken('its fields are not a list of columns');
  const table = {
    schemaId: id.toString(),
    fields,
    partitionKeys: names(json['partitionKeys']),
    primaryKeys: names(json['primaryKeys']),
  };
  return { ok: true, value: { id, table, options: optionsOf(json['options']), fingerprint: identity(json) } };
}

/** Independent of key order and of the file's layout version: newer writers write old schemas anew when they copy them. */
function identity(json: JsonObject): string {
  const parts = ['fields', 'partitionKeys', 'primaryKeys', 'options', 'timeMillis'];
  return fingerprint(parts.map((key) => canonicalJson(json[key] ?? null)).join('\n'));
}

const names = (json: Json | undefined): readonly string[] =>
  Array.isArray(json) ? json.filter((name): name is string => typeof name === 'string') : [];

const optionsOf = (json: Json | undefined): ReadonlyMap<string, string> =>
  new Map(isJsonObject(json) ? Object.entries(json).map(([key, value]) => [key, String(value)]) : []);

/** Deeper than any table: a guard against a file made to exhaust the stack. */
const DEEPEST = 100;

function fieldList(json: Json | undefined, depth: number): readonly SchemaField[] | null {
  if (!Array.isArray(json) || depth > DEEPEST) return null;
  const fields = json.map((item: Json) => (isJsonObject(item) ? fieldOf(item, depth) : null));
  return fields.every((field) => field !== null) ? fields : null;
}

function fieldOf(json: JsonObject, depth: number): SchemaField | null {
  const { id, name, type, description } = json;
  const fieldId = asLong(id);
  if (fieldId === undefined || typeof name !== 'string') return null;
  return typed(fieldId.toString(), name, type, typeof description === 'string' ? description : null, depth);
}

function typed(
  id: string,
  name: string,
  type: Json | undefined,
  doc: string | null,
  depth: number,
): SchemaField | null {
  const written = isJsonObject(type) ? type['type'] : type;
  if (typeof written !== 'string' || depth > DEEPEST) return null;
  const { word, nullable } = canonicalType(written);
  const field = { id, name, type: word, nullable, ...(doc === null ? {} : { doc }) };
  if (!isJsonObject(type)) return field;
  const fields = partsOf(type, depth + 1);
  return fields === null ? null : { ...field, fields };
}

/** The parts of a nested type: the fields of a row, or element, key and value, which have no ids and go by their role. */
function partsOf(type: JsonObject, depth: number): readonly SchemaField[] | null {
  if (type['fields'] !== undefined) return fieldList(type['fields'], depth);
  const parts = ['key', 'value', 'element'].filter((role) => type[role] !== undefined);
  const fields = parts.map((role) => typed(role, role, type[role], null, depth));
  return fields.every((field) => field !== null) ? fields : null;
}

/** `decimal(10, 2) NOT NULL` is DECIMAL(10,2), not nullable. */
function canonicalType(text: string): { readonly word: string; readonly nullable: boolean } {
  const tidy = text
    .toUpperCase()
    .replace(/\s+/g, ' ')
    .replace(/ ?([(),<>]) ?/g, '$1')
    .replace(/\)(?=[A-Z])/g, ') ')
    .trim();
  const nullable = !tidy.endsWith(' NOT NULL');
  return { word: nullable ? tidy.replace(/ NULL$/, '') : tidy.slice(0, -' NOT NULL'.length), nullable };
}
