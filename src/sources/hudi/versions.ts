import type { TableSchema } from '../../core/asset/schema/schema.ts';
import { BrokenFile, MovedOn } from '../trouble.ts';
import { inTurns } from '../turns.ts';
import type { ArchivedVersion } from './archive.ts';
import { isKnownWrite, type Instant, type Timeline } from './instants.ts';
import { judge, type Judgement } from './judge.ts';
import { readCommitFacts } from './metadata.ts';
import type { TableConfig } from './properties.ts';
import { pathIn, type TableReader } from './reader.ts';
import { parseTableSchema } from './schema.ts';
import type { CommitFacts } from './tally.ts';

/** A version whose metadata was read. */
export interface ReadVersion {
  readonly instant: Instant;
  readonly facts: CommitFacts;
  readonly judgement: Judgement;
  /** The table's schema as this version tells it; null where it does not (rewrites carry an old one along). */
  readonly schema: TableSchema | null;
  readonly archived: boolean;
}

/** Operations whose schema may be older than the table's, as they take it from what they rewrite. */
const CARRIES_OLD_SCHEMA = new Set(['COMPACT', 'LOG_COMPACT', 'CLUSTER', 'INDEX']);

/** Reads and judges versions of one table during one look at it; no schema's text is parsed twice. */
export class VersionReader {
  readonly #reader: TableReader;
  readonly #config: TableConfig;
  readonly #timeline: Timeline;
  readonly #schemas = new Map<string, TableSchema | null>();

  constructor(reader: TableReader, config: TableConfig, timeline: Timeline) {
    this.#reader = reader;
    this.#config = config;
    this.#timeline = timeline;
  }

  /** Throws MovedOn if it is gone, BrokenFile if its file is not whole. */
  async version(instant: Instant): Promise<ReadVersion> {
    const bytes = await this.#reader.read(pathIn(instant.folder, instant.file));
    if (bytes === null) throw new MovedOn(instant.file);
    try {
      return this.#judged(instant, await readCommitFacts(bytes), false);
    } catch (error) {
      throw broken(instant.file, error);
    }
  }

  /** Those that are whole, and why the others are not. */
  async versions(instants: readonly Instant[]): Promise<readonly (ReadVersion | BrokenFile)[]> {
    return inTurns(instants, (instant) => this.version(instant).catch(orBroken));
  }

  archived({ instant, facts }: ArchivedVersion): ReadVersion {
    return this.#judged(instant, facts, true);
  }

  /** A schema by its text; null if it is none. */
  schema(text: string): TableSchema | null {
    const known = this.#schemas.get(text);
    if (known !== undefined) return known;
    const { partitionKeys, primaryKeys } = this.#config;
    const schema = parseTableSchema(text, { partitionKeys, primaryKeys });
    this.#schemas.set(text, schema);
    return schema;
  }

  #judged(instant: Instant, facts: CommitFacts, archived: boolean): ReadVersion {
    const { action, time } = instant;
    const service = this.#timeline.services.get(time);
    const judgement = judge(facts, { action, service, mergeOnRead: this.#config.mergeOnRead });
    const text = CARRIES_OLD_SCHEMA.has(judgement.operation) ? null : facts.schema;
    return { instant, facts, judgement, schema: text === null ? null : this.schema(text), archived };
  }
}

const broken = (file: string, error: unknown): BrokenFile =>
  new BrokenFile(`${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`, { cause: error });

export const orBroken = (error: unknown): BrokenFile => {
  if (error instanceof BrokenFile) return error;
  throw error;
};

/** Actions of names that Hudi has not had so far; what they wrote is judged as any write. */
export const unknownActions = (versions: readonly ReadVersion[]): readonly string[] => [
  ...new Set(versions.map(({ instant }) => instant.action).filter((action) => !isKnownWrite(action))),
];
