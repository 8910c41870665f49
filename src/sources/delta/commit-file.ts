import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { asLong, isJsonObject, parseJson, type Json, type JsonObject } from '../../core/json.ts';
import type { Parsed } from '../trouble.ts';
import { FileChanges } from './file-changes.ts';
import { eachLine, parts, TURN } from './lines.ts';

/** The `metaData` action: what the table is. */
export interface MetaData {
  readonly id: string | null;
  readonly schemaString: string | null;
  readonly partitionColumns: readonly string[];
  readonly configuration: ReadonlyMap<string, string>;
}

/** One commit file, as far as deciding what is new needs it. */
export interface CommitFile {
  readonly version: bigint;
  /** Of its bytes: equal exactly for the same commit. */
  readonly fingerprint: string;
  readonly size: number;
  /** null: the commit says nothing about itself. */
  readonly operation: string | null;
  /** Epoch ms by the writer's clock, and by the table's own if it keeps one (in-commit timestamps). */
  readonly timestamp: bigint | null;
  readonly inCommitTimestamp: bigint | null;
  /** Rows by the writer's count, under its own names. */
  readonly metrics: ReadonlyMap<string, bigint>;
  readonly backfill: boolean;
  readonly metaData: MetaData | null;
  /** Names of all features of the `protocol` action; null: the commit has none. */
  readonly features: ReadonlySet<string> | null;
  readonly files: FileChanges;
}

/** 72 bits of SHA-256: enough to tell the few bodies that one version ever has apart, short enough to remember many. */
export async function fingerprintOf(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (const part of parts(bytes)) {
    hash.update(part);
    if (part.length === TURN) await setImmediate();
  }
  return hash.digest('base64url').slice(0, 12);
}

/**
 * Parses the body of `<version>.json`: one action a line. A line that is not whole JSON means that the file is being written: where stores
 * do not make commits appear at once, the last line comes in parts.
 */
export async function parseCommit(bytes: Uint8Array, version: bigint): Promise<Parsed<CommitFile>> {
  const actions = new Actions();
  let broken: string | null = null;
  let lines = 0;
  await eachLine(bytes, (line, last) => {
    lines++;
    if (broken !== null || actions.take(line)) return;
    broken = last ? 'its last line is not whole' : `its line ${lines} is no action`;
  });
  if (broken !== null) return { ok: false, reason: broken };
  if (lines === 0) return { ok: false, reason: 'it is empty' };
  const { info, metaData, features, files } = actions;
  const value = { version, fingerprint: await fingerprintOf(bytes), size: bytes.length, metaData, features, files };
  return { ok: true, value: { ...value, ...factsOf(info) } };
}

/** Gathers the actions of one commit. */
class Actions {
  info: JsonObject = {};
  metaData: MetaData | null = null;
  features: ReadonlySet<string> | null = null;
  readonly files = new FileChanges();

  /** false: the line is no action. */
  take(line: string): boolean {
    const action = parseAction(line);
    if (action === null) return false;
    const { add, remove, cdc, commitInfo, metaData, protocol } = action;
    if (![add, remove, cdc, metaData, protocol].every(isActionOrNone) || isNulls(action)) return false;
    if (isJsonObject(add)) this.files.add(add);
    if (isJsonObject(remove)) this.files.remove(remove);
    if (isJsonObject(cdc)) this.files.cdc(cdc);
    if (isJsonObject(commitInfo)) this.info = commitInfo;
    if (isJsonObject(metaData)) this.metaData = metaDataOf(metaData);
    if (isJsonObject(protocol)) this.features = featuresOf(protocol);
    return true;
  }
}

/** Anything else in an action's place is damage, not an action to pass over: it may have been new data. commitInfo may be any JSON. */
const isActionOrNone = (value: Json | undefined): boolean =>
  value === undefined || value === null || isJsonObject(value);

/** `{"add":null}`: the action that the line held is lost. */
const isNulls = (action: JsonObject): boolean => {
  const values = Object.values(action);
  return values.length > 0 && values.every((value) => value === null);
};

/** Lines about files are many, and no number in them is compared: they need no exact numbers, which take five times as long. */
const ABOUT_FILES = /^\s*\{\s*"(?:add|remove|cdc)"/;

function parseAction(line: string): JsonObject | null {
  try {
    const json = ABOUT_FILES.test(line) ? (JSON.parse(line) as Json) : parseJson(line);
    return isJsonObject(json) ? json : null;
  } catch {
    return null;
  }
}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' && value !== '' ? value : null);

const texts = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

/** Shared with checkpoints and checksum files, which hold the same objects. */
export const metaDataOf = (json: JsonObject): MetaData => ({
  id: textOf(json['id']),
  schemaString: textOf(json['schemaString']),
  partitionColumns: texts(json['partitionColumns']),
  configuration: new Map(
    isJsonObject(json['configuration'])
      ? Object.entries(json['configuration']).map(([key, value]) => [key, String(value)])
      : [],
  ),
});

export const featuresOf = (json: JsonObject): ReadonlySet<string> =>
  new Set([...texts(json['readerFeatures']), ...texts(json['writerFeatures'])]);

/** Spark writes its counts as texts, delta-rs as numbers. */
const countOf = (value: Json | undefined): bigint | undefined =>
  typeof value === 'string' && /^\d{1,18}$/.test(value) ? BigInt(value) : asLong(value);

const metricsOf = (value: Json | undefined): ReadonlyMap<string, bigint> => {
  if (!isJsonObject(value)) return new Map();
  const counts = Object.entries(value).map(([name, count]) => [name, countOf(count)] as const);
  return new Map(counts.filter((entry): entry is [string, bigint] => entry[1] !== undefined));
};

const factsOf = (info: JsonObject) => ({
  operation: textOf(info['operation']),
  timestamp: asLong(info['timestamp']) ?? null,
  inCommitTimestamp: asLong(info['inCommitTimestamp']) ?? null,
  metrics: metricsOf(info['operationMetrics']),
  backfill: isBackfill(info),
});

const BACKFILL = 'sluice.backfill';

/** Said by the writer: delta-rs puts a property of its own into commitInfo, Spark a text (`userMetadata`), often JSON. */
function isBackfill(info: JsonObject): boolean {
  if (String(info[BACKFILL]) === 'true') return true;
  const said = textOf(info['userMetadata']);
  if (said === null || !said.includes(BACKFILL)) return false;
  const json = parseAction(said);
  return json === null ? /(?:^|[\s,;])sluice\.backfill=true(?:$|[\s,;])/.test(said) : String(json[BACKFILL]) === 'true';
}
