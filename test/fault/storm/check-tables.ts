import { commitsOf } from './chronicle.ts';
import type { Story } from './story.ts';
import { CHECK } from './plan.ts';

/** What was committed and pushed against what is recorded of it. */

const inOrder = (ids: readonly string[]): string => ids.join(' ');

/** Where two lists part, in words; null: they are the same. */
function difference(expected: readonly string[], actual: readonly string[]): string | null {
  const at = expected.findIndex((one, i) => one !== actual[i]);
  if (at === -1 && expected.length === actual.length) return null;
  const from = at === -1 ? expected.length : at;
  const around = (list: readonly string[]): string => inOrder(list.slice(Math.max(0, from - 2), from + 3));
  return `they part at number ${from + 1}: expected … ${around(expected)} …, found … ${around(actual)} … (${expected.length} and ${actual.length} in all)`;
}

const tables = ({ chronicle }: Story): readonly string[] => Object.keys(chronicle.commits);

/** Every version once, in the order of the writer, with ordinals 1, 2, 3 … of one epoch; and no other. */
export function versionsOnce(story: Story): readonly string[] {
  const { chronicle, facts } = story;
  const strange = facts.versions.filter(({ assetKey }) => chronicle.commits[assetKey] === undefined);
  return [
    ...strange.map(({ assetKey, snapshotId }) => `${assetKey} has version ${snapshotId}, and nobody writes that table`),
    ...tables(story).flatMap((key) => {
      const found = facts.versions.filter(({ assetKey }) => assetKey === key);
      const expected = commitsOf(chronicle, key).map(({ snapshotId, data }, i) => `${i + 1}:1:${snapshotId}:${data}`);
      const actual = found.map(({ ordinal, epoch, snapshotId, data }) => `${ordinal}:${epoch}:${snapshotId}:${data}`);
      const differs = difference(expected, actual);
      const dead = found.filter(({ status }) => status !== 'LIVE');
      return [
        ...(differs === null ? [] : [`${key}, ordinal:epoch:version:data: ${differs}`]),
        ...dead.map(({ snapshotId, status }) => `${key}: version ${snapshotId} is ${status}`),
      ];
    }),
  ];
}

/** The state of a table names its last version, and the last that brought rows. */
export function headsCurrent(story: Story): readonly string[] {
  return tables(story).flatMap((key) => {
    const commits = commitsOf(story.chronicle, key);
    const head = story.facts.heads.find(({ assetKey }) => assetKey === key);
    const expected = [commits.at(-1), commits.findLast(({ data }) => data)].map((commit) => commit?.snapshotId ?? null);
    const actual = [head?.snapshotId ?? null, head?.dataSnapshotId ?? null];
    return inOrder(expected.map(String)) === inOrder(actual.map(String))
      ? []
      : [`${key}: the newest versions are ${expected.join(' and ')}, its state says ${actual.join(' and ')}`];
  });
}

/** One event a version, in the same order, and none that tells of something that never happened. */
export function commitsToldOnce(story: Story): readonly string[] {
  const { chronicle, facts } = story;
  const hints = new Set(['HINT', 'CONFIRMED', 'UNCONFIRMED']);
  const known = new Set(['SNAPSHOT_COMMITTED', 'QUALITY_CHECK_PASSED', 'QUALITY_CHECK_FAILED']);
  return [
    ...tables(story).flatMap((key) => {
      const told = facts.events.filter(
        ({ assetKey, type, status }) => assetKey === key && type === 'SNAPSHOT_COMMITTED' && !hints.has(status),
      );
      const differs = difference(
        commitsOf(chronicle, key).map(({ snapshotId }) => `${snapshotId}:RECORDED`),
        told.map(({ snapshotId, status }) => `${snapshotId}:${status}`),
      );
      return differs === null ? [] : [`${key}, commits among its events: ${differs}`];
    }),
    ...facts.events
      .filter(({ type }) => !known.has(type))
      .map(
        ({ assetKey, type, snapshotId }) =>
          `${assetKey} has the event ${type} (version ${snapshotId}), which never happened`,
      ),
  ];
}

/** A hint that was accepted is either a duplicate of the commit that it told of, or kept once; in the end each is CONFIRMED. */
export function hintsConfirmed({ chronicle, facts }: Story): readonly string[] {
  const told = new Set(chronicle.hints.map(({ assetKey, snapshotId }) => `${assetKey} ${snapshotId}`));
  const kept = facts.events.filter(({ status }) => ['HINT', 'CONFIRMED', 'UNCONFIRMED'].includes(status));
  const seen = new Set<string>();
  return kept.flatMap(({ assetKey, snapshotId, status }) => {
    const name = `${assetKey} ${snapshotId}`;
    const twice = seen.has(name);
    seen.add(name);
    return [
      ...(twice ? [`the hint of ${name} is kept twice`] : []),
      ...(told.has(name) ? [] : [`nobody sent a hint of ${name}`]),
      ...(status === 'CONFIRMED' ? [] : [`the hint of ${name} is ${status}, though the table shows it`]),
    ];
  });
}

/** Each accepted verdict is one event and one row of the check's results, bound to its version. */
export function verdictsOnce({ chronicle, facts }: Story): readonly string[] {
  const stated = facts.events.filter(({ type }) => type.startsWith('QUALITY_CHECK_'));
  const expected = new Set(chronicle.verdicts.map(({ eventId }) => eventId));
  const strange = stated.filter(({ eventId }) => eventId === null || !expected.has(eventId));
  return [
    ...strange.map(({ eventId, assetKey }) => `a verdict ${eventId} on ${assetKey} is recorded, and nobody stated it`),
    ...chronicle.verdicts.flatMap(({ eventId, assetKey, snapshotId, passed }) => {
      const type = passed ? 'QUALITY_CHECK_PASSED' : 'QUALITY_CHECK_FAILED';
      const events = stated.filter((event) => event.eventId === eventId);
      const right = events.filter(
        (event) => event.type === type && event.snapshotId === snapshotId && event.status === 'RECORDED',
      );
      const rows = facts.verdicts.filter((row) => row.assetKey === assetKey && row.snapshotId === snapshotId);
      const bound = rows.filter(
        (row) => row.check === CHECK && !row.waiting && row.status === (passed ? 'PASSED' : 'FAILED'),
      );
      return [
        ...(events.length === 1 && right.length === 1
          ? []
          : [
              `verdict ${eventId} (${type} of ${assetKey} ${snapshotId}) is recorded ${events.length} times, ${right.length} as stated`,
            ]),
        ...(rows.length === 1 && bound.length === 1
          ? []
          : [
              `version ${snapshotId} of ${assetKey} has the results ${JSON.stringify(rows)}, not one ${passed ? 'PASSED' : 'FAILED'}`,
            ]),
      ];
    }),
  ];
}
