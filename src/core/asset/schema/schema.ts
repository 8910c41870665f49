import { widens } from './column-type.ts';

/** One column. Types are the format's own text, made canonical by the source (upper case, single spaces); nested fields carry their own ids. */
export interface SchemaField {
  /** The format's field id as text; where a format has none (Delta without column mapping) the name. */
  readonly id: string;
  readonly name: string;
  /** `BIGINT`, `DECIMAL(10,2)`, `ROW`, `ARRAY`, `MAP` … : for nested types the word only, the parts are in `fields`. */
  readonly type: string;
  readonly nullable: boolean;
  readonly doc?: string;
  /** ROW: its fields; ARRAY: one (`element`); MAP: two (`key`, `value`). */
  readonly fields?: readonly SchemaField[];
}

export interface TableSchema {
  readonly schemaId: string;
  readonly fields: readonly SchemaField[];
  readonly partitionKeys: readonly string[];
  readonly primaryKeys: readonly string[];
}

export type SchemaVerdict = 'COMPATIBLE' | 'INCOMPATIBLE';

export type SchemaChangeKind =
  | 'COLUMN_ADDED'
  | 'COLUMN_DROPPED'
  | 'COLUMN_RENAMED'
  | 'TYPE_CHANGED'
  | 'NULLABILITY_CHANGED'
  | 'COLUMNS_REORDERED'
  | 'DOC_CHANGED'
  | 'PARTITION_KEYS_CHANGED'
  | 'PRIMARY_KEYS_CHANGED';

/** One difference between two schemas, for people and programs. */
export interface SchemaChange {
  readonly kind: SchemaChangeKind;
  /** Dotted path of the column (`address.city`), the next schema's name for it where both have it; empty: the table itself. */
  readonly column: string;
  /** What it was, and is: a name, a type, a list of keys; null where there was or is nothing. */
  readonly from: string | null;
  readonly to: string | null;
  readonly compatible: boolean;
  /** One sentence that says what changed. */
  readonly sentence: string;
}

export interface SchemaComparison {
  readonly verdict: SchemaVerdict;
  readonly changes: readonly SchemaChange[];
}

/**
 * What changed from the accepted schema to the next one, column by column, matched by field id (semantics.md, 2). COMPATIBLE: only
 * added nullable columns, widened types, reordered or re-documented columns; options are not part of a TableSchema and never matter.
 * Anything else is INCOMPATIBLE.
 */
export function compareSchemas(accepted: TableSchema, next: TableSchema): SchemaComparison {
  const changes = [
    ...compareFields('', accepted.fields, next.fields),
    ...compareKeys('PARTITION_KEYS_CHANGED', 'partition', accepted.partitionKeys, next.partitionKeys),
    ...compareKeys('PRIMARY_KEYS_CHANGED', 'primary', accepted.primaryKeys, next.primaryKeys),
  ];
  return { verdict: changes.every((change) => change.compatible) ? 'COMPATIBLE' : 'INCOMPATIBLE', changes };
}

const pathOf = (parent: string, field: SchemaField): string => (parent === '' ? field.name : `${parent}.${field.name}`);

/** The fields of one level: those of the table, of a row, or the parts of an array or a map. */
function compareFields(parent: string, before: readonly SchemaField[], after: readonly SchemaField[]): SchemaChange[] {
  const next = new Map(after.map((field) => [field.id, field]));
  const known = new Set(before.map((field) => field.id));
  const kept = before.flatMap((field) => {
    const now = next.get(field.id);
    return now === undefined ? [dropped(parent, field)] : compareField(parent, field, now);
  });
  const added = after.filter((field) => !known.has(field.id)).map((field) => addedColumn(parent, field));
  return [...kept, ...added, ...compareOrder(parent, before, after)];
}

const dropped = (parent: string, field: SchemaField): SchemaChange => {
  const column = pathOf(parent, field);
  const sentence = `Column ${column} (${typeText(field)}) was dropped.`;
  return { kind: 'COLUMN_DROPPED', column, from: typeText(field), to: null, compatible: false, sentence };
};

const addedColumn = (parent: string, field: SchemaField): SchemaChange => {
  const column = pathOf(parent, field);
  const sentence = field.nullable
    ? `Column ${column} (${typeText(field)}) was added.`
    : `Column ${column} (${typeText(field)}) was added and does not allow nulls.`;
  return { kind: 'COLUMN_ADDED', column, from: null, to: typeText(field), compatible: field.nullable, sentence };
};

const change = (
  kind: SchemaChangeKind,
  column: string,
  [from, to]: readonly [string | null, string | null],
  compatible: boolean,
  sentence: string,
): SchemaChange => ({ kind, column, from, to, compatible, sentence });

/** One column that both schemas have. */
function compareField(parent: string, before: SchemaField, after: SchemaField): SchemaChange[] {
  const column = pathOf(parent, after);
  const changes: SchemaChange[] = [];
  if (before.name !== after.name) {
    const sentence = `Column ${pathOf(parent, before)} was renamed to ${after.name}.`;
    changes.push(change('COLUMN_RENAMED', column, [before.name, after.name], false, sentence));
  }
  if (before.nullable !== after.nullable) {
    const words: readonly [string, string] = before.nullable ? ['nullable', 'not null'] : ['not null', 'nullable'];
    const sentence = `Column ${column} ${after.nullable ? 'now allows nulls' : 'no longer allows nulls'}.`;
    changes.push(change('NULLABILITY_CHANGED', column, words, false, sentence));
  }
  if ((before.doc ?? '') !== (after.doc ?? '')) {
    const docs: readonly [string | null, string | null] = [before.doc ?? null, after.doc ?? null];
    changes.push(change('DOC_CHANGED', column, docs, true, `The comment of column ${column} changed.`));
  }
  return [...changes, ...compareType(column, before, after)];
}

const NONE: readonly SchemaField[] = [];

function compareType(column: string, before: SchemaField, after: SchemaField): SchemaChange[] {
  const nested = before.fields !== undefined && after.fields !== undefined;
  if (nested && before.type === after.type) return compareFields(column, before.fields ?? NONE, after.fields ?? NONE);
  const types: readonly [string, string] = [typeText(before), typeText(after)];
  if (types[0] === types[1]) return [];
  const wider = before.fields === undefined && after.fields === undefined && widens(before.type, after.type);
  const sentence = `Column ${column} was ${wider ? 'widened' : 'changed'} from ${types[0]} to ${types[1]}.`;
  return [change('TYPE_CHANGED', column, types, wider, sentence)];
}

/** Only the columns that both have are compared: where a new one stands is not a reordering. */
function compareOrder(parent: string, before: readonly SchemaField[], after: readonly SchemaField[]): SchemaChange[] {
  const idsBefore = new Set(before.map((field) => field.id));
  const idsAfter = new Set(after.map((field) => field.id));
  const oldOrder = before.filter((field) => idsAfter.has(field.id));
  const newOrder = after.filter((field) => idsBefore.has(field.id));
  if (oldOrder.every((field, at) => field.id === newOrder[at]?.id)) return [];
  const names = (fields: readonly SchemaField[]): string => fields.map((field) => field.name).join(', ');
  const sentence = `The columns${parent === '' ? '' : ` of ${parent}`} were reordered.`;
  return [change('COLUMNS_REORDERED', parent, [names(oldOrder), names(newOrder)], true, sentence)];
}

function compareKeys(
  kind: 'PARTITION_KEYS_CHANGED' | 'PRIMARY_KEYS_CHANGED',
  word: string,
  before: readonly string[],
  after: readonly string[],
): SchemaChange[] {
  if (before.length === after.length && before.every((key, at) => key === after[at])) return [];
  const text = (keys: readonly string[]): string => (keys.length === 0 ? 'none' : keys.join(', '));
  const sentence = `The ${word} key changed from ${text(before)} to ${text(after)}.`;
  return [change(kind, '', [text(before), text(after)], false, sentence)];
}

/** A column's whole type for people: `ROW<a INT, b STRING>`. */
export function typeText(field: SchemaField): string {
  if (field.fields === undefined) return field.type;
  const part = (child: SchemaField): string =>
    field.type === 'ROW' ? `${child.name} ${typeText(child)}` : typeText(child);
  return `${field.type}<${field.fields.map(part).join(', ')}>`;
}
