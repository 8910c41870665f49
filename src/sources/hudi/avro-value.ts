import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { AvroTap } from './avro-tap.ts';

/** A parsed Avro schema with the named types that it defines, so that a reference by name can be followed. */
export interface AvroSchema {
  readonly type: Json;
  readonly named: ReadonlyMap<string, JsonObject>;
}

/** Deeper than any metadata of a table: a guard against files made to exhaust the stack. */
const DEEPEST = 64;

/** Reads a schema. Throws SyntaxError or RangeError for what is none. */
export function parseSchema(text: string): AvroSchema {
  const type = JSON.parse(text) as Json;
  const named = new Map<string, JsonObject>();
  define(type, '', named, 0);
  return { type, named };
}

/** Finds all named types, by their full and by their short names. */
function define(type: Json | undefined, space: string, named: Map<string, JsonObject>, depth: number): void {
  if (depth > DEEPEST) throw new RangeError('its schema is nested too deeply');
  if (Array.isArray(type)) for (const branch of type as readonly Json[]) define(branch, space, named, depth + 1);
  if (!isJsonObject(type)) return;
  const { name, namespace } = type;
  const inner = typeof namespace === 'string' ? namespace : space;
  if (typeof name === 'string')
    for (const each of [name, `${inner}.${name}`]) if (!named.has(each)) named.set(each, type);
  for (const child of [type['items'], type['values'], ...(isJsonObject(type['type']) ? [type['type']] : [])])
    define(child, inner, named, depth + 1);
  for (const field of fieldsOf(type)) define(field['type'], inner, named, depth + 1);
}

/** The fields of a record's type, in order; none if it is no record. */
const fieldsOf = (type: JsonObject): readonly JsonObject[] => {
  const fields = type['fields'];
  return Array.isArray(fields) ? (fields as readonly Json[]).filter(isJsonObject) : [];
};

/** How a type is written, references and unions resolved: its word, and the object that describes it. */
export interface Shape {
  readonly word: string;
  readonly type: JsonObject;
}

const NOTHING: JsonObject = {};

/** Resolves a reference, and of a union the branch that the next bytes choose. Throws RangeError for an unknown type. */
function shapeOf(type: Json | undefined, tap: AvroTap, schema: AvroSchema): Shape {
  if (Array.isArray(type)) {
    const branch = (type as readonly Json[])[tap.size()];
    if (branch === undefined || Array.isArray(branch))
      throw new RangeError('it chooses a type that its schema does not have');
    return shapeOf(branch, tap, schema);
  }
  if (typeof type === 'string') {
    const named = schema.named.get(type);
    return named === undefined ? { word: type, type: NOTHING } : shapeOf(named, tap, schema);
  }
  if (!isJsonObject(type)) throw new RangeError('its schema is damaged');
  const inner = type['type'];
  return typeof inner === 'string' ? { word: inner, type } : shapeOf(inner, tap, schema);
}

export type Value = null | boolean | number | bigint | string | Uint8Array | readonly Value[] | ValueRecord;
export type ValueRecord = { readonly [key: string]: Value };

/** A field of a record, looked at once. */
export interface Field {
  readonly name: string;
  readonly type: Json | undefined;
  readonly wanted: boolean;
}

/** Reads values of one schema; of records only the fields that are wanted, the others are passed over. */
export class ValueReader {
  readonly #schema: AvroSchema;
  readonly #wanted: ReadonlySet<string>;
  readonly #fields = new Map<JsonObject, readonly Field[]>();

  constructor(schema: AvroSchema, wanted: ReadonlySet<string>) {
    this.#schema = schema;
    this.#wanted = wanted;
  }

  fields(record: JsonObject): readonly Field[] {
    const known = this.#fields.get(record);
    if (known !== undefined) return known;
    const fields = fieldsOf(record).map((field): Field => {
      const name = String(field['name']);
      return { name, type: field['type'], wanted: this.#wanted.has(name) };
    });
    this.#fields.set(record, fields);
    return fields;
  }

  shape(type: Json | undefined, tap: AvroTap): Shape {
    return shapeOf(type, tap, this.#schema);
  }

  /** The next value; null in place of what is passed over (`skip`). Throws RangeError for damage. */
  read(type: Json | undefined, tap: AvroTap, skip = false, depth = 0): Value {
    if (depth > DEEPEST) throw new RangeError('it is nested too deeply');
    return this.readShape(this.shape(type, tap), tap, skip, depth);
  }

  readShape({ word, type }: Shape, tap: AvroTap, skip = false, depth = 0): Value {
    switch (word) {
      case 'null':
        return null;
      case 'boolean':
        return tap.byte() !== 0;
      case 'int':
      case 'long':
      case 'enum':
        return tap.long();
      case 'float':
        return tap.take(4).readFloatLE();
      case 'double':
        return tap.take(8).readDoubleLE();
      case 'string': {
        const text = tap.take(tap.size());
        return skip ? null : text.toString('utf8');
      }
      case 'bytes':
        return tap.take(tap.size());
      case 'fixed':
        return tap.take(Number(type['size']));
      case 'array':
        return this.#array(type['items'], tap, skip, depth);
      case 'map':
        return this.#map(type['values'], tap, skip, depth);
      case 'record':
        return this.#record(type, tap, skip, depth);
      default:
        throw new RangeError(`its schema has a type ${word}, which is none`);
    }
  }

  #array(items: Json | undefined, tap: AvroTap, skip: boolean, depth: number): Value {
    const values: Value[] = [];
    for (let count = tap.block(); count > 0; count = tap.block())
      for (; count > 0; count--) {
        const value = this.read(items, tap, skip, depth + 1);
        if (!skip) values.push(value);
      }
    return skip ? null : values;
  }

  #map(type: Json | undefined, tap: AvroTap, skip: boolean, depth: number): Value {
    const entries: [string, Value][] = [];
    for (let count = tap.block(); count > 0; count = tap.block())
      for (; count > 0; count--) {
        const key = tap.text();
        const value = this.read(type, tap, skip, depth + 1);
        if (!skip) entries.push([key, value]);
      }
    return skip ? null : Object.fromEntries(entries);
  }

  #record(type: JsonObject, tap: AvroTap, skip: boolean, depth: number): Value {
    const record: Record<string, Value> = {};
    for (const { name, type: fieldType, wanted } of this.fields(type)) {
      const value = this.read(fieldType, tap, skip || !wanted, depth + 1);
      if (!skip && wanted) record[name] = value;
    }
    return skip ? null : record;
  }
}

export const isValueRecord = (value: Value | undefined): value is ValueRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);

export const textsOf = (value: Value | undefined): readonly string[] =>
  Array.isArray(value) ? (value as readonly Value[]).filter((item) => typeof item === 'string') : [];
