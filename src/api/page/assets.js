import { h, inOrder, isRead } from './dom.js';
import { ago, assetName, badge, cardHead, chip, told } from './parts.js';
import { say } from './words.js';

/** @typedef {import('../contract/assets.ts').AssetBody} Asset */
/** @typedef {import('../contract/assets.ts').AssetDetailsBody} AssetDetails */
/** @typedef {import('../contract/assets.ts').VersionBody} Version */

/** A usable version: new data that no check failed, under a schema that was accepted. @typedef {{ readonly ref: { snapshotId: string, ordinal: number, epoch: number } | null, readonly passed: boolean }} Usable */

const WORST = ['UNREADABLE', 'HELD', 'BEHIND', 'PENDING_APPROVAL', 'REJECTED', 'FAILED'];

/** What of an asset needs somebody, worst first; undefined: nothing. @param {Asset} asset */
const trouble = ({ state }) =>
  WORST.find((each) => [state.health, state.schemaStatus, state.qualityStatus].includes(each));

/** Whose usable version is not simply its newest data. @param {Asset} asset */
export const needsSearch = ({ state }) =>
  state.latestData !== null &&
  (state.qualityStatus === 'FAILED' || ['PENDING_APPROVAL', 'REJECTED'].includes(state.schemaStatus));

/** Searches an asset's versions, newest first, for the usable one. @param {AssetDetails} asset @param {readonly Version[]} versions @returns {Usable} */
export const findUsable = (asset, versions) => {
  const refused = new Set(
    asset.schemas
      .filter(({ status }) => status === 'PENDING_APPROVAL' || status === 'REJECTED')
      .map(({ epoch, schemaId }) => `${epoch} ${schemaId}`),
  );
  const found = versions.find(
    (version) =>
      version.status === 'LIVE' &&
      version.dataChange &&
      version.quality !== 'FAILED' &&
      !refused.has(`${version.epoch} ${version.schemaId}`),
  );
  return { ref: found ?? null, passed: found?.quality === 'PASSED' };
};

/** @param {readonly Asset[]} assets worst first */
const sorted = (assets) => {
  const rank = (/** @type {Asset} */ asset) => {
    const found = WORST.indexOf(trouble(asset) ?? '');
    return found < 0 ? WORST.length : found;
  };
  return assets.toSorted((a, b) => rank(a) - rank(b) || (a.key < b.key ? -1 : 1));
};

const FEW = 50;

/**
 * @param {{ readonly assets: readonly Asset[], readonly usable: ReadonlyMap<string, Usable>, readonly filter: string, readonly all: boolean }} state
 */
export const assetsCard = ({ assets, usable, filter, all }) => {
  const wanted = assets.filter(({ key }) => key.toLowerCase().includes(filter.toLowerCase()));
  const list = `assets ${filter} ${all}`;
  const { shown, waiting } = inOrder(list, sorted(wanted), ({ key }) => key, isRead('assets'));
  const rows = all ? shown : shown.slice(0, FEW);
  const find = h('input', {
    class: 'find',
    id: 'find',
    type: 'search',
    'aria-label': say('find'),
    placeholder: say('find'),
  });
  return h(
    'section',
    { class: 'card', id: 'assets', 'aria-labelledby': 'assets-title', 'data-key': 'assets' },
    cardHead('assets', 'assets', assets.length, waiting, assets.length > 12 && find),
    rows.length > 0 && table(rows, usable),
    rows.length === 0 && assets.length > 0 && h('p', { class: 'empty' }, told('noneFound', { text: filter, clear })),
    rows.length < shown.length &&
      h(
        'div',
        { class: 'more' },
        h('button', { class: 'btn', type: 'button', 'data-do': 'all' }, say('showAll', { n: shown.length })),
      ),
  );
};

const clear = () => h('button', { class: 'link', type: 'button', 'data-do': 'clear' }, say('clear'));

/** @param {readonly Asset[]} assets @param {ReadonlyMap<string, Usable>} usable */
const table = (assets, usable) =>
  h(
    'table',
    { class: 'rows', role: 'table', 'aria-labelledby': 'assets-title' },
    h(
      'thead',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        head('', 'asset'),
        head('c-ver', 'newest'),
        head('c-ver', 'usable'),
        head('c-state', 'quality'),
        head('c-state', 'schema'),
        head('c-health', 'health'),
        head('c-time', 'looked'),
      ),
    ),
    h(
      'tbody',
      { role: 'rowgroup' },
      assets.map((asset) => row(asset, usable.get(asset.key))),
    ),
  );

/** @param {string} width @param {import('./words.js').Word} word */
export const head = (width, word) => h('th', { class: width, scope: 'col', role: 'columnheader' }, say(word));

/** A cell; on a phone, where there are no headings, its heading stands before it. @param {import('./dom.js').Attributes} attributes @param {readonly import('./dom.js').Child[]} children */
export const cell = (attributes, ...children) => h('td', { role: 'cell', ...attributes }, children);

/** @param {Asset} asset @param {Usable | undefined} found */
const row = (asset, found) => {
  const { key, state } = asset;
  const usable = needsSearch(asset) ? found : { ref: state.latestData, passed: state.qualityStatus === 'PASSED' };
  return h(
    'tr',
    { class: 'one', role: 'row', 'data-key': key },
    cell({ class: 'whole' }, assetName(key)),
    cell({ 'data-name': say('newest'), 'data-lights': true }, chip(key, state.latest, { mark: markOf(asset) })),
    cell(
      { 'data-name': say('usable'), 'data-lights': true },
      usable && chip(key, usable.ref, { mark: usable.passed ? 'passed' : null }),
    ),
    cell({ 'data-name': say('quality'), 'data-lights': true }, badge(state.qualityStatus)),
    cell(
      { 'data-name': say('schema'), 'data-lights': true },
      state.schemaStatus === 'UNKNOWN' ? badge('', 'unknownSchema') : badge(state.schemaStatus),
    ),
    cell({ 'data-name': say('health'), 'data-lights': true }, badge(state.health, undefined, state.healthReason)),
    cell({ class: 'dim', 'data-name': say('looked') }, lookedAt(asset)),
  );
};

/** @param {Asset} asset */
const markOf = ({ state }) => {
  if (state.qualityStatus === 'FAILED') return 'failed';
  if (state.schemaStatus === 'PENDING_APPROVAL') return 'held';
  return state.qualityStatus === 'PASSED' ? 'passed' : null;
};

/** @param {Asset} asset */
const lookedAt = ({ location, lastScanAt }) => {
  if (location === null) return h('span', { title: say('pushedLabel') }, say('pushed'));
  return lastScanAt === null ? say('never') : ago(lastScanAt);
};
