import type { TableSchema } from '../../core/asset/schema/schema.ts';
import { fingerprint } from '../fingerprint.ts';
import { nextTurn } from '../turns.ts';
import { PRINT_LENGTH } from './glance.ts';
import type { Memory } from './cursor.ts';
import type { SchemaEntry, TableMetadata } from './metadata.ts';
import { schemaAt } from './schema.ts';

/** The table's schemas as a poll tells them, and what is remembered of them. */
export interface SchemaView {
  readonly current: TableSchema;
  /** Not seen before, in the table's order. */
  readonly fresh: readonly TableSchema[];
  readonly lastSchema: bigint;
  readonly schemaPrint: string;
}

/** Ids only rise within one table. `memory` null: all are new, of which the newest `limit` are read. Throws BrokenFile. */
export async function viewSchemas(metadata: TableMetadata, memory: Memory | null, limit: number): Promise<SchemaView> {
  const current = schemaAt(metadata, metadata.currentSchema);
  const schemaPrint = fingerprint(JSON.stringify(current), PRINT_LENGTH);
  const lastSchema = metadata.schemas.reduce((last, { id }) => (BigInt(id) > last ? BigInt(id) : last), 0n);
  const fresh = memory === null ? firstSight(metadata, limit) : unseen(metadata, memory, schemaPrint);
  const schemas: TableSchema[] = [];
  for (const entry of fresh) {
    schemas.push(schemaAt(metadata, entry));
    await nextTurn();
  }
  return { current, fresh: schemas, lastSchema, schemaPrint };
}

function firstSight({ schemas, currentSchema }: TableMetadata, limit: number): readonly SchemaEntry[] {
  const newest = schemas.slice(-Math.max(limit, 1));
  return newest.includes(currentSchema) ? newest : [currentSchema, ...newest];
}

function unseen({ schemas, currentSchema }: TableMetadata, memory: Memory, print: string): readonly SchemaEntry[] {
  const rewritten = memory.schemaId === currentSchema.id && memory.schemaPrint !== print;
  return schemas.filter((entry) => BigInt(entry.id) > memory.lastSchema || (rewritten && entry === currentSchema));
}
