import type { Outcome } from '../../core/asset/poll.ts';
import { compareSchemas, typeText, type TableSchema } from '../../core/asset/schema/schema.ts';
import type { Commit } from '../../core/asset/version.ts';
import { isoTime, type EpochMs } from '../../core/time.ts';
import type { Answer } from './answer.ts';
import { tagsOf } from './lines.ts';

/** The answer for people: what happened, a table of versions, what the table is like now, and what is odd about it. */
export function describe(answer: Answer): string {
  const { request, format, poll } = answer;
  const branch = request.branch === null ? '' : `, branch ${request.branch}`;
  const paragraphs = [
    `${format} table ${request.location}${branch}\n${headline(answer)}`,
    answer.commits.length === 0 ? '' : table(answer),
    stateOf(answer).join('\n'),
    schemaChanges(answer).join('\n'),
    tagChanges(answer).join('\n'),
    poll.problems.length === 0
      ? ''
      : ['Worth knowing:', ...poll.problems.map((problem) => `  - ${problem}`)].join('\n'),
  ];
  return `${paragraphs.filter((paragraph) => paragraph !== '').join('\n\n')}\n`;
}

const count = (number: number, thing: string): string => `${number} ${thing}${number === 1 ? '' : 's'}`;

function headline({ request, poll, commits }: Answer): string {
  const since =
    request.since !== null ? ` since ${request.since}` : request.cursorFile !== null ? ' since the cursor' : '';
  const withData = commits.filter((commit) => commit.dataChange).length;
  const versions =
    commits.length === 0
      ? `No version was written${since}.`
      : `${count(commits.length, 'version')}${since}, ${withData} of them with new data.`;
  return outcomeText(poll.outcome, versions, since);
}

function outcomeText(outcome: Outcome, versions: string, since: string): string {
  switch (outcome.kind) {
    case 'NEW':
      return versions;
    case 'NONE':
      return since === '' ? 'The table has no versions yet.' : `Nothing new${since}.`;
    case 'GAP':
      return `Versions ${outcome.from} to ${outcome.to} expired before they were read. ${versions}`;
    case 'ROLLBACK':
      return `The table was rolled back to ${outcome.to ?? 'before its first readable version'}. ${versions}`;
    case 'RECREATED':
      return `The table was dropped and created again. ${versions}`;
    case 'BEHIND':
      return `The catalog knows more than the files show: ${outcome.reason} ${versions}`;
    case 'UNREADABLE':
      return outcome.reason;
    default:
      return outcome satisfies never;
  }
}

const minute = (at: EpochMs | null): string =>
  at === null
    ? ''
    : isoTime(at)
        .replace('T', ' ')
        .replace(/\.\d+Z$/, '');

const signed = (rows: bigint | null): string => (rows === null ? '' : rows > 0n ? `+${rows}` : `${rows}`);

/** Heading, right-aligned or not, text of a version. */
type Column = readonly [string, 'left' | 'right', (commit: Commit) => string];

/** Columns that no version fills are left out. */
function table({ commits, poll }: Answer): string {
  const columns: readonly Column[] = [
    ['VERSION', 'right', (commit) => commit.snapshotId],
    ['COMMITTED (UTC)', 'left', (commit) => minute(commit.commitTime)],
    ['OPERATION', 'left', (commit) => commit.operation],
    ['NEW DATA', 'left', (commit) => (commit.dataChange ? 'yes' : commit.pendingData ? 'after compaction' : 'no')],
    ['ADDED', 'right', (commit) => signed(commit.addedRecords)],
    ['RECORDS', 'right', (commit) => commit.totalRecords?.toString() ?? ''],
    ['SCHEMA', 'right', (commit) => commit.schemaId ?? ''],
    ['WATERMARK (UTC)', 'left', (commit) => minute(commit.watermark)],
    ['TAGS', 'left', (commit) => tagsOf(commit.snapshotId, poll.tags).join(', ')],
  ];
  const filled = columns
    .map(([heading, side, text]) => ({ heading, side, cells: commits.map(text) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
  const padded = filled.map(({ heading, side, cells }) => {
    const width = Math.max(heading.length, ...cells.map((cell) => cell.length));
    return [heading, ...cells].map((cell) => (side === 'left' ? cell.padEnd(width) : cell.padStart(width)));
  });
  const rows = [-1, ...commits.keys()].map((row) =>
    padded
      .map((column) => column[row + 1] ?? '')
      .join('  ')
      .trimEnd(),
  );
  return rows.map((row) => `  ${row}`).join('\n');
}

function stateOf({ poll }: Answer): readonly string[] {
  const lines: string[] = [];
  if (poll.head !== null) {
    const data =
      poll.dataHead === null ? 'no readable version has new data' : `new data last came with ${poll.dataHead}`;
    lines.push(poll.dataHead === poll.head ? `Newest: ${poll.head}, with new data.` : `Newest: ${poll.head}; ${data}.`);
  }
  if (poll.schema !== null) lines.push(schemaText(poll.schema));
  const tags = Object.entries(poll.tags).sort(([a], [b]) => (a < b ? -1 : 1));
  if (tags.length > 0) lines.push(`Tags: ${tags.map(([tag, id]) => `${tag} = ${id}`).join(', ')}`);
  return lines;
}

function schemaText({ schemaId, fields, primaryKeys, partitionKeys }: TableSchema): string {
  const columns = fields.map((field) => `${field.name} ${typeText(field)}`).join(', ');
  const keys = primaryKeys.length > 0 ? `; primary key ${primaryKeys.join(', ')}` : '';
  const partitions = partitionKeys.length > 0 ? `; partitioned by ${partitionKeys.join(', ')}` : '';
  return `Schema ${schemaId}: ${columns}${keys}${partitions}`;
}

/** Each step from schema to schema, in sentences. */
function schemaChanges({ poll, schemaBefore }: Answer): readonly string[] {
  const before = poll.outcome.kind === 'RECREATED' ? null : schemaBefore;
  const schemas = before === null ? poll.newSchemas : [before, ...poll.newSchemas];
  const steps = schemas.slice(1).map((schema, at) => stepText(schemas[at] ?? schema, schema));
  return steps.length === 0 ? [] : ['Schema changes:', ...steps];
}

function stepText(before: TableSchema, after: TableSchema): string {
  const { verdict, changes } = compareSchemas(before, after);
  const what = changes.length === 0 ? 'Only options changed.' : changes.map((change) => change.sentence).join(' ');
  return `  ${before.schemaId} to ${after.schemaId}, ${verdict.toLowerCase()}: ${what}`;
}

function tagChanges({ request, poll }: Answer): readonly string[] {
  if (request.cursorFile === null || poll.tagChanges.length === 0) return [];
  const lines = poll.tagChanges.map(({ tag, snapshotId, before }) => {
    if (snapshotId === null) return `  ${tag} was deleted; it named ${before}.`;
    return before === null
      ? `  ${tag} was made on ${snapshotId}.`
      : `  ${tag} was moved from ${before} to ${snapshotId}.`;
  });
  return ['Tags since the cursor:', ...lines];
}
