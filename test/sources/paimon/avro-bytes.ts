import avro, { type Schema } from 'avsc';

export const record = (fields: readonly (readonly [string, unknown])[]): Schema =>
  ({ type: 'record', name: 'record', fields: fields.map(([name, type]) => ({ name, type })) }) as Schema;

/** An uncompressed Avro container with these records in one block. */
export function container(schema: Schema, records: readonly object[]): Buffer {
  const long = (value: number): Buffer => avro.Type.forSchema('long').toBuffer(value);
  const text = (value: string): Buffer => avro.Type.forSchema('string').toBuffer(value);
  const type = avro.Type.forSchema(schema);
  const sync = Buffer.alloc(16, 1);
  const data = Buffer.concat(records.map((value) => type.toBuffer(value)));
  const header = [
    Buffer.from('Obj\x01', 'latin1'),
    long(1),
    text('avro.schema'),
    text(JSON.stringify(schema)),
    long(0),
    sync,
  ];
  const block = records.length === 0 ? [] : [long(records.length), long(data.length), data, sync];
  return Buffer.concat([...header, ...block]);
}
