import { isJsonObject, parseJson, type Json } from '../../core/json.ts';
import { readArchiveLog } from './archive-log.ts';
import { readArchiveParquet } from './archive-parquet.ts';
import { archivedInstant, isKnownWrite, isOlder, isTakeback, type Instant } from './instants.ts';
import { readCommitFacts } from './metadata.ts';
import type { TableConfig } from './properties.ts';
import type { TableReader } from './reader.ts';
import type { CommitFacts } from './tally.ts';

/** A version that has left the active timeline. */
export interface ArchivedVersion {
  readonly instant: Instant;
  readonly facts: CommitFacts;
}

/** What the archives hold of the versions that were requested at `oldest` or later. */
export interface Archive {
  readonly versions: ReadonlyMap<string, ArchivedVersion>;
  /** Requested times of rollbacks and restores. */
  readonly takebacks: ReadonlySet<string>;
  /** null: all of it was read; else why not. */
  readonly incomplete: string | null;
}

/** Bytes of archive files that one poll reads at most. */
const MOST = 128 * 1024 * 1024;

/** Reads both archives: a table that was upgraded or downgraded may have one of each layout. */
export async function readArchive(reader: TableReader, config: TableConfig, oldest: string): Promise<Archive> {
  const versions = new Map<string, ArchivedVersion>();
  const takebacks = new Set<string>();
  const budget = { left: MOST };
  try {
    for (const read of [readHistory, readLogs]) {
      const found = await read(reader, config, oldest, budget);
      for (const version of found.versions) versions.set(version.instant.key, version);
      for (const time of found.takebacks) takebacks.add(time);
    }
    return { versions, takebacks, incomplete: null };
  } catch (error) {
    if (error instanceof Unread) return { versions, takebacks, incomplete: error.message };
    throw error;
  }
}

/** A file of the archive cannot be used. */
class Unread extends Error {
  override readonly name = 'Unread';
}

/** What a file of the archive holds. */
async function file<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new Unread(
      `${name} of the archive cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** What one of the two archives holds. */
interface Part {
  readonly versions: ArchivedVersion[];
  readonly takebacks: string[];
}

interface Budget {
  left: number;
}

async function bytesOf(reader: TableReader, path: string, name: string, budget: Budget): Promise<Uint8Array> {
  const bytes = await reader.read(path);
  if (bytes === null) throw new Unread(`${name} of the archive is gone`);
  budget.left -= bytes.length;
  if (budget.left < 0) throw new Unread('the archive is larger than what is read at once');
  return bytes;
}

const RANGE = /^(\d+)_(\d+)_\d+\.parquet$/;

/** Layout 2: `_version_` names a manifest, which lists Parquet files, whose names tell the times in them. */
async function readHistory(reader: TableReader, config: TableConfig, oldest: string, budget: Budget): Promise<Part> {
  const folder = `${config.timeline ?? 'timeline'}/${config.history}`;
  const found: Part = { versions: [], takebacks: [] };
  for (const name of await manifest(reader, folder)) {
    const [, , newest] = RANGE.exec(name) ?? [];
    if (newest === undefined || isOlder(newest, oldest)) continue;
    const bytes = await bytesOf(reader, `${folder}/${name}`, name, budget);
    for (const { time, completion, action, metadata } of await file(name, () => readArchiveParquet(bytes))) {
      if (isOlder(time, oldest)) continue;
      if (isTakeback(action)) found.takebacks.push(time);
      if (!isKnownWrite(action)) continue;
      if (metadata === null) throw new Unread(`${name} of the archive does not say what ${time} did`);
      const facts = await file(name, () => readCommitFacts(metadata));
      found.versions.push({ instant: archivedInstant(time, completion, action), facts });
    }
  }
  return found;
}

/** Names of the files that the newest manifest lists; none if there is no archive. */
async function manifest(reader: TableReader, folder: string): Promise<readonly string[]> {
  const names = await reader.names(folder);
  if (names === null) return [];
  const versions = names.map((name) => /^manifest_(\d+)$/.exec(name)?.[1]).filter((digits) => digits !== undefined);
  const pointer = await reader.read(`${folder}/_version_`);
  const said = pointer === null ? '' : new TextDecoder().decode(pointer).trim();
  const newest = versions.includes(said) ? said : versions.sort((a, b) => Number(a) - Number(b)).at(-1);
  if (newest === undefined) return names.filter((name) => RANGE.test(name));
  const bytes = await reader.read(`${folder}/manifest_${newest}`);
  return file(`manifest_${newest}`, () => Promise.resolve(listed(bytes)));
}

function listed(bytes: Uint8Array | null): readonly string[] {
  const json = parseJson(new TextDecoder().decode(bytes ?? new Uint8Array()));
  const files = isJsonObject(json) ? json['files'] : undefined;
  if (!Array.isArray(files)) throw new Error('it lists no files');
  return (files as readonly Json[]).flatMap((entry) => {
    const name = isJsonObject(entry) ? entry['fileName'] : undefined;
    return typeof name === 'string' && RANGE.test(name) ? [name] : [];
  });
}

/** Layout 1: numbered logs, the newest last. They are read backwards until one reaches behind `oldest`. */
async function readLogs(reader: TableReader, config: TableConfig, oldest: string, budget: Budget): Promise<Part> {
  const found: Part = { versions: [], takebacks: [] };
  for (const name of logNames((await reader.names(config.archived)) ?? [])) {
    const bytes = await bytesOf(reader, `${config.archived}/${name}`, name, budget);
    const actions = await file(name, () => readArchiveLog(bytes));
    for (const { time, action, facts } of actions) {
      if (isOlder(time, oldest)) continue;
      if (isTakeback(action)) found.takebacks.push(time);
      if (!isKnownWrite(action) || facts === null) continue;
      found.versions.push({ instant: archivedInstant(time, null, action), facts });
    }
    if (actions.some(({ time }) => isOlder(time, oldest))) break;
  }
  return found;
}

const LOG = /^\.commits_\.archive\.(\d+)(?:_.*)?$/;

/** Newest first. */
const logNames = (names: readonly string[]): readonly string[] =>
  names
    .flatMap((name) => {
      const number = LOG.exec(name)?.[1];
      return number === undefined ? [] : [{ name, number: Number(number) }];
    })
    .sort((a, b) => b.number - a.number)
    .map(({ name }) => name);
