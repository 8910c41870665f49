import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { SchemaField, TableSchema } from '../../core/asset/schema/schema.ts';
import { BrokenFile } from '../trouble.ts';
import { objectAt, type SchemaEntry, type TableMetadata } from './metadata.ts';

/** Deeper than any table: a guard against a file made to exhaust the stack. */
const DEEPEST = 100;

/**
 * The schema that stands at the entry. Partition keys are left out: partitioning is no part of an Iceberg schema, evolves without one
 * and is hidden from readers. Primary keys are the identifier fields. Throws BrokenFile.
 */
export function schemaAt(metadata: TableMetadata, entry: SchemaEntry): TableSchema {
  const json = objectAt(metadata.bytes, entry.span);
  const fields = structFields(json, 0);
  if (fields === null) throw new BrokenFile(`its schema ${entry.id} is not a list of columns`);
  return { schemaId: entry.id, fields, partitionKeys: [], primaryKeys: keysOf(json['identifier-field-ids'], fields) };
}

function keysOf(ids: Json | undefined, fields: readonly SchemaField[]): readonly string[] {
  const names = new Map(namesOf('', fields));
  return (Array.isArray(ids) ? (ids as readonly Json[]) : []).flatMap((id) => names.get(String(id)) ?? []);
}

const namesOf = (parent: string, fields: readonly SchemaField[]): [string, string][] =>
  fields.flatMap((field) => {
    const path = parent === '' ? field.name : `${parent}.${field.name}`;
    return [[field.id, path] as [string, string], ...(field.type === 'ROW' ? namesOf(path, field.fields ?? []) : [])];
  });

function structFields(json: JsonObject, depth: number): readonly SchemaField[] | null {
  const { fields } = json;
  if (!Array.isArray(fields) || depth > DEEPEST) return null;
  const read = (fields as readonly Json[]).map((field) => (isJsonObject(field) ? fieldOf(field, depth) : null));
  return read.every((field) => field !== null) ? read : null;
}

function fieldOf(json: JsonObject, depth: number): SchemaField | null {
  const { id, name, required, type, doc } = json;
  if (typeof name !== 'string') return null;
  const field = typed(id, name, type, required !== true, depth);
  return field === null || typeof doc !== 'string' ? field : { ...field, doc };
}

function typed(
  id: Json | undefined,
  name: string,
  type: Json | undefined,
  nullable: boolean,
  depth: number,
): SchemaField | null {
  if (typeof id !== 'number' && typeof id !== 'bigint') return null;
  if (typeof type === 'string') return { id: id.toString(), name, type: canonical(type), nullable };
  if (!isJsonObject(type) || depth > DEEPEST) return null;
  const fields = partsOf(type, depth + 1);
  const word = WORDS[String(type['type'])];
  return fields === null || word === undefined ? null : { id: id.toString(), name, type: word, nullable, fields };
}

const WORDS: Readonly<Record<string, string>> = { struct: 'ROW', list: 'ARRAY', map: 'MAP' };

function partsOf(json: JsonObject, depth: number): readonly SchemaField[] | null {
  if (json['type'] === 'struct') return structFields(json, depth);
  const part = (role: string): SchemaField | null =>
    typed(json[`${role}-id`], role, json[role], role !== 'key' && json[`${role}-required`] !== true, depth);
  const parts = json['type'] === 'list' ? [part('element')] : [part('key'), part('value')];
  return parts.every((field) => field !== null) ? parts : null;
}

/** `decimal(10, 2)` is DECIMAL(10,2). */
const canonical = (type: string): string =>
  type
    .toUpperCase()
    .replace(/\s+/g, ' ')
    .replace(/ ?([(),[\]<>]) ?/g, '$1')
    .trim();
