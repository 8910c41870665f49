import { basename, relative } from 'node:path';
import { Document, isMap, isSeq } from 'yaml';
import type { FoundTable } from '../../compose/discover.ts';
import { isoTime } from '../../core/time.ts';
import { ago, type Cell, print, printTable, table } from '../output.ts';
import type { Registered } from './register.ts';

const committed = ({ commitTime }: FoundTable): string | null => (commitTime === null ? null : isoTime(commitTime));

/** A table as a line of JSON. */
export const tableLine = (found: FoundTable): Readonly<Record<string, unknown>> => ({
  key: found.key,
  format: found.format,
  location: found.location,
  readable: found.readable,
  head: found.head,
  commitTime: committed(found),
  problems: found.problems,
});

const nameOf = ({ key, location }: FoundTable): string => key ?? location;

const newest = ({ readable, head }: FoundTable): Cell => {
  if (!readable) return { text: 'unreadable', style: 'red' };
  return head ?? { text: 'no version yet', style: 'dim' };
};

/** For people: the tables, and what is odd about them. */
export const printTables = (tables: readonly FoundTable[], root: string): void => {
  const rows = tables.map((each): Cell[] => [
    each.key ?? '-',
    each.format,
    newest(each),
    ago(committed(each)),
    relative(root, each.location) || '.',
  ]);
  printTable(['KEY', 'FORMAT', 'NEWEST', 'COMMITTED', 'FOLDER'], rows, `There are no tables in ${root}.`);
  if (tables.length === 0) return;
  const odd = tables.flatMap((each) => each.problems.map((problem): Cell[] => [`${nameOf(each)}: ${problem}`]));
  if (odd.length > 0) print(['', 'Worth knowing:', ...table(odd, '  ')].join('\n'));
  const count = tables.length === 1 ? '1 table' : `${tables.length} tables`;
  print(`\n${count}. Register with --register --all or --register KEY…, or print an apply file with --yaml.`);
};

const SIGNS = {
  CREATED: ['registered', 'green'],
  UNCHANGED: ['kept', 'dim'],
  REFUSED: ['refused', 'red'],
} as const;

/** For people: what became of a table. */
export const printRegistered = ({ table: found, registered, reason }: Registered): void => {
  const [text, style] = SIGNS[registered];
  for (const line of table([[{ text: text.padEnd(10), style }, nameOf(found), reason ?? '']])) print(line);
};

const PROJECT = /^(?!\d+$)[^\p{Cc}]{1,255}$/u;

/** An apply file for the tables, what is odd about each above it; tables without a key are comments. */
export const applyFile = (tables: readonly FoundTable[], root: string, project: string | undefined): string => {
  // As in keys: Paimon's and Hive's `shop.db` is the database shop.
  const name = project ?? basename(root).replace(/(?<=.)\.db$/, '');
  const keyed = tables.filter(({ key }) => key !== null);
  const document = new Document({
    apiVersion: 'sluice/v1',
    project: PROJECT.test(name) ? name : 'lakehouse',
    assets: keyed.map(({ key, location }) => ({ key, location })),
  });
  const assets = document.get('assets');
  for (const [at, item] of (isSeq(assets) ? assets.items : []).entries())
    if (isMap(item)) item.commentBefore = comment(keyed[at]?.problems ?? []);
  const keyless = tables.filter(({ key }) => key === null);
  const left = keyless.flatMap(({ location, problems }) => [`${location}: ${problems.join(' ')}`]);
  if (left.length > 0) document.comment = comment(left);
  return document.toString({ lineWidth: 0 });
};

const comment = (lines: readonly string[]): string =>
  lines.map((line) => ` ${line.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?')}`).join('\n');
