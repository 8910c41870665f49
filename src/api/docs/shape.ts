/** As much of JSON Schema as the routes use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly examples?: readonly unknown[];
}

const INDENT = '  ';

/** A schema as people read it: fields with their types, `?` where one may be left out, a choice with `|`. */
export const shapeOf = (schema: Schema, indent = ''): string => {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map((each) => shapeOf(each, indent)))].join(' | ');
  if (schema.type === 'array') return `[ ${shapeOf(schema.items ?? {}, indent)}${limitOf(schema)} ]`;
  if (schema.type === 'object') return objectShape(schema, indent);
  return schema.format === 'date-time' ? 'time' : (schema.type ?? 'any');
};

const limitOf = ({ maxItems }: Schema): string => (maxItems === undefined ? ', …' : `, … at most ${maxItems}`);

const objectShape = ({ properties = {}, patternProperties = {}, required = [] }: Schema, indent: string): string => {
  const deeper = indent + INDENT;
  const named = Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${shapeOf(schema, deeper)}`,
  );
  const any = Object.values(patternProperties).map((schema) => `[name]: ${shapeOf(schema, deeper)}`);
  const lines = [...named, ...any];
  return lines.length === 0 ? '{…}' : `{\n${lines.map((line) => deeper + line).join('\n')}\n${indent}}`;
};
