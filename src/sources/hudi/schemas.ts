import type { TableSchema } from '../../core/asset/schema/schema.ts';
import { BrokenFile } from '../trouble.ts';
import type { SeenVersion } from './cursor.ts';
import { engineOrder, type Timeline } from './instants.ts';
import type { TableConfig } from './properties.ts';
import { orBroken, type ReadVersion, type VersionReader } from './versions.ts';

/** Versions that are read at most in search of one that tells the schema. */
export const TRIES = 8;

/** The table's schema: that of the newest version that tells one, else what CREATE TABLE gave; null if nothing tells. */
export async function currentSchema(
  versions: VersionReader,
  config: TableConfig,
  timeline: Timeline,
  known: { readonly read: readonly ReadVersion[]; readonly seen: readonly SeenVersion[] },
): Promise<TableSchema | null> {
  const read = new Map(known.read.map((version) => [version.instant.key, version]));
  const silent = new Set(known.seen.filter(({ hasSchema }) => !hasSchema).map(({ key }) => key));
  let tries = TRIES;
  for (const instant of timeline.versions.toReversed()) {
    const fresh = read.get(instant.key);
    if (fresh?.schema) return fresh.schema;
    if (fresh !== undefined || silent.has(instant.key) || tries-- === 0) continue;
    const version = await versions.version(instant).catch(orBroken);
    if (!(version instanceof BrokenFile) && version.schema !== null) return version.schema;
  }
  return config.createSchema === null ? null : versions.schema(config.createSchema);
}

/**
 * Schemas that appeared, in the table's order, each where it replaced another; `current` is the last. A version that completed late and
 * stands behind others in the engine's order does not change the table's schema.
 */
export function newSchemas(
  read: readonly ReadVersion[],
  current: TableSchema | null,
  before: { readonly schemaId: string | null; readonly survivors: readonly SeenVersion[] },
  byCompletion: boolean,
): readonly TableSchema[] {
  const order = engineOrder(byCompletion);
  const newest = before.survivors.at(-1);
  const told = read
    .filter(({ instant }) => newest === undefined || order(newest, instant) < 0)
    .flatMap(({ schema }) => (schema === null ? [] : [schema]));
  const schemas: TableSchema[] = [];
  for (const schema of [...told, ...(current === null ? [] : [current])])
    if (schema.schemaId !== (schemas.at(-1)?.schemaId ?? before.schemaId)) schemas.push(schema);
  return schemas;
}
