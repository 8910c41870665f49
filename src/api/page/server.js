// The server over HTTP, and who of this browser's tabs holds the one open stream of changes.

const BASE = '/api/v1';
const TOKEN = 'sluice.token';

/** The server's problem document, or (status 0) no answer at all. */
export class Refusal extends Error {
  /** @param {number} status @param {string} detail */
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** A token in the address (`#token=…`) goes into this tab's memory and out of the address, where it would be seen and kept. */
export const takeToken = () => {
  const match = /(?:^#|&)token=([^&]*)/.exec(location.hash);
  if (match === null) return;
  sessionStorage.setItem(TOKEN, decodeURIComponent(match[1] ?? ''));
  history.replaceState(null, '', location.pathname + location.search);
};

export const token = () => sessionStorage.getItem(TOKEN);

/** @param {string | null} text null: forget it */
export const keepToken = (text) => {
  if (text === null) sessionStorage.removeItem(TOKEN);
  else sessionStorage.setItem(TOKEN, text);
};

/** @param {string} path @param {RequestInit} init */
const call = async (path, init = {}) => {
  const headers = { authorization: `Bearer ${token() ?? ''}`, ...init.headers };
  /** @type {Response} */
  let answer;
  try {
    answer = await fetch(BASE + path, { ...init, headers, cache: 'no-store' });
  } catch (error) {
    throw new Refusal(0, String(error));
  }
  if (answer.ok) return answer;
  const problem = /** @type {{ detail?: string }} */ (await answer.json().catch(() => ({})));
  throw new Refusal(answer.status, problem.detail ?? `HTTP ${answer.status}`);
};

/**
 * @template T
 * @param {string} path
 * @returns {Promise<T>}
 */
export const get = async (path) => /** @type {T} */ (await (await call(path)).json());

/**
 * What a tab hears. `live`: do changes arrive, and if not, is that because the server has too many followers?
 * @typedef {{ readonly kinds: readonly string[], readonly live?: 'LIVE' | 'CROWDED' | 'LOST' }} News
 */

const ALL = Object.freeze(['assets', 'groups', 'workflows', 'runs']);
const SILENCE_MS = 40_000;
const AGAIN_MS = 1_500;
const CROWDED_MS = 20_000;

const pause = (/** @type {number} */ ms) => new Promise((done) => setTimeout(done, ms));

/**
 * Follows what changes, for ever. A browser opens few connections to one server, so of all its tabs one holds the stream and tells the
 * others; when it closes, the next takes over. Ends only when the server does not know the token.
 * @param {(news: News) => void} hear
 */
export const follow = async (hear) => {
  const channel = new BroadcastChannel('sluice.changes');
  /** @type {News['live']} */
  let live = 'LOST';
  let leads = false;
  const tell = (/** @type {News} */ news) => {
    live = news.live ?? live;
    channel.postMessage(news);
    hear(news);
  };
  channel.onmessage = ({ data }) => {
    if (data === 'how is it') return leads && channel.postMessage({ kinds: [], live });
    hear(/** @type {News} */ (data));
  };
  channel.postMessage('how is it');
  const lead = async () => {
    leads = true;
    while (await stream(tell));
    leads = false;
  };
  // Without a secure context (plain HTTP under another name than localhost) there are no locks: then each tab has its own stream.
  if ('locks' in navigator) await navigator.locks.request('sluice.changes', lead);
  else await lead();
  channel.close();
};

/**
 * One connection, from its beginning to its end. @param {(news: News) => void} tell
 * @returns {Promise<boolean>} whether to connect again
 */
const stream = async (tell) => {
  const quiet = new AbortController();
  const mine = token();
  try {
    const answer = await call('/events/stream', { headers: { accept: 'text/event-stream' }, signal: quiet.signal });
    // What changed while nobody listened is not known, so everything is looked at once.
    tell({ kinds: ALL, live: 'LIVE' });
    await readEvents(answer, quiet, tell);
    tell({ kinds: [], live: 'LOST' });
  } catch (error) {
    // Unless a person has given another token meanwhile.
    if (error instanceof Refusal && error.status === 401) return token() !== null && token() !== mine;
    const crowded = error instanceof Refusal && error.status === 503;
    tell({ kinds: [], live: crowded ? 'CROWDED' : 'LOST' });
    if (crowded) await pause(CROWDED_MS);
  }
  await pause(AGAIN_MS);
  return true;
};

/** @param {Response} answer @param {AbortController} quiet @param {(news: News) => void} tell */
const readEvents = async (answer, quiet, tell) => {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    // The server says something at least every 15 seconds: a longer silence is a dead connection.
    const silence = setTimeout(() => quiet.abort(), SILENCE_MS);
    const piece = await reader?.read().finally(() => clearTimeout(silence));
    if (piece === undefined || piece.done) return;
    const blocks = (rest + piece.value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^event: changed$[^]*^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) tell(/** @type {News} */ (JSON.parse(data)));
    }
  }
};
