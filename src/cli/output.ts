import { styleText } from 'node:util';
import { RUN_STATE_WORDS } from '../core/workflow/run-words.ts';

/** What a command prints. All of it goes through here, so that --json means nothing else on stdout. */

type Style = Parameters<typeof styleText>[0];

/** Colours only where a person looks: styleText asks the stream (a terminal, NO_COLOR, FORCE_COLOR). */
export const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });

export const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

/** One object on one line. */
export const printJson = (value: unknown): void => print(JSON.stringify(value));

/** A list, one object a line. */
export const printJsonLines = (values: readonly unknown[]): void => {
  for (const value of values) printJson(value);
};

/** A cell: plain text, or text with a style of its own. */
export type Cell = string | { readonly text: string; readonly style: Style };

const plain = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);

const styled = (cell: Cell): string =>
  typeof cell === 'string' || cell.text === '' ? plain(cell) : paint(cell.style, cell.text);

const segments = new Intl.Segmenter('en', { granularity: 'grapheme' });
const WIDE = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}/u;

/** How many columns a terminal gives the text. */
export const widthOf = (text: string): number => {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segments.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
};

/** Columns aligned to the left, two spaces between, no trailing space. Control characters are shown as `?`: names come from outside. */
export const table = (rows: readonly (readonly Cell[])[], indent = ''): string[] => {
  const clean = rows.map((row) => row.map(harmless));
  const widths: number[] = [];
  for (const row of clean)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(plain(cell)));
  return clean.map((row) => {
    const last = row.findLastIndex((cell) => plain(cell) !== '');
    const cells = row.slice(0, last + 1).map((cell, column) => {
      const gap = column === last ? 0 : (widths[column] ?? 0) - widthOf(plain(cell));
      return styled(cell) + ' '.repeat(gap);
    });
    return indent + cells.join('  ');
  });
};

const harmless = (cell: Cell): Cell => {
  const text = plain(cell).replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
  return typeof cell === 'string' ? text : { ...cell, text };
};

/** A table under a line of headings; `none` where it has no row. */
export const printTable = (headings: readonly string[], rows: readonly (readonly Cell[])[], none: string): void => {
  if (rows.length === 0) return print(none);
  const head = headings.map((text): Cell => ({ text, style: 'bold' }));
  for (const line of table([head, ...rows])) print(line);
};

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
];

/** `3 min`, `2 h`: how long, in its largest unit. */
export const duration = (ms: number): string => {
  const seconds = Math.max(0, ms) / 1000;
  const [unit, size] = UNITS.find(([, least]) => seconds >= least) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit}`;
};

/** How long something took: as `duration`, but with tenths below ten seconds, where they matter, and in milliseconds below one. */
export const took = (ms: number): string =>
  ms >= 0 && ms < 1_000
    ? `${Math.floor(ms)} ms`
    : ms < 10_000
      ? `${(Math.floor(Math.max(0, ms) / 100) / 10).toFixed(1)} s`
      : duration(ms);

/** `3 min ago` for an ISO time, `-` for none. Now is the reader's clock: a writer's clock may be ahead of it. */
export const ago = (iso: string | null, now: number = Date.now()): string => {
  if (iso === null) return '-';
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso;
  if (Math.abs(now - at) < 1000) return 'just now';
  return at > now ? `in ${duration(at - now)}` : `${duration(now - at)} ago`;
};

const STATES: Readonly<Record<string, readonly [string, Style]>> = {
  SUBMITTED_SUCCESS: [RUN_STATE_WORDS.SUBMITTED_SUCCESS, 'dim'],
  WAITING: ['waiting', 'yellow'],
  RUNNING_EXECUTION: [RUN_STATE_WORDS.RUNNING_EXECUTION, 'cyan'],
  READY_PAUSE: [RUN_STATE_WORDS.READY_PAUSE, 'yellow'],
  PAUSE: [RUN_STATE_WORDS.PAUSE, 'yellow'],
  READY_STOP: [RUN_STATE_WORDS.READY_STOP, 'yellow'],
  STOP: [RUN_STATE_WORDS.STOP, 'yellow'],
  FAILURE: [RUN_STATE_WORDS.FAILURE, 'red'],
  SUCCESS: [RUN_STATE_WORDS.SUCCESS, 'green'],
  FORCED_SUCCESS: ['succeeded (forced)', 'green'],
  NEED_FAULT_TOLERANCE: [RUN_STATE_WORDS.FAILOVER, 'yellow'],
  KILL: ['killed', 'red'],
  DELAY_EXECUTION: ['delayed', 'dim'],
  DISPATCH: ['starting', 'cyan'],
  SERIAL_WAIT: [RUN_STATE_WORDS.SERIAL_WAIT, 'dim'],
  FAILOVER: [RUN_STATE_WORDS.FAILOVER, 'yellow'],
  PASSED: ['passed', 'green'],
  FAILED: ['failed', 'red'],
  OK: ['ok', 'green'],
  NEVER_READ: ['not read yet', 'dim'],
  BEHIND: ['behind', 'yellow'],
  UNREADABLE: ['unreadable', 'red'],
  HELD: ['held', 'yellow'],
  COMPATIBLE: ['compatible', 'green'],
  PENDING_APPROVAL: ['waits for approval', 'yellow'],
  REJECTED: ['rejected', 'red'],
  UNKNOWN: ['unknown', 'dim'],
};

/** A state in words. One that has no words here is shown as it is. */
export const stateCell = (state: string): Cell => {
  const [text, style] = STATES[state] ?? [state.toLowerCase().replaceAll('_', ' '), 'dim'];
  return { text, style };
};

/** The same without its style. */
export const stateWords = (state: string): string => plain(stateCell(state));

export const stateText = (state: string): string => styled(stateCell(state));
