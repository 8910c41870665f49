import type { VersionFacts } from './group.ts';
import { schemaKey, schemaStatusOf } from './schema-records.ts';
import type { SchemaRecord, TagRecord, Verdict } from './state.ts';
import type { Version } from './version.ts';

/** What may be bound to some versions of one asset. */
export interface Bindings {
  readonly verdicts: readonly Verdict[];
  /** Deleted ones bind nothing. */
  readonly tags: readonly TagRecord[];
  readonly schemas: readonly SchemaRecord[];
}

/** The versions, each with the verdicts and tags that name it and with its schema's status. */
export const withBindings = (versions: readonly Version[], bindings: Bindings): readonly VersionFacts[] => {
  const schemas = new Map(bindings.schemas.map((record) => [schemaKey(record.epoch, record.schemaId), record]));
  const tags = bindings.tags.filter((tag) => !tag.deleted);
  return versions.map((version) => {
    const namesIt = (of: { readonly epoch: number; readonly snapshotId: string | null }): boolean =>
      of.snapshotId === version.snapshotId && of.epoch === version.epoch;
    return {
      ...version,
      tags: tags.filter(namesIt).map(({ tag }) => tag),
      verdicts: bindings.verdicts.filter(namesIt),
      schemaStatus: schemaStatusOf(schemas, version),
    };
  });
};
