import { glyph, h, inOrder, isRead } from './dom.js';
import { ago, at, breakable, cardHead, command, tableName, told } from './parts.js';
import { inChinese } from './phrases.js';
import { CATALOGUES, say, spoken } from './words.js';

/** @typedef {import('./dom.js').Child} Child */
/** @typedef {import('./words.js').Word} Word */
/** @typedef {import('../contract/dependencies.ts').WhyBody} Why */
/** @typedef {import('../contract/dependencies.ts').GroupAnswerBody} Group */
/** @typedef {import('../contract/dependencies.ts').LeafBody} Leaf */
/** @typedef {import('../contract/workflows.ts').WorkflowBody} Workflow */
/** @typedef {import('../contract/assets.ts').AssetBody} Asset */

/**
 * @typedef {{
 *   readonly workflows: readonly Workflow[],
 *   readonly whys: ReadonlyMap<number, Why>,
 *   readonly assets: readonly Asset[],
 *   readonly toggled: ReadonlySet<string>,
 * }} State
 */

const FEW = 8;

/** Is the tree of a workflow shown? Of few workflows all are, until somebody closes one. @param {State} state @param {Workflow} workflow */
export const isOpen = ({ workflows, toggled }, { code }) => toggled.has(`why ${code}`) !== workflows.length <= FEW;

/** @param {State} state */
export const workflowsCard = (state) => {
  const { workflows, whys } = state;
  const byName = workflows.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const { shown, waiting } = inOrder('workflows', byName, ({ code }) => String(code), isRead('workflows'));
  return h(
    'section',
    { class: 'card', id: 'workflows', 'aria-labelledby': 'workflows-title', 'data-key': 'workflows' },
    cardHead('workflows', 'workflows', workflows.length, waiting),
    shown.map((workflow) => flow(state, workflow, whys.get(workflow.code))),
  );
};

/** @param {State} state @param {Workflow} workflow @param {Why | undefined} why */
const flow = (state, workflow, why) => {
  const open = isOpen(state, workflow);
  const id = `why ${workflow.code}`;
  const trees = () => why?.groups.map((group, i) => groupTree(state, workflow, group, i));
  return h(
    'article',
    { class: 'flow', 'data-key': id, 'aria-label': workflow.name },
    h(
      'div',
      { class: 'flow-head' },
      h(
        'h3',
        {},
        workflow.groups.length === 0
          ? workflow.name
          : h(
              'button',
              { class: 'toggle', type: 'button', 'data-do': id, 'aria-expanded': String(open) },
              glyph('open'),
              workflow.name,
            ),
      ),
      h('span', { class: 'verdict', 'data-lights': true }, why === undefined ? null : verdict(workflow, why)),
    ),
    workflow.groups.length === 0 &&
      h('p', { class: 'note' }, told('noTrigger', { command: command(`sluice run ${workflow.name}`) })),
    open && trees(),
  );
};

/** @param {Workflow} workflow @param {Why} why @returns {Child} */
const verdict = (workflow, { groups }) => {
  if (workflow.releaseState === 'OFFLINE') return say('offline');
  if (groups.length === 0) return null;
  if (groups.some(({ ready }) => ready)) return say('ready');
  const [nearest = []] = groups.map(unmet).toSorted((a, b) => a.length - b.length);
  const [first] = nearest;
  if (first === undefined || nearest.length > 1) return say('waitsForMany', { n: nearest.length });
  return told('waitsFor', { what: h('b', {}, nameOf(first)) });
};

/** @param {Pick<Group, 'results'>} group */
const unmet = ({ results }) => results.filter(({ met }) => !met);

/** @param {Leaf} leaf */
const nameOf = ({ assetKey, alias }) => (assetKey === null ? say('group') : (alias ?? tableName(assetKey)));

/** @param {State} state @param {Workflow} workflow @param {Group} group @param {number} place */
const groupTree = (state, workflow, group, place) => {
  const id = `${workflow.code} ${group.group}`;
  return h(
    'div',
    { class: 'group', 'data-key': `group ${id}` },
    groupHead(group, place),
    waitTree(state.assets, id, group, 'workflows'),
    didRun(state, id, group.lastFire),
  );
};

/** @param {Group} group @param {number} place among its owner's groups */
export const groupHead = ({ group, results }, place) =>
  h(
    'div',
    { class: 'group-head' },
    glyph('gate'),
    h('b', {}, breakable(group)),
    h('span', {}, say(place === 0 ? 'oneGroup' : 'orGroup')),
    h(
      'span',
      { 'data-lights': true },
      say('holdCount', { met: results.filter(({ met }) => met).length, all: results.length }),
    ),
  );

/** The tree as it is now: what blocks first, but nothing changes its place while somebody reads `list`. @param {readonly Asset[]} assets @param {string} id @param {Group} group @param {string} list */
export const waitTree = (assets, id, { results }, list) => {
  const asWanted = [...unmet({ results }), ...results.filter(({ met }) => met)];
  const { shown, waiting } = inOrder(`leaves ${id}`, asWanted, leafKey, isRead(list));
  return tree(assets, waiting === 0 ? shown : asWanted, 'now');
};

/** A gate has no asset: its code tells it from another. @param {Leaf} leaf */
const leafKey = ({ assetKey, code }) => assetKey ?? code ?? '';

/** @param {State} state @param {string} id @param {Group['lastFire']} fire */
const didRun = ({ assets, toggled }, id, fire) => {
  if (fire === null) return h('p', { class: 'did' }, say('neverRan'));
  const open = toggled.has(`did ${id}`);
  const run = h('button', { class: 'link', type: 'button', 'data-do': `run ${fire.runId}` }, `#${fire.runId}`);
  return h(
    'div',
    { class: 'did' },
    told('didRun', { run, time: ago(fire.at) }),
    ' ',
    h(
      'button',
      { class: 'link', type: 'button', 'data-do': `did ${id}`, 'aria-expanded': String(open) },
      say('whyDid'),
    ),
    open && tree(assets, fire.results, 'then'),
  );
};

/** The conditions of a group, one sentence each with what was compared. @param {readonly Asset[]} assets @param {readonly Leaf[]} leaves @param {'now' | 'then'} when */
export const tree = (assets, leaves, when) =>
  h(
    'ul',
    { class: 'tree' },
    leaves.map((leaf) => branch(leaf, when, when === 'now' ? needOf(leaf, assets) : '')),
  );

/** Who can release a condition that does not hold: time and writers (''), a person (you), a repair (bad). @param {Leaf} leaf @param {readonly Asset[]} assets */
const needOf = ({ code, assetKey }, assets) => {
  const state = assets.find(({ key }) => key === assetKey)?.state;
  if (code === 'BLOCKED_BY_SOURCE') return state?.health === 'UNREADABLE' ? 'bad' : '';
  if (code === 'BLOCKED_BY_QUALITY') return state?.qualityStatus === 'FAILED' ? 'you' : '';
  if (code === 'BLOCKED_BY_SCHEMA') return state?.schemaStatus === 'PENDING_APPROVAL' ? 'you' : '';
  return ['BLOCKED_BY_HOLD', 'BLOCKED_BY_UNKNOWN_ASSET', 'BLOCKED_BY_PERMISSION'].includes(code ?? '') ? 'you' : '';
};

/** @param {Leaf} leaf @param {'now' | 'then'} when @param {string} need */
const branch = (leaf, when, need) => {
  const [kind, shape] = leaf.met ? ['holds', 'ok'] : [need || 'waits', need || 'wait'];
  const asset = h('b', { title: leaf.assetKey }, nameOf(leaf));
  const what = (/** @type {string} */ text) => h('span', { class: 'what' }, text);
  return h(
    'li',
    { class: `leaf ${kind}`, 'data-key': leafKey(leaf) },
    glyph(shape),
    h('span', { 'data-lights': true }, told(leafWord(leaf, need), { asset, what })),
    h(
      'dl',
      { class: 'facts' },
      fact('needs', words(leaf.needed)),
      fact(when, words(leaf.actual)),
      fact('since', [at(leaf.since), h('span', { class: 'dim' }, ' · ', ago(leaf.since))]),
      leaf.code !== null && fact('code', command(leaf.code)),
    ),
  );
};

/** @param {Leaf} leaf @param {string} need @returns {Word} */
const leafWord = ({ met, code }, need) => {
  if (met) return 'holds';
  if (need === 'bad') return 'cannotRead';
  return code !== null && code in CATALOGUES.en ? /** @type {Word} */ (code) : 'blockedOtherwise';
};

/** @param {Word} name @param {Child} value */
export const fact = (name, value) => [h('dt', {}, say(name)), h('dd', {}, value)];

const TIME = /(\d{4}-\d\d-\d\dT[\d:.]+Z)/;

/** What the server says, in the reader's language as far as the page knows it, times in the reader's zone. @param {string} text @returns {Child} */
const words = (text) => {
  const chinese = spoken() === 'en' ? text : inChinese(text);
  const parts = (chinese ?? text).split(TIME).map((part) => (TIME.test(part) ? at(part) : part));
  return chinese === null ? h('span', { lang: 'en' }, parts) : parts;
};
