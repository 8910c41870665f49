// What is drawn the same everywhere: versions, states, times, names of tables.
import { glyph, h } from './dom.js';
import { pieces, say, spoken, stateWord } from './words.js';

/** @typedef {import('./dom.js').Child} Child */
/** @typedef {import('./words.js').Word} Word */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** @param {number} ms */
const howLong = (ms) => {
  if (ms < MINUTE) return say('seconds', { n: Math.floor(ms / 1000) });
  if (ms < HOUR) return say('minutes', { n: Math.floor(ms / MINUTE) });
  if (ms < DAY) return say('hours', { n: Math.floor(ms / HOUR) });
  return say('days', { n: Math.floor(ms / DAY) });
};

/** @param {string} iso */
export const howLongAgo = (iso) => {
  const ms = Date.now() - Date.parse(iso);
  return ms < 1000 ? say('justNow') : say('ago', { time: howLong(ms) });
};

const pad = (/** @type {number} */ value) => String(value).padStart(2, '0');

/** `2026-11-30 09:38:23` in the browser's time zone. @param {string} iso */
export const clockTime = (iso) => {
  const at = new Date(iso);
  const date = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${date} ${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
};

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A time as people think of it; the exact one on hover. page.js keeps it true as time goes on. @param {string} iso */
export const ago = (iso) =>
  h('time', { datetime: iso, 'data-ago': true, title: `${clockTime(iso)} ${zone}\n${iso}` }, howLongAgo(iso));

/** @param {string} iso */
export const at = (iso) => h('time', { datetime: iso, title: `${zone}\n${iso}` }, clockTime(iso));

/** `8:32`; below ten seconds with tenths, where they matter. @param {string} start @param {string | null} end */
export const took = (start, end) => {
  const ms = Math.max(0, (end === null ? Date.now() : Date.parse(end)) - Date.parse(start));
  if (end !== null && ms < 10_000) return say('seconds', { n: (Math.floor(ms / 100) / 10).toFixed(1) });
  const minutes = Math.floor(ms / MINUTE);
  const clock = `${pad(minutes % 60)}:${pad(Math.floor(ms / 1000) % 60)}`;
  return minutes < 60 ? clock.replace(/^0/, '') : `${Math.floor(minutes / 60)}:${clock}`;
};

/** How long it took, or takes until now. @param {string | null} start @param {string | null} end */
export const lasted = (start, end) =>
  start === null ? '–' : h('span', end === null ? { 'data-since': start } : {}, took(start, end));

/** @param {string} key `paimon://ods_db/ods_order_latest` */
export const tableName = (key) => decodeURIComponent(key.slice(key.lastIndexOf('/') + 1));

/** A name that may be broken where its words end. @param {string} name @returns {readonly Child[]} */
export const breakable = (name) => name.split(/(?<=[_.-])/).flatMap((word, i) => (i === 0 ? [word] : [h('wbr'), word]));

/** The table with its format and database; the whole key on hover. @param {string} key */
export const assetName = (key) => {
  const [format = '', path = ''] = key.split('://');
  const folder = path.slice(0, path.lastIndexOf('/') + 1).replaceAll('/', '.');
  return h(
    'span',
    { class: 'asset', title: key },
    h('span', { class: 'fm', 'aria-hidden': 'true' }, format.charAt(0).toUpperCase() + format.charAt(1)),
    h(
      'span',
      {},
      h('span', { class: 'said' }, `${format} `),
      h('span', { class: 'dim' }, decodeURIComponent(folder)),
      h('b', {}, breakable(tableName(key))),
    ),
  );
};

/** Shape and colour of each state; what is not here waits. @type {Readonly<Record<string, readonly [shape: string, colour: string]>>} */
const STATES = {
  OK: ['ok', 'ok'],
  PASSED: ['ok', 'ok'],
  COMPATIBLE: ['ok', 'ok'],
  SUCCESS: ['ok', 'ok'],
  FORCED_SUCCESS: ['forced', 'ok'],
  RUNNING_EXECUTION: ['run', 'run'],
  DISPATCH: ['run', 'run'],
  FAILOVER: ['run', 'run'],
  NEED_FAULT_TOLERANCE: ['run', 'run'],
  READY_PAUSE: ['pause', ''],
  PAUSE: ['pause', ''],
  READY_STOP: ['stop', ''],
  STOP: ['stop', ''],
  KILL: ['stop', ''],
  SUBMITTED_SUCCESS: ['queue', ''],
  DELAY_EXECUTION: ['late', 'you'],
  FAILURE: ['bad', 'bad'],
  FAILED: ['bad', 'bad'],
  REJECTED: ['bad', 'bad'],
  UNREADABLE: ['bad', 'bad'],
  BEHIND: ['late', 'you'],
  HELD: ['you', 'you'],
  PENDING_APPROVAL: ['you', 'you'],
};

/** A state: a shape and a word. @param {string} state @param {Word} [word] @param {string | null} [why] shown on hover */
export const badge = (state, word, why = null) => {
  const [shape, colour] = STATES[state] ?? ['wait', ''];
  return h(
    'span',
    { class: `st ${colour}`, title: why },
    glyph(shape),
    word === undefined ? stateWord(state) : say(word),
  );
};

const SHORT = 12;

/** An id whole up to 12 characters, else its ends; the middle stays in the text, so that copying it gives all. @param {string} key @param {string} id */
const shortId = (key, id) => {
  if (id.length <= SHORT) return [id];
  const head = key.startsWith('hudi:') ? 0 : 4;
  const tail = key.startsWith('hudi:') ? 9 : 4;
  return [id.slice(0, head), h('span', { class: 'mid' }, id.slice(head, -tail)), id.slice(-tail)];
};

/** @type {Readonly<Record<string, readonly [shape: string, word: Word]>>} */
const MARKS = { passed: ['tick', 'PASSED'], failed: ['cross', 'FAILED'], held: ['diamond', 'PENDING_APPROVAL'] };

/**
 * A version: Sluice's ordinal, or the table's name where the table is not in view, and the table's own id.
 * @param {string} key
 * @param {{ readonly snapshotId: string, readonly ordinal: number, readonly epoch: number } | null} ref
 * @param {{ readonly mark?: 'passed' | 'failed' | 'held' | null, readonly name?: string }} [how]
 */
export const chip = (key, ref, { mark = null, name } = {}) => {
  if (ref === null) return h('span', { class: 'ver none' }, say('noneYet'));
  const [shape, word] = (mark === null ? undefined : MARKS[mark]) ?? [];
  const marks = word === undefined ? '' : `${spoken() === 'en' ? ', ' : '，'}${say(word)}`;
  const label = say('versionLabel', { ordinal: ref.ordinal, id: ref.snapshotId, marks });
  const epoch = ref.epoch > 1 ? h('sup', {}, `e${ref.epoch}`) : null;
  return h(
    'span',
    { class: `ver ${mark ?? ''} ${name === undefined ? '' : 'pin'}`, title: `${key}\n${label}` },
    h('b', {}, name ?? `v${ref.ordinal}`, epoch),
    h('i', {}, shortId(key, ref.snapshotId)),
    shape === undefined ? null : glyph(shape, say(/** @type {Word} */ (word))),
  );
};

/** A sentence with parts that are not text. @param {Word} word @param {Readonly<Record<string, Node | string | number | ((text: string) => Node)>>} slots @returns {readonly Child[]} */
export const told = (word, slots) => pieces(word, slots);

export const command = (/** @type {string} */ text) => h('code', {}, text);

/** @param {string} id @param {Word} word @param {number | null} count @param {number} waiting rows that are held back while somebody reads @param {readonly Child[]} children */
export const cardHead = (id, word, count, waiting, ...children) =>
  h(
    'div',
    { class: 'bar-top' },
    h('h2', { id: `${id}-title` }, say(word)),
    count === null ? null : h('span', { class: 'count' }, count),
    h('span', { class: 'rest' }),
    waiting === 0
      ? null
      : h('button', { class: 'pill', type: 'button', 'data-do': `let-in ${id}` }, say('newRows', { n: waiting })),
    children,
  );
