import type { SchemaField, TableSchema } from '../../core/asset/schema/schema.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../core/json.ts';
import { fingerprint } from '../fingerprint.ts';

/** Columns that Hudi adds to every row. */
const META = /^_hoodie_(?:commit_time|commit_seqno|record_key|partition_path|file_name|operation)$/;

/** Deeper than any table: a guard against text made to exhaust the stack. */
const DEEPEST = 100;

export interface Keys {
  readonly partitionKeys: readonly string[];
  readonly primaryKeys: readonly string[];
}

/**
 * The table's schema, from the Avro JSON that writers put into a commit; null if it is none. Hudi numbers no schema: its id is a
 * fingerprint of the columns (names, types, nullability, comments), so that the same columns have the same id whichever engine wrote. Columns
 * have no ids either (but under schema-on-read), so that they go by name.
 */
export function parseTableSchema(text: string, keys: Keys): TableSchema | null {
  try {
    const record = parseJson(text);
    if (!isJsonObject(record) || record['type'] !== 'record') return null;
    const fields = new AvroFields().rowOf(record, 0).filter((field) => !META.test(field.name));
    return { schemaId: fingerprint(JSON.stringify(fields)), fields, ...keys };
  } catch {
    return null; // no JSON, or no Avro schema
  }
}

/** How a type is told: its canonical word, and the parts of a nested one. */
type Told = Pick<SchemaField, 'type' | 'nullable' | 'fields'>;

const PLAIN: Readonly<Record<string, string>> = {
  boolean: 'BOOLEAN',
  int: 'INT',
  long: 'BIGINT',
  float: 'FLOAT',
  double: 'DOUBLE',
  bytes: 'BYTES',
  string: 'STRING',
  enum: 'STRING',
};

const LOGICAL: Readonly<Record<string, string>> = {
  date: 'DATE',
  uuid: 'UUID',
  'time-millis': 'TIME(3)',
  'time-micros': 'TIME(6)',
  'timestamp-millis': 'TIMESTAMP_LTZ(3)',
  'timestamp-micros': 'TIMESTAMP_LTZ(6)',
  'local-timestamp-millis': 'TIMESTAMP(3)',
  'local-timestamp-micros': 'TIMESTAMP(6)',
};

/** Translates Avro types; remembers named ones, since they are written once and then named. Throws TypeError for what is no Avro schema. */
class AvroFields {
  readonly #named = new Map<string, JsonObject>();

  rowOf(record: JsonObject, depth: number): readonly SchemaField[] {
    const { name, fields } = record;
    if (!Array.isArray(fields) || depth > DEEPEST) throw new TypeError('no fields');
    if (typeof name === 'string') this.#named.set(name, record);
    return (fields as readonly Json[]).map((field) => this.#field(field, depth + 1));
  }

  #field(field: Json, depth: number): SchemaField {
    if (!isJsonObject(field) || typeof field['name'] !== 'string') throw new TypeError('no field');
    const { name, doc } = field;
    return this.#column(name, field['type'], typeof doc === 'string' && doc !== '' ? doc : null, depth);
  }

  #column(name: string, type: Json | undefined, doc: string | null, depth: number): SchemaField {
    return { id: name, name, ...this.#told(type, depth), ...(doc === null ? {} : { doc }) };
  }

  #told(type: Json | undefined, depth: number): Told {
    if (depth > DEEPEST) throw new TypeError('nested too deeply');
    if (Array.isArray(type)) return this.#union(type as readonly Json[], depth);
    if (typeof type === 'string') {
      const named = this.#named.get(type) ?? this.#named.get(type.slice(type.lastIndexOf('.') + 1));
      if (named !== undefined) return this.#told(named, depth + 1);
      return { type: PLAIN[type] ?? type.toUpperCase(), nullable: type === 'null' };
    }
    if (!isJsonObject(type)) throw new TypeError('no type');
    return this.#described(type, depth);
  }

  /** `["null", X]` is a nullable X; other unions are told by all their branches. */
  #union(branches: readonly Json[], depth: number): Told {
    const some = branches.filter((branch) => branch !== 'null');
    const nullable = some.length < branches.length;
    if (some.length === 1) return { ...this.#told(some[0], depth + 1), nullable };
    const fields = some.map((branch, at) => this.#column(`${at}`, branch, null, depth + 1));
    return { type: 'UNION', nullable, fields };
  }

  #described(type: JsonObject, depth: number): Told {
    const { type: word, logicalType } = type;
    if (typeof word !== 'string') return this.#told(word, depth + 1);
    if (typeof type['name'] === 'string' && word !== 'record') this.#named.set(type['name'], type);
    const part = (role: string, of: string): SchemaField => this.#column(role, type[of], null, depth + 1);
    if (word === 'record') return { type: 'ROW', nullable: false, fields: this.rowOf(type, depth + 1) };
    if (word === 'array') return { type: 'ARRAY', nullable: false, fields: [part('element', 'items')] };
    if (word === 'map')
      return {
        type: 'MAP',
        nullable: false,
        fields: [this.#column('key', 'string', null, depth), part('value', 'values')],
      };
    if (logicalType === 'decimal')
      return { type: `DECIMAL(${String(type['precision'])},${String(type['scale'] ?? 0)})`, nullable: false };
    const logical = typeof logicalType === 'string' ? LOGICAL[logicalType] : undefined;
    if (logical !== undefined) return { type: logical, nullable: false };
    if (word === 'fixed') return { type: `BINARY(${String(type['size'])})`, nullable: false };
    return { type: PLAIN[word] ?? word.toUpperCase(), nullable: false };
  }
}
