import { isJsonObject, parseJson, type Json, type JsonObject } from '../../core/json.ts';
import type { SchemaField, TableSchema } from '../../core/asset/schema/schema.ts';
import type { MetaData } from './commit-file.ts';

/** A partition column by its name, and by the name that `partitionValues` use for it (they differ where columns are mapped). */
export interface PartitionColumn {
  readonly name: string;
  readonly key: string;
}

/** Deeper than any table: a guard against a file made to exhaust the stack. */
const DEEPEST = 100;

/**
 * The schema in a `metaData` action; null if it has none that can be read. Delta numbers no schemas: `schemaId` is the version that brought
 * it. Columns are told apart by their physical name, which stays when a column is renamed and is the column's own name until mapping is
 * switched on; the mapped ids come into being only then, and would make every column a new one.
 */
export function schemaOf(metaData: MetaData, schemaId: string): TableSchema | null {
  const type = structOf(metaData.schemaString);
  const fields = type === null ? null : fieldList(type['fields'], isMapped(metaData), 0);
  return fields && { schemaId, fields, partitionKeys: metaData.partitionColumns, primaryKeys: [] };
}

export function partitionColumnsOf(metaData: MetaData): readonly PartitionColumn[] {
  const listed = isMapped(metaData) ? structOf(metaData.schemaString)?.['fields'] : [];
  const fields = Array.isArray(listed)
    ? listed.filter((field): field is JsonObject => isJsonObject(field as Json))
    : [];
  return metaData.partitionColumns.map((name) => {
    const field = fields.find((candidate) => candidate['name'] === name);
    return { name, key: field === undefined ? name : identityOf(field, name, true) };
  });
}

const isMapped = ({ configuration }: MetaData): boolean =>
  (configuration.get('delta.columnMapping.mode') ?? 'none') !== 'none';

function structOf(schemaString: string | null): JsonObject | null {
  if (schemaString === null) return null;
  try {
    const json = parseJson(schemaString);
    return isJsonObject(json) && json['type'] === 'struct' ? json : null;
  } catch {
    return null;
  }
}

function identityOf(field: JsonObject, name: string, mapped: boolean): string {
  const { metadata } = field;
  const physical = mapped && isJsonObject(metadata) ? metadata['delta.columnMapping.physicalName'] : undefined;
  return typeof physical === 'string' ? physical : name;
}

function fieldList(json: Json | undefined, mapped: boolean, depth: number): readonly SchemaField[] | null {
  if (!Array.isArray(json) || depth > DEEPEST) return null;
  const fields = json.map((item: Json) => (isJsonObject(item) ? fieldOf(item, mapped, depth) : null));
  return fields.every((field) => field !== null) ? fields : null;
}

function fieldOf(json: JsonObject, mapped: boolean, depth: number): SchemaField | null {
  const { name, type, nullable, metadata } = json;
  if (typeof name !== 'string') return null;
  const notes = isJsonObject(metadata) ? metadata : {};
  const head = { id: identityOf(json, name, mapped), name, nullable: nullable !== false };
  const doc = typeof notes['comment'] === 'string' ? { doc: notes['comment'] } : {};
  const field = typed(head, notes['__CHAR_VARCHAR_TYPE_STRING'] ?? type, mapped, depth);
  return field && { ...field, ...doc };
}

type Head = Pick<SchemaField, 'id' | 'name' | 'nullable'>;

/** The parts of an array or a map have neither ids nor names and go by their role. */
const role = (name: string, nullable: Json | undefined): Head => ({ id: name, name, nullable: nullable !== false });

function typed(head: Head, type: Json | undefined, mapped: boolean, depth: number): SchemaField | null {
  if (typeof type === 'string') return { ...head, type: canonicalType(type) };
  if (!isJsonObject(type) || depth > DEEPEST) return null;
  const part = (name: string, partType: Json | undefined, nullable?: Json): SchemaField | null =>
    typed(role(name, nullable), partType, mapped, depth + 1);
  const kind = type['type'];
  if (kind === 'struct') return nested(head, 'ROW', fieldList(type['fields'], mapped, depth + 1));
  if (kind === 'array') return nested(head, 'ARRAY', [part('element', type['elementType'], type['containsNull'])]);
  if (kind === 'udt') return typed(head, type['sqlType'], mapped, depth + 1);
  if (kind !== 'map') return null;
  const value = part('value', type['valueType'], type['valueContainsNull']);
  return nested(head, 'MAP', [part('key', type['keyType'], false), value]);
}

const nested = (head: Head, type: string, fields: readonly (SchemaField | null)[] | null): SchemaField | null =>
  fields?.every((field) => field !== null) ? { ...head, type, fields } : null;

/** Delta's names for types that have another name in SQL. A plain timestamp is an instant; the one without a zone says so. */
const SQL_NAMES: Readonly<Record<string, string>> = {
  byte: 'TINYINT',
  short: 'SMALLINT',
  integer: 'INT',
  long: 'BIGINT',
  timestamp: 'TIMESTAMP_LTZ',
};

const canonicalType = (type: string): string =>
  SQL_NAMES[type] ??
  type
    .toUpperCase()
    .replace(/\s+/g, ' ')
    .replace(/ ?([(),]) ?/g, '$1')
    .trim();
