import { BrokenFile, MovedOn, NothingThere } from '../trouble.ts';
import type { SeenFile, SeenFiles } from './cursor.ts';
import type { Glance } from './glance.ts';
import type { TableMetadata } from './metadata.ts';
import { metadataName, nameOf, namesOfHint, type MetadataName } from './names.ts';
import type { TableReader } from './reader.ts';

/** The metadata file that holds the table's current state. */
export interface Found {
  readonly path: string;
  readonly metadata: TableMetadata;
  readonly files: SeenFiles;
  /** The name of a newer file that is not whole: what this one says is out of date then. null: none. */
  readonly brokenAbove: string | null;
  readonly problems: readonly string[];
}

interface Candidate {
  readonly name: MetadataName;
  readonly path: string;
  readonly metadata: TableMetadata;
}

/** Files with one version number: several stand there after a lost race. */
type Rung = readonly MetadataName[];

/** How far down a style's versions is looked for one that is whole. */
const RUNGS = 8;
/** Files that are read at most where names do not tell which is newest. */
const UNNUMBERED = 8;
/** Up to so many files outside the newest one's log are suspected to be another table's. */
const FEW = 16;

/** Finds and reads the current metadata file. Throws NothingThere, BrokenFile, MovedOn, FilesError. */
export function findCurrent(reader: TableReader, glance: Glance, seen: SeenFiles | null): Promise<Found> {
  return glance.base === null ? readLocation(reader) : new Search(reader, glance, glance.base).run(seen);
}

async function readLocation(reader: TableReader): Promise<Found> {
  const path = reader.location;
  const read = await reader.metadata(path);
  if (read === null) throw new NothingThere(`The metadata file ${path} does not exist: ask the catalog anew.`);
  const { file, metadata } = read;
  if (metadata instanceof BrokenFile) throw new BrokenFile(`${path} cannot be used: ${metadata.message}`);
  const files = { base: null, current: path, hadoop: false, print: '', hint: null, consulted: [file] };
  return { path, metadata, files, brokenAbove: null, problems: [] };
}

/**
 * One search through a table's metadata folder. Version numbers order the files of one style; between styles, names without a number,
 * and files of one number, their content decides. The hint is a hint: it adds what the listing lacks and breaks ties.
 */
class Search {
  readonly #reader: TableReader;
  readonly #glance: Glance;
  readonly #folder: string;
  readonly #base: string;
  readonly #hinted: readonly string[];
  readonly #consulted: SeenFile[] = [];
  readonly #broken: { readonly name: MetadataName; readonly reason: string }[] = [];

  constructor(reader: TableReader, glance: Glance, base: string) {
    this.#reader = reader;
    this.#glance = glance;
    this.#base = base;
    this.#folder = `${base}/metadata`;
    this.#hinted = glance.hint === null ? [] : namesOfHint(glance.hint);
  }

  async run(seen: SeenFiles | null): Promise<Found> {
    const names = await this.#allNames(seen);
    const winners: Candidate[] = [];
    for (const style of ['HADOOP', 'CATALOG', 'OTHER'] as const) {
      const best = await this.#climb(rungsOf(names, style, this.#hinted));
      if (best !== null) winners.push(best);
      if (best !== null && style === 'CATALOG') winners.push(...(await this.#strangers(names, best)));
    }
    const best = this.#newest(winners);
    if (best === null) throw this.#nothingUsable();
    return this.#found(names, best);
  }

  /** What is listed, what the hint names, and what was read last: a listing may miss the newest file. */
  async #allNames(seen: SeenFiles | null): Promise<readonly MetadataName[]> {
    const listed = new Set(this.#glance.names.map((name) => name.name));
    const last = seen !== null && seen.base === this.#base ? [nameOf(seen.current)] : [];
    const hinted = this.#hinted.some((name) => listed.has(name)) ? [] : this.#hinted;
    const unlisted = [...new Set([...hinted, ...last])].filter((name) => !listed.has(name));
    const stats = await Promise.all(unlisted.map((name) => this.#reader.stat(`${this.#folder}/${name}`)));
    const there = unlisted.filter((_, at) => stats[at] !== null).flatMap((name) => metadataName(name) ?? []);
    return [...this.#glance.names, ...there];
  }

  async #climb(rungs: readonly Rung[]): Promise<Candidate | null> {
    for (const rung of rungs.slice(0, RUNGS)) {
      const best = this.#newest(await this.#readAll(rung));
      if (best !== null) return best;
    }
    return null;
  }

  async #readAll(names: Rung): Promise<readonly Candidate[]> {
    const whole: Candidate[] = [];
    for (const name of names) {
      const path = `${this.#folder}/${name.name}`;
      const read = await this.#reader.metadata(path);
      if (read === null) throw new MovedOn(name.name);
      this.#consulted.push(read.file);
      const { metadata } = read;
      if (metadata instanceof BrokenFile) this.#broken.push({ name, reason: metadata.message });
      else whole.push({ name, path, metadata });
    }
    return whole;
  }

  /**
   * A table that was dropped and created again in a catalog leaves two series of files in one folder, both counted from 0. Those which the
   * newest number's log does not name are suspects where a number stands there twice, or where they are few: their newest is read too.
   */
  async #strangers(names: readonly MetadataName[], best: Candidate): Promise<readonly Candidate[]> {
    const own = new Set([best.name.name, ...best.metadata.log.map(nameOf)]);
    const read = new Set(this.#consulted.map((file) => nameOf(file.path)));
    const catalog = names.filter((name) => name.style === 'CATALOG');
    const twice = repeated(catalog.map((name) => name.version));
    const others = catalog.filter((name) => !own.has(name.name) && !read.has(name.name));
    const suspects = others.filter((name) => others.length <= FEW || twice.has(name.version));
    const [top] = rungsOf(suspects, 'CATALOG', []);
    return top === undefined ? [] : this.#readAll(top.slice(0, UNNUMBERED));
  }

  #newest(candidates: readonly Candidate[]): Candidate | null {
    return candidates.reduce<Candidate | null>(
      (best, next) => (best === null || isNewer(next, best, this.#hinted) ? next : best),
      null,
    );
  }

  #nothingUsable(): Error {
    const [first] = this.#broken;
    return first === undefined
      ? new NothingThere(`${this.#base} holds no Iceberg metadata file that could be read.`)
      : new BrokenFile(`${first.name.name} cannot be used: ${first.reason}`);
  }

  #found(names: readonly MetadataName[], best: Candidate): Found {
    const { print, hint } = this.#glance;
    const brokenAbove = this.#brokenAbove(names, best.name);
    const files = {
      base: this.#base,
      current: best.path,
      hadoop: names.every((name) => name.style === 'HADOOP'),
      print: brokenAbove === null ? print : '', // the next poll looks again
      hint,
      consulted: this.#consulted,
    };
    return {
      path: best.path,
      metadata: best.metadata,
      files,
      brokenAbove,
      problems: [
        ...this.#oddities(names, best),
        ...this.#broken.map(
          ({ name, reason }) => `${name.name} cannot be used: ${reason}; ${best.name.name} is read instead.`,
        ),
      ],
    };
  }

  /** A stray file far above a good hint is no newer version: Hadoop writers count on by one. */
  #brokenAbove(names: readonly MetadataName[], best: MetadataName): string | null {
    const own = names.filter((name) => name.style === best.style);
    const versions = new Set(own.map((name) => name.version));
    let top = best.version ?? 0n;
    while (versions.has(top + 1n)) top++;
    const hinted = own.some((name) => this.#hinted.includes(name.name) && (name.version ?? 0n) <= top);
    const above = this.#broken.find(
      ({ name }) =>
        name.style === best.style &&
        (name.version ?? 0n) > (best.version ?? 0n) &&
        (!hinted || (name.version ?? 0n) <= top),
    );
    return above?.name.name ?? null;
  }

  #oddities(names: readonly MetadataName[], best: Candidate): readonly string[] {
    const problems: string[] = [];
    if (this.#base !== this.#reader.location)
      problems.push(`The table lies below the location, in ${this.#base}: name that folder.`);
    if (this.#glance.hint && !names.some((name) => this.#hinted.includes(name.name)))
      problems.push(
        `The version hint says ${this.#glance.hint.slice(0, 40)}, but there is no such metadata file: Iceberg's own readers refuse the table until the hint is corrected.`,
      );
    if (best.name.style === 'CATALOG')
      problems.push(
        `${best.name.name} belongs to a catalog, and only that knows which metadata file is current: read the table through it, or name the file.`,
      );
    if (best.name.style === 'OTHER')
      problems.push(`${best.name.name} has no version number in its name; it is the newest by what it says.`);
    return problems;
  }
}

const repeated = (versions: readonly (bigint | null)[]): ReadonlySet<bigint | null> => {
  const once = new Set<bigint | null>();
  return new Set(versions.filter((version) => once.size === once.add(version).size));
};

/** Newest first; files without a number are one rung, the hinted one first. */
function rungsOf(names: readonly MetadataName[], style: MetadataName['style'], hinted: readonly string[]): Rung[] {
  const own = names.filter((name) => name.style === style);
  if (style === 'OTHER') {
    const byHint = own.toSorted((a, b) => Number(hinted.includes(b.name)) - Number(hinted.includes(a.name)));
    return own.length === 0 ? [] : [byHint.slice(0, UNNUMBERED)];
  }
  const byVersion = new Map<bigint, MetadataName[]>();
  for (const name of own) {
    const version = name.version ?? 0n;
    byVersion.set(version, [...(byVersion.get(version) ?? []), name]);
  }
  return [...byVersion].sort(([a], [b]) => (a > b ? -1 : 1)).map(([, rung]) => rung);
}

/** By content, whatever the numbers say: sequence numbers within one table, else the time of the last change; then the hint. */
function isNewer(a: Candidate, b: Candidate, hinted: readonly string[]): boolean {
  const sameTable = a.metadata.tableId === b.metadata.tableId;
  if (sameTable && a.metadata.lastSequence !== b.metadata.lastSequence)
    return a.metadata.lastSequence > b.metadata.lastSequence;
  if (a.metadata.lastUpdated !== b.metadata.lastUpdated) return a.metadata.lastUpdated > b.metadata.lastUpdated;
  return hinted.includes(a.name.name) && !hinted.includes(b.name.name);
}
