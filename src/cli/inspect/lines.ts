import { compareSchemas, type SchemaVerdict } from '../../core/asset/schema/schema.ts';
import type { Commit } from '../../core/asset/version.ts';
import { isoTime, type EpochMs } from '../../core/time.ts';
import type { Answer } from './answer.ts';

/** The answer as JSON lines (contract.md, 1): one a version, oldest first, and the summary. Each ends with a line feed. */
export const jsonLines = (answer: Answer): string => versionLines(answer) + summaryLine(answer);

export const versionLines = (answer: Answer): string =>
  answer.commits.map((commit) => `${JSON.stringify(versionOf(commit, answer))}\n`).join('');

export const summaryLine = (answer: Answer): string => `${JSON.stringify({ summary: summaryOf(answer) })}\n`;

const timeOf = (at: EpochMs | null): string | null => (at === null ? null : isoTime(at));

function versionOf(commit: Commit, { poll }: Answer): Readonly<Record<string, unknown>> {
  const { snapshotId, operation, dataChange, pendingData, schemaId, readAs, action, backfill, partitions } = commit;
  return {
    snapshotId,
    operation,
    dataChange,
    ...(pendingData === undefined ? {} : { pendingData }),
    commitTime: isoTime(commit.commitTime),
    watermark: timeOf(commit.watermark),
    schemaId,
    addedRecords: commit.addedRecords?.toString() ?? null,
    totalRecords: commit.totalRecords?.toString() ?? null,
    tags: tagsOf(snapshotId, poll.tags),
    ...(partitions === undefined ? {} : { partitions }),
    ...(readAs === undefined ? {} : { readAs }),
    ...(action === undefined ? {} : { action }),
    ...(backfill === undefined ? {} : { backfill }),
  };
}

/** The tags on a version, by name. */
export const tagsOf = (snapshotId: string, tags: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(tags)
    .filter((tag) => tags[tag] === snapshotId)
    .sort();

function summaryOf(answer: Answer): Readonly<Record<string, unknown>> {
  const { request, format, poll, commits } = answer;
  const { outcome } = poll;
  return {
    format,
    tableId: poll.tableId,
    head: poll.head,
    dataHead: poll.dataHead,
    branch: request.branch ?? (format === 'paimon' || format === 'iceberg' ? 'main' : null),
    versions: commits.length,
    outcome: outcome.kind,
    ...(outcome.kind === 'GAP' ? { gap: { from: outcome.from, to: outcome.to } } : {}),
    ...(outcome.kind === 'ROLLBACK' ? { rollbackTo: outcome.to } : {}),
    ...(outcome.kind === 'UNREADABLE' ? { retryable: outcome.retryable } : {}),
    tags: poll.tags,
    schemaId: poll.schema?.schemaId ?? null,
    schemaChange: schemaChangeOf(answer),
    problems: 'reason' in outcome ? [outcome.reason, ...poll.problems] : poll.problems,
  };
}

/** How the schema differs from the one at the cursor; null: it is the same, there was none, or it is another table's. */
function schemaChangeOf({ poll, schemaBefore }: Answer): SchemaVerdict | null {
  const { outcome, schema } = poll;
  if (outcome.kind === 'RECREATED' || schemaBefore === null || schema === null) return null;
  const changed = poll.newSchemas.length > 0 || schema.schemaId !== schemaBefore.schemaId;
  return changed ? compareSchemas(schemaBefore, schema).verdict : null;
}
