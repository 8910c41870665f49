import type { SchemaRecord, SchemaStatus } from './state.ts';
import type { Version } from './version.ts';

/** What names one schema of an asset: ids are given again in a new epoch. */
export const schemaKey = (epoch: number, schemaId: string): string => JSON.stringify([epoch, schemaId]);

const isNumber = (id: string): boolean => /^\d+$/.test(id);

const compareTimes = (a: bigint, b: bigint): number => (a < b ? -1 : Number(a > b));

/** The table's own order of two schemas of one epoch: by number where ids are numbers (all four formats), else as they were seen. */
export const compareSchemaOrder = (a: SchemaRecord, b: SchemaRecord): number =>
  isNumber(a.schemaId) && isNumber(b.schemaId)
    ? compareTimes(BigInt(a.schemaId), BigInt(b.schemaId))
    : compareTimes(a.seenAt, b.seenAt);

/** Schemas of one epoch, oldest first. */
export const schemasOfEpoch = (records: readonly SchemaRecord[], epoch: number): readonly SchemaRecord[] =>
  records.filter((record) => record.epoch === epoch).sort(compareSchemaOrder);

/** The newest schema of an epoch that downstream may rely on. */
export const newestAccepted = (records: readonly SchemaRecord[], epoch: number): SchemaRecord | undefined =>
  schemasOfEpoch(records, epoch).findLast((record) => record.status === 'COMPATIBLE');

/** A version has its schema's status; UNKNOWN where its schema is not known. */
export const schemaStatusOf = (
  schemas: ReadonlyMap<string, SchemaRecord>,
  version: Pick<Version, 'epoch' | 'schemaId'> | undefined,
): SchemaStatus => {
  if (version === undefined || version.schemaId === null) return 'UNKNOWN';
  return schemas.get(schemaKey(version.epoch, version.schemaId))?.status ?? 'UNKNOWN';
};
