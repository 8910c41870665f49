import type { Service } from './instants.ts';
import type { CommitFacts } from './tally.ts';

export interface Judgement {
  /** Hudi's own word, UNKNOWN where it gives none. */
  readonly operation: string;
  /** A batch reader with default options sees other rows than before. */
  readonly dataChange: boolean;
}

/** What decides beside the commit's own metadata. */
export interface Context {
  readonly action: string;
  readonly mergeOnRead: boolean;
  /** The action began as one of these; undefined if nothing tells. */
  readonly service: Service | undefined;
}

/** Operations that write rows anew without changing one. Their counts speak of rewritten rows. */
const REWRITES = new Set(['COMPACT', 'LOG_COMPACT', 'CLUSTER', 'INDEX', 'BUCKET_RESCALE']);
/** Operations whose counts tell each row that they change: a file written with none changed is a copy. */
const COUNTED = new Set(['UPSERT', 'UPSERT_PREPPED', 'DELETE', 'DELETE_PREPPED', 'ALTER_SCHEMA']);
const WORD_OF: Readonly<Record<Service, string>> = {
  compaction: 'COMPACT',
  logcompaction: 'LOG_COMPACT',
  clustering: 'CLUSTER',
};

/**
 * Does the commit show other rows? The name of the action does not tell (a compaction completes as `commit`, a clustering as
 * `replacecommit`), nor does the operation alone (an upsert that matches nothing still commits): what it wrote, removed and replaced does.
 */
export function judge(facts: CommitFacts, { action, mergeOnRead, service }: Context): Judgement {
  const operation = facts.operation ?? (service === undefined ? 'UNKNOWN' : WORD_OF[service]);
  return { operation, dataChange: !isRewrite() && showsRows(operation, action, facts) };

  function isRewrite(): boolean {
    if (service !== undefined || facts.compacted || REWRITES.has(operation)) return true;
    // Before operationType was written (Hudi 0.6) a `commit` of a merge-on-read table could only be a compaction: writes are `deltacommit`.
    return facts.operation === null && mergeOnRead && action === 'commit';
  }
}

function showsRows(operation: string, action: string, facts: CommitFacts): boolean {
  if (facts.inserts + facts.updates + facts.deletes > 0n) return true;
  if (COUNTED.has(operation)) return false;
  if (facts.writes > 0n || facts.replacedFiles > 0) return true;
  // Hudi 1.2 was seen to drop a partition and to name it without naming its files.
  return (operation === 'DELETE_PARTITION' || action === 'replacecommit') && facts.replacedPartitions > 0;
}
