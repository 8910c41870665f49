import { say, sentence } from './words.js';

/** @typedef {import('../contract/assets.ts').AssetBody} Asset */
/** @typedef {import('../contract/workflows.ts').RunBody} Run */
/** @typedef {import('./words.js').Word} Word */

/** @param {readonly Asset[]} assets @param {readonly Run[]} runs newest first @returns {readonly (readonly [Word, number])[]} */
const troubles = (assets, runs) => {
  const count = (/** @type {(state: Asset['state']) => boolean} */ test) =>
    assets.filter(({ state }) => test(state)).length;
  const newest = new Map(runs.toReversed().map((run) => [run.workflowDefinitionCode, run.state]));
  return [
    ['unreadable', count(({ health }) => health === 'UNREADABLE')],
    ['held', count(({ health }) => health === 'HELD')],
    ['behind', count(({ health }) => health === 'BEHIND')],
    ['toApprove', count(({ schemaStatus }) => schemaStatus === 'PENDING_APPROVAL')],
    ['failedQuality', count(({ qualityStatus }) => qualityStatus === 'FAILED')],
    ['failedRuns', [...newest.values()].filter((state) => state === 'FAILURE').length],
  ];
};

const UNDER_WAY = ['SUBMITTED_SUCCESS', 'RUNNING_EXECUTION', 'READY_PAUSE', 'READY_STOP', 'SERIAL_WAIT', 'FAILOVER'];

/**
 * What is true now, in one sentence; then the numbers behind it.
 * @param {{ readonly assets: readonly Asset[], readonly runs: readonly Run[], readonly workflows: readonly unknown[] }} state
 */
export const healthOf = ({ assets, runs, workflows }) => {
  if (assets.length === 0 && workflows.length === 0)
    return { verdict: sentence([say('nothingYet')]), numbers: null, count: 0 };
  const found = troubles(assets, runs).filter(([, n]) => n > 0);
  const parts = found.length === 0 ? [say('well')] : found.map(([word, n]) => say(word, { n }));
  const running = runs.filter(({ state }) => UNDER_WAY.includes(state)).length;
  const unread = assets.filter(({ state, location }) => location !== null && state.health === 'NEVER_READ').length;
  const summary = say('summary', { assets: assets.length, workflows: workflows.length, running });
  return {
    verdict: sentence(parts),
    numbers: unread === 0 ? summary : `${summary} ${say('notRead', { n: unread })}`,
    count: found.reduce((sum, [, n]) => sum + n, 0),
  };
};
