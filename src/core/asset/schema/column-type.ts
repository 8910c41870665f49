/** A scalar type taken apart: `TIMESTAMP(3) WITH TIME ZONE` is TIMESTAMP WITH TIME ZONE with [3]. */
interface ScalarType {
  readonly word: string;
  readonly sizes: readonly number[];
}

/** Longest CHAR and BINARY kinds: what STRING and BYTES stand for (Flink and Paimon SQL types). */
const LONGEST = 2_147_483_647;

/** Names of the four formats for one type. */
const ALIASES: Readonly<Record<string, string>> = {
  BYTE: 'TINYINT',
  SHORT: 'SMALLINT',
  INTEGER: 'INT',
  LONG: 'BIGINT',
  NUMERIC: 'DECIMAL',
  STRING: `VARCHAR(${LONGEST})`,
  BYTES: `VARBINARY(${LONGEST})`,
  TIMESTAMP_LTZ: 'TIMESTAMP WITH LOCAL TIME ZONE',
  TIMESTAMP_NTZ: 'TIMESTAMP',
};

const SHAPE = /^([A-Z_]+[A-Z0-9_ ]*?) ?(?:\( ?(\d+)(?: ?, ?(\d+))? ?\))? ?([A-Z ]*)$/;

function parse(text: string): ScalarType {
  const [, start = text, first, second, end = ''] = SHAPE.exec(text.toUpperCase().replace(/\s+/g, ' ').trim()) ?? [];
  const sizes = [first, second].filter((size) => size !== undefined).map(Number);
  const alias = ALIASES[start];
  if (alias === undefined) return { word: `${start} ${end}`.trim(), sizes };
  const [, word = alias, longest] = /^([A-Z ]+)(?:\((\d+)\))?$/.exec(alias) ?? [];
  return { word: `${word} ${end}`.trim(), sizes: longest === undefined ? sizes : [Number(longest)] };
}

/** Decimal digits that hold every value of the type. */
const DIGITS: Readonly<Record<string, number>> = { TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 19 };
const INTEGERS = Object.keys(DIGITS);

/** Types that hold every value of the key exactly: FLOAT has 24 bits of precision, DOUBLE 53, so INT fits only the second. */
const HOLDERS: Readonly<Record<string, readonly string[]>> = {
  TINYINT: ['SMALLINT', 'INT', 'BIGINT', 'FLOAT', 'DOUBLE'],
  SMALLINT: ['INT', 'BIGINT', 'FLOAT', 'DOUBLE'],
  INT: ['BIGINT', 'DOUBLE'],
  FLOAT: ['DOUBLE'],
  DATE: ['TIMESTAMP', 'TIMESTAMP_NS'], // Iceberg v3 and Delta: a date becomes its midnight, without a zone
};

/** Fixed length → the words that hold it when they are at least as long. */
const SIZED: Readonly<Record<string, readonly string[]>> = {
  CHAR: ['CHAR', 'VARCHAR'],
  VARCHAR: ['VARCHAR'],
  BINARY: ['BINARY', 'VARBINARY'],
  VARBINARY: ['VARBINARY'],
  TIME: ['TIME'],
  TIMESTAMP: ['TIMESTAMP'],
  'TIMESTAMP WITH LOCAL TIME ZONE': ['TIMESTAMP WITH LOCAL TIME ZONE'],
};

/** Whole digits and scale of a decimal or of an integer type; null for others. */
function decimalRoom({ word, sizes }: ScalarType): { readonly whole: number; readonly scale: number } | null {
  if (word === 'DECIMAL') return { whole: (sizes[0] ?? 10) - (sizes[1] ?? 0), scale: sizes[1] ?? 0 };
  return INTEGERS.includes(word) ? { whole: DIGITS[word] ?? 0, scale: 0 } : null;
}

/**
 * Does every value of the one scalar type have an exact place in the other? INT to BIGINT, FLOAT to DOUBLE, DECIMAL to more
 * digits, VARCHAR to a longer one, a time to more fraction digits (the promotions that Paimon, Iceberg and Delta read without a
 * rewrite). A type widens to itself. Anything to STRING is a change of meaning, not a widening.
 */
export function widens(from: string, to: string): boolean {
  const [before, after] = [parse(from), parse(to)];
  if (before.word === after.word && String(before.sizes) === String(after.sizes)) return true;
  if (before.word === 'UNKNOWN') return true; // Iceberg v3: a column that has held nothing but nulls
  if (HOLDERS[before.word]?.includes(after.word)) return true;
  if (after.word === 'DECIMAL') {
    const [need, room] = [decimalRoom(before), decimalRoom(after)];
    return need !== null && room !== null && room.whole >= need.whole && room.scale >= need.scale;
  }
  const [had, has] = [before.sizes[0], after.sizes[0]];
  return had !== undefined && has !== undefined && has >= had && (SIZED[before.word]?.includes(after.word) ?? false);
}
