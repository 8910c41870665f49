import { countOf, type Snapshot } from './snapshot.ts';

/** What a commit means to a reader. */
export interface Judgement {
  /** It sees other rows than at the commit before. */
  readonly dataChange: boolean;
  /** Neither summary nor manifests tell, so that the answer errs towards new data. */
  readonly guessed: boolean;
}

/** What the manifests say that a commit did. */
export interface Change {
  /** Files, of data and of deletes. */
  readonly added: bigint;
  readonly deleted: bigint;
  /** Rows in the files added less those in the files deleted; null if the manifests do not count rows. */
  readonly rows: bigint | null;
}

/** What judging a commit may need beside the commit itself. */
export interface Evidence {
  /** null: there is none, or it has expired. */
  readonly parent: () => Snapshot | null;
  /** Asked for only where the summary does not tell; null: they cannot be read. */
  readonly change: () => Promise<Change | null>;
}

const sure = (dataChange: boolean): Judgement => ({ dataChange, guessed: false });
const GUESSED: Judgement = { dataChange: true, guessed: true };

/** Counts that are not 0 where a commit touched files; writers leave out those that are 0. */
const TOUCHED = [
  'added-data-files',
  'deleted-data-files',
  'added-delete-files',
  'removed-delete-files',
  'added-records',
  'deleted-records',
  'added-dvs',
  'removed-dvs',
  'added-position-deletes',
  'removed-position-deletes',
  'added-equality-deletes',
  'removed-equality-deletes',
] as const;

const TOTALS = [
  'total-records',
  'total-data-files',
  'total-delete-files',
  'total-position-deletes',
  'total-equality-deletes',
] as const;

const touches = (snapshot: Snapshot): boolean => TOUCHED.some((key) => (countOf(snapshot, key) ?? 0n) > 0n);

/**
 * Does the commit show other rows? By what it did, not by its label alone (facts/formats.md, 2.3): an append may be empty, and a `replace`
 * (which says that no row changes) may be all the data there is. For the other labels any touched file counts: row counts that balance
 * are no compaction there, an UPDATE looks the same.
 */
export async function judge(snapshot: Snapshot, evidence: Evidence): Promise<Judgement> {
  if (snapshot.operation === 'replace') return judgeReplace(snapshot, evidence);
  if (touches(snapshot)) return sure(true);
  if (countOf(snapshot, 'changed-partition-count') === 0n) return sure(false);
  const moved = totalsMoved(snapshot, evidence.parent());
  if (moved !== null) return sure(moved);
  const change = await evidence.change();
  return change === null ? GUESSED : sure(change.added > 0n || change.deleted > 0n);
}

/** Whether the totals differ from those before; null if that cannot be told. A commit without a parent comes after nothing. */
function totalsMoved(snapshot: Snapshot, parent: Snapshot | null): boolean | null {
  if (parent === null && snapshot.entry.parent !== null) return null;
  const pairs = TOTALS.map((key) => [countOf(snapshot, key), parent === null ? 0n : countOf(parent, key)] as const);
  const known = pairs.filter(([now, before]) => now !== null && before !== null);
  return known.length === 0 ? null : known.some(([now, before]) => now !== before);
}

const count = (snapshot: Snapshot, key: string): bigint => countOf(snapshot, key) ?? 0n;

async function judgeReplace(snapshot: Snapshot, { parent, change }: Evidence): Promise<Judgement> {
  if (touches(snapshot)) return sure(showsOtherRows(snapshot, parent()));
  if (countOf(snapshot, 'changed-partition-count') === 0n) return sure(false);
  const done = await change();
  if (done === null) return GUESSED;
  return sure((done.rows ?? 0n) > 0n || (done.added > 0n && done.deleted === 0n));
}

/** A rewrite puts files in the place of files and never more rows than it took; what does otherwise is no rewrite. */
function showsOtherRows(snapshot: Snapshot, parent: Snapshot | null): boolean {
  const [rowsIn, rowsOut] = [count(snapshot, 'added-records'), count(snapshot, 'deleted-records')];
  if (rowsIn > rowsOut) return true;
  const [filesIn, filesOut] = [count(snapshot, 'added-data-files'), count(snapshot, 'deleted-data-files')];
  if (filesIn > 0n && filesOut === 0n) return true;
  const [deletesIn, deletesOut] = [count(snapshot, 'added-delete-files'), count(snapshot, 'removed-delete-files')];
  if (filesOut === 0n && deletesIn > 0n && deletesOut === 0n) return true;
  // Fewer rows are left where deletes were applied; a table that had none has lost rows.
  return rowsIn < rowsOut && parent !== null && countOf(parent, 'total-delete-files') === 0n;
}
