// The one log that is open: read in ranges while it grows. (A stream for each would use up the few connections that a browser has.)
import { get } from './server.js';

/** @typedef {import('../contract/workflows.ts').LogBody} LogBody */

/**
 * `unread`: lines that came while the reader had scrolled up; `leftOut`: bytes before what is shown.
 * @typedef {{ taskId: number, runId: number, name: string, attempt: number, unread: number, finished: boolean, leftOut: number, empty: boolean }} Log
 */

const SHOWN = 128 * 1024;
const LOOK_MS = 1_000;

/** Colours and cursor moves of terminals. */
const CONTROL = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g;

const plain = (/** @type {string} */ text) => text.replace(CONTROL, '').replace(/\r\n?/g, '\n');

/** @returns {HTMLElement | null} */
const view = () => document.getElementById('log-text');

const isAtEnd = (/** @type {HTMLElement} */ pre) => pre.scrollHeight - pre.scrollTop - pre.clientHeight < 24;

export const scrollToEnd = () => {
  const pre = view();
  if (pre !== null) pre.scrollTop = pre.scrollHeight;
};

/**
 * Reads a log from near its end on and writes it into the page until `signal` ends it or the attempt has ended.
 * @param {string} project path of the project's resources
 * @param {Log} log kept true: unread, finished, leftOut, empty
 * @param {AbortSignal} signal
 * @param {() => void} onChange after each change of `log` and once before the first text, when its place must be on the page
 */
export const readLog = async (project, log, signal, onChange) => {
  const path = `${project}/task-instances/${log.taskId}/log`;
  const { size } = /** @type {LogBody} */ (await get(`${path}?limit=1`));
  let offset = Math.max(0, size - SHOWN);
  log.leftOut = offset;
  onChange();
  const pre = view();
  pre?.addEventListener('scroll', () => {
    if (log.unread === 0 || !isAtEnd(pre)) return;
    log.unread = 0;
    onChange();
  });
  while (!signal.aborted) {
    const piece = /** @type {LogBody} */ (await get(`${path}?offset=${offset}`));
    if (signal.aborted) return;
    // What was cut into at the beginning is not a line.
    const text = offset > 0 && offset === log.leftOut ? piece.text.replace(/^[^\n]*\n/, '') : piece.text;
    write(log, plain(text));
    const moved = piece.nextOffset > offset;
    offset = piece.nextOffset;
    log.finished = piece.finished;
    log.empty = offset === 0;
    onChange();
    if (piece.finished) return;
    if (!moved || offset >= piece.size) await nextLook(signal);
  }
};

/** @param {Log} log @param {string} text */
const write = (log, text) => {
  const pre = view();
  if (pre === null || text === '') return;
  const follows = isAtEnd(pre);
  pre.append(text);
  if (follows) pre.scrollTop = pre.scrollHeight;
  else log.unread += text.split('\n').length - 1;
};

/** Waits a moment, and while nobody sees the page. @param {AbortSignal} signal */
const nextLook = (signal) =>
  new Promise((done) => {
    const look = () => {
      if (document.hidden && !signal.aborted) setTimeout(look, LOOK_MS);
      else done(undefined);
    };
    setTimeout(look, LOOK_MS);
  });
