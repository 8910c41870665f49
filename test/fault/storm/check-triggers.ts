import { createHash } from 'node:crypto';
import { type Chronicle, commitsOf } from './chronicle.ts';
import type { Story } from './story.ts';
import type { TriggerFact } from './facts.ts';
import type { PlannedGroup, PlannedMember, PlannedWorkflow } from './plan.ts';

/** Which version sets each group had to fire on (semantics.md, 3 and 4), worked out from what was committed, against what it fired on. */

/** A version that a group may choose, by its place among all commits of the table. */
interface Choice {
  readonly place: number;
  readonly snapshotId: string;
}

/** Recorded so long before a decision, a version must have been seen by it: no transaction takes as long. */
const SEEN_MS = 2_000;

const isBegun = ({ before }: Chronicle, assetKey: string, place: number): boolean => place < (before[assetKey] ?? 0);

/** What may be chosen for a member, oldest first: versions with rows that came after the group began and, if it asks for that, have passed. */
function choicesOf(chronicle: Chronicle, { assetKey, passed }: PlannedMember): readonly Choice[] {
  const good = new Set(
    chronicle.verdicts
      .filter((verdict) => verdict.assetKey === assetKey && verdict.passed)
      .map(({ snapshotId }) => snapshotId),
  );
  return commitsOf(chronicle, assetKey).flatMap(({ snapshotId, data }, place) =>
    data && !isBegun(chronicle, assetKey, place) && (passed !== true || good.has(snapshotId))
      ? [{ place, snapshotId }]
      : [],
  );
}

/** What the group had consumed of a table before its first fire. */
const beginningOf = (chronicle: Chronicle, assetKey: string): number => (chronicle.before[assetKey] ?? 0) - 1;

interface Owned {
  readonly workflow: PlannedWorkflow;
  readonly group: PlannedGroup;
}

const groupsOf = ({ workflows }: Story): readonly Owned[] =>
  workflows.flatMap((workflow) => workflow.groups.map((group) => ({ workflow, group })));

const nameOf = ({ workflow, group }: Owned): string => `group ${group.name} of ${workflow.name}`;

const firesOf = ({ facts }: Story, { workflow, group }: Owned): readonly TriggerFact[] =>
  facts.triggers.filter((one) => one.task === null && one.workflow === workflow.name && one.group === group.name);

const pinsText = (pins: Readonly<Record<string, string>>): string =>
  Object.entries(pins)
    .map(([key, id]) => `${key}=${id}`)
    .join(', ') || 'no pins';

/** How a fire moved one member on: its place afterwards, or what is wrong. */
function move(
  chronicle: Chronicle,
  group: PlannedGroup,
  member: PlannedMember,
  pin: string | undefined,
  last: number,
): number | string {
  const { assetKey } = member;
  if (pin === undefined) return `${assetKey} is not pinned`;
  const chosen = choicesOf(chronicle, member).find(({ snapshotId }) => snapshotId === pin);
  if (chosen !== undefined && chosen.place > last) return chosen.place;
  const place = commitsOf(chronicle, assetKey).findIndex(({ snapshotId }) => snapshotId === pin);
  if (group.advance === 'ANY' && place === last) return place;
  if (place === -1) return `${assetKey} ${pin} was never committed`;
  return place <= last
    ? `${assetKey} ${pin} is not newer than what was consumed`
    : `${assetKey} ${pin} may not be chosen`;
}

/** Follows one group through its fires: each goes on where the one before left off, and after the last nothing is left to fire on. */
function followGroup(story: Story, owned: Owned): readonly string[] {
  const { chronicle } = story;
  const { group } = owned;
  const places = new Map(group.members.map(({ assetKey }) => [assetKey, beginningOf(chronicle, assetKey)]));
  const problems: string[] = [];
  for (const fire of firesOf(story, owned)) {
    let moved = 0;
    for (const member of group.members) {
      const last = places.get(member.assetKey) ?? -1;
      const next = move(chronicle, group, member, fire.pins[member.assetKey], last);
      if (typeof next === 'string') problems.push(`trigger ${fire.id} (${pinsText(fire.pins)}): ${next}`);
      else places.set(member.assetKey, next);
      if (typeof next === 'number' && next > last) moved += 1;
    }
    if (moved === 0) problems.push(`trigger ${fire.id} (${pinsText(fire.pins)}) fired on nothing new`);
    if (Object.keys(fire.pins).length !== group.members.length)
      problems.push(`trigger ${fire.id} has the pins ${pinsText(fire.pins)}`);
  }
  return [...problems, ...leftOver(chronicle, group, places)].map((problem) => `${nameOf(owned)}: ${problem}`);
}

function leftOver(chronicle: Chronicle, group: PlannedGroup, places: ReadonlyMap<string, number>): readonly string[] {
  const unread = group.members.flatMap((member) => {
    const newest = choicesOf(chronicle, member).at(-1);
    return newest !== undefined && newest.place > (places.get(member.assetKey) ?? -1)
      ? [`${member.assetKey} ${newest.snapshotId}`]
      : [];
  });
  const due = group.advance === 'ANY' ? unread.length > 0 : unread.length === group.members.length;
  return due ? [`never fired on ${unread.join(' and ')}`] : [];
}

export const firesFollowVersions = (story: Story): readonly string[] =>
  groupsOf(story).flatMap((owned) => followGroup(story, owned));

/** A table that waits for its run: every version is one fire, none is passed over. */
export const everyStepFires = (story: Story): readonly string[] =>
  groupsOf(story)
    .filter(({ group }) => group.lockstep)
    .flatMap((owned) =>
      owned.group.members.flatMap((member) => {
        const expected = choicesOf(story.chronicle, member).map(({ snapshotId }) => snapshotId);
        const fired = firesOf(story, owned).map(({ pins }) => pins[member.assetKey]);
        const lost = expected.filter((id) => !fired.includes(id));
        return lost.length === 0 && fired.length === expected.length
          ? []
          : [
              `${nameOf(owned)}: ${expected.length} versions, ${fired.length} fires; without one: ${lost.join(' ') || 'none'}`,
            ];
      }),
    );

/** LATEST: what is chosen is the newest that had been recorded when the group was decided. */
export const firesTakeNewest = (story: Story): readonly string[] =>
  groupsOf(story).flatMap((owned) =>
    firesOf(story, owned).flatMap((fire) =>
      owned.group.members
        .filter(({ passed }) => passed !== true) // when its verdict came is not known of a version
        .flatMap((member) => {
          const choices = choicesOf(story.chronicle, member);
          const place = commitsOf(story.chronicle, member.assetKey).findIndex(
            ({ snapshotId }) => snapshotId === fire.pins[member.assetKey],
          );
          const next = choices.find((choice) => choice.place > place);
          const recordedAt = story.facts.versions.find(
            ({ assetKey, snapshotId }) => assetKey === member.assetKey && snapshotId === next?.snapshotId,
          )?.recordedAt;
          return recordedAt !== undefined && recordedAt + SEEN_MS < fire.at
            ? [
                `${nameOf(owned)}: trigger ${fire.id} took ${pinsText(fire.pins)}, ${fire.at - recordedAt} ms after ${next?.snapshotId} was recorded`,
              ]
            : [];
        }),
    ),
  );

/** One trigger, one run: each names the other, with the same key and pins; no key came twice; no run came from nowhere. */
export function triggersAreRuns({ facts, chronicle }: Story): readonly string[] {
  const fires = facts.triggers.filter(({ task }) => task === null);
  const runOf = new Map(facts.runs.map((run) => [run.id, run]));
  const claimed = new Map<number, number>();
  const problems: string[] = [];
  for (const fire of fires) {
    const run = fire.runId === null ? undefined : runOf.get(fire.runId);
    if (fire.runId !== null) claimed.set(fire.runId, (claimed.get(fire.runId) ?? 0) + 1);
    if (fire.status !== 'SUCCESS') problems.push(`trigger ${fire.id} is ${fire.status}`);
    if (run === undefined) problems.push(`trigger ${fire.id} has no run`);
    else if (
      run.triggerKey !== fire.key ||
      run.workflow !== fire.workflow ||
      run.group !== fire.group ||
      pinsText(run.pins) !== pinsText(fire.pins)
    )
      problems.push(
        `trigger ${fire.id} (${fire.key}) and its run ${run.id} (${run.triggerKey}, ${pinsText(run.pins)}) do not agree`,
      );
  }
  for (const run of facts.runs) {
    const triggers = claimed.get(run.id) ?? 0;
    const byHand = run.idempotencyKey !== null && chronicle.starts.includes(run.idempotencyKey);
    if (triggers + (byHand ? 1 : 0) !== 1)
      problems.push(
        `run ${run.id} of ${run.workflow} has ${triggers} triggers and the key ${run.idempotencyKey ?? 'none'}`,
      );
  }
  return problems;
}

/** Each start that was answered is one run, though it may have been asked for several times. */
export const startsOnce = ({ facts, chronicle }: Story): readonly string[] =>
  chronicle.starts.flatMap((key) => {
    const runs = facts.runs.filter(({ idempotencyKey }) => idempotencyKey === key);
    const pins = runs.flatMap((run) => Object.entries(run.pins));
    const strange = pins.filter(
      ([assetKey, id]) => !commitsOf(chronicle, assetKey).some(({ snapshotId }) => snapshotId === id),
    );
    return [
      ...(runs.length === 1 ? [] : [`the start ${key} has ${runs.length} runs`]),
      ...(pins.length === 1 && strange.length === 0
        ? []
        : [`the run of start ${key} has the pins ${JSON.stringify(pins)}`]),
    ];
  });

const LONGEST_KEY = 200;

/** semantics.md, 4: what a trigger key is made of. Tables and versions of the storm hold nothing that must be escaped. */
function keyOf({ workflowCode, task, group, pins }: TriggerFact): string {
  const owner = task === null ? '' : `_taskdef_${task.code}_instance_${task.instanceId}`;
  const parts = Object.entries(pins).map(([key, id]) => `${key}=1:${id}`);
  const text = `workflow_${workflowCode}${owner}_group_${group}_${parts.toSorted().join('+')}`;
  return text.length <= LONGEST_KEY ? text : `sha256_${createHash('sha256').update(text).digest('hex')}`;
}

export function keysUnique({ facts }: Story): readonly string[] {
  const seen = new Set<string>();
  return facts.triggers.flatMap((trigger) => {
    const twice = seen.has(trigger.key);
    seen.add(trigger.key);
    const expected = keyOf(trigger);
    return [
      ...(twice ? [`trigger key ${trigger.key} is there twice`] : []),
      ...(trigger.key === expected ? [] : [`trigger ${trigger.id} has the key ${trigger.key}, not ${expected}`]),
    ];
  });
}

/** What each group has consumed in the end is what it fired on last. */
export const consumedLast = (story: Story): readonly string[] =>
  groupsOf(story).flatMap((owned) => {
    const last = firesOf(story, owned).at(-1);
    return owned.group.members.flatMap(({ assetKey }) => {
      const begun = commitsOf(story.chronicle, assetKey)[beginningOf(story.chronicle, assetKey)]?.snapshotId ?? null;
      const expected = last === undefined ? begun : (last.pins[assetKey] ?? null);
      const found = story.facts.consumed.filter(
        (one) => one.workflow === owned.workflow.name && one.group === owned.group.name && one.assetKey === assetKey,
      );
      return found.length === 1 && found[0]?.snapshotId === expected
        ? []
        : [`${nameOf(owned)} has consumed ${JSON.stringify(found)} of ${assetKey}, not ${expected}`];
    });
  });
