import { ok, type Result, refuse } from '../result.ts';
import { conditionFromDeclaration } from './condition.ts';
import type { Condition } from '../asset/condition.ts';
import {
  asId,
  complain,
  type FieldShape,
  outcome,
  type Reader,
  readChoice,
  readerOf,
  readFlag,
  readSeconds,
  readText,
  valueOf,
} from './group-fields.ts';
import { type Fields, isMapping } from './read.ts';
import type { DependencyGroup, StartFrom } from '../asset/group.ts';
import { type AssetKey, parseAssetKey } from '../asset/key.ts';

const SHAPE: FieldShape = {
  known: [
    'group',
    'all',
    'renamedFrom',
    'advance',
    'consume',
    'whileRunning',
    'startFrom',
    'minIntervalSeconds',
    'quietSeconds',
    'maxWaitSeconds',
    'enabled',
  ],
  notYet: {
    period: 'leave it out, and use minIntervalSeconds or a condition on the watermark',
    allowedLateness: 'leave it out together with "period"',
    paused: 'pause the group on the server; a file declares only what is in force ("enabled")',
    any: 'write one group for each alternative: groups of one owner are OR',
  },
};

/** A task's group releases it once and begins at the task's baseline: what says when and from where to fire again has no meaning there. */
const TASK_SHAPE: FieldShape = {
  known: ['group', 'all', 'advance', 'quietSeconds', 'maxWaitSeconds', 'enabled'],
  notYet: { ...SHAPE.notYet, paused: 'pause the run' },
};

// Kept apart from pins by `_` and from asset keys by these characters in the trigger key.
const GROUP_NAME = /^[^\s:/,=@\p{Cc}](?:[^:/,=@\p{Cc}]{0,98}[^\s:/,=@\p{Cc}])?$/u;

const startFromAsset = (reader: Reader, text: string, value: unknown): readonly (readonly [AssetKey, string])[] => {
  const key = parseAssetKey(text);
  const id = asId(value);
  if (!key.ok) complain(reader, key.problem.detail, 'BAD_ASSET_KEY');
  else if (id === undefined) complain(reader, `"startFrom" needs the id of a version of ${text} in quotes.`);
  else return [[key.value, id]];
  return [];
};

const readStartFrom = (reader: Reader, conditions: readonly Condition[]): StartFrom => {
  const raw = valueOf(reader, 'startFrom') ?? 'NEXT';
  if (raw === 'NEXT' || raw === 'CURRENT') return raw;
  if (!isMapping(raw)) {
    complain(reader, '"startFrom" must be NEXT, CURRENT, or a mapping of asset keys to version ids.');
    return 'NEXT';
  }
  const entries = Object.entries(raw).flatMap(([text, value]) => startFromAsset(reader, text, value));
  const stranger = entries.find(([key]) => !conditions.some((condition) => condition.assetKey === key));
  if (stranger !== undefined) complain(reader, `"startFrom" names ${stranger[0]}, which is not in the group.`);
  const reference = entries.find(([key]) =>
    conditions.some(({ assetKey, snapshotRequired }) => assetKey === key && !snapshotRequired),
  );
  if (reference !== undefined)
    complain(
      reader,
      `take ${reference[0]} out of "startFrom": its newest version counts anyway ("snapshotRequired: false").`,
    );
  return Object.fromEntries(entries);
};

const readConsume = (reader: Reader): 'LATEST' => {
  const raw = valueOf(reader, 'consume');
  if (raw === 'EACH') complain(reader, '"consume: EACH" is not supported by this version: leave it out (LATEST).');
  else readChoice(reader, 'consume', ['LATEST'] as const, 'LATEST');
  return 'LATEST';
};

const groupOf = (reader: Reader, name: string, conditions: readonly Condition[]): DependencyGroup => ({
  name,
  renamedFrom: readText(reader, 'renamedFrom'),
  advance: readChoice(reader, 'advance', ['ALL', 'ANY'] as const, 'ALL'),
  consume: readConsume(reader),
  whileRunning: readChoice(reader, 'whileRunning', ['WAIT', 'PARALLEL'] as const, 'WAIT'),
  startFrom: readStartFrom(reader, conditions),
  minIntervalSeconds: readSeconds(reader, 'minIntervalSeconds'),
  quietSeconds: readSeconds(reader, 'quietSeconds'),
  maxWaitSeconds: readSeconds(reader, 'maxWaitSeconds'),
  enabled: readFlag(reader, 'enabled', true),
  conditions,
});

const repeated = (values: readonly string[]): string | undefined =>
  values.find((value, index) => values.indexOf(value) !== index);

/** Refuses a group that could not work as it stands: the reason says what to change. */
export const validateGroup = (group: DependencyGroup): Result<DependencyGroup> => {
  const { name, conditions } = group;
  const say = (detail: string) => refuse('BAD_FILE', `Group "${name}": ${detail}`);
  if (conditions.length === 0) return say('add at least one condition under "all".');
  const asset = repeated(conditions.map((condition) => condition.assetKey));
  if (asset !== undefined) return say(`${asset} stands in it twice: put all demands on it into one condition.`);
  const alias = repeated(conditions.map((condition) => condition.alias.toUpperCase()));
  if (alias !== undefined) {
    const both = [...new Set(conditions.map((one) => one.alias).filter((one) => one.toUpperCase() === alias))];
    if (both.length === 1) return say(`two conditions have the alias "${both[0]}": give one of them another "alias".`);
    return say(`the aliases "${both.join('" and "')}" share one environment variable: give one another "alias".`);
  }
  if (group.maxWaitSeconds !== null && group.quietSeconds === null)
    return say('"maxWaitSeconds" needs "quietSeconds".');
  const moot = group.quietSeconds !== null ? 'quietSeconds' : group.advance === 'ANY' ? 'advance: ANY' : null;
  if (moot !== null && !conditions.some(({ snapshotRequired }) => snapshotRequired))
    return say(`leave "${moot}" out: none of its conditions waits for something new ("snapshotRequired").`);
  return ok(group);
};

/** A group that starts runs must wait for something new. */
export const refuseNeverWaiting = (group: DependencyGroup): Result<DependencyGroup> => {
  if (group.conditions.some((condition) => condition.snapshotRequired)) return ok(group);
  const detail = 'it would fire for ever: let at least one condition have "snapshotRequired: true".';
  return refuse('GROUP_NEVER_WAITS', `Group "${group.name}": ${detail}`);
};

const readConditions = (raw: Fields, name: string): Result<readonly Condition[]> => {
  const list = raw['all'];
  if (!Array.isArray(list)) return refuse('BAD_FILE', `Group "${name}": list its conditions under "all".`);
  const conditions: Condition[] = [];
  for (const [index, entry] of (list as readonly unknown[]).entries()) {
    const condition = conditionFromDeclaration(entry, `Group "${name}", condition ${index + 1}`);
    if (!condition.ok) return condition;
    conditions.push(condition.value);
  }
  return ok(conditions);
};

const groupFrom = (raw: unknown, shape: FieldShape): Result<DependencyGroup> => {
  if (!isMapping(raw)) return refuse('BAD_FILE', 'A group is a mapping: write {group: NAME, all: [conditions]}.');
  const name = raw['group'];
  if (typeof name !== 'string' || !GROUP_NAME.test(name)) {
    return refuse('BAD_FILE', 'A group needs a name under "group": 1 to 100 characters, none of them : / , = @.');
  }
  const reader = readerOf(`Group "${name}"`, raw, shape);
  // A misspelt "all" is told as what it is, not as one that is missing.
  if (raw['all'] === undefined && reader.problem !== null) return { ok: false, problem: reader.problem };
  const conditions = readConditions(raw, name);
  if (!conditions.ok) return conditions;
  const group = outcome(reader, groupOf(reader, name, conditions.value));
  return group.ok ? validateGroup(group.value) : group;
};

/**
 * A dependency group from plain data (contract.md, 4): `{group, all: [conditions], …}`, defaults filled in. Refused with BAD_FILE,
 * BAD_ASSET_KEY or GROUP_NEVER_WAITS and one sentence: unknown fields with the nearest known one, fields that semantics.md knows and
 * this version does not support by name.
 */
export const groupFromDeclaration = (raw: unknown): Result<DependencyGroup> => {
  const group = groupFrom(raw, SHAPE);
  return group.ok ? refuseNeverWaiting(group.value) : group;
};

/** A group that releases a waiting task, which may well wait for reference data alone: nothing fires twice. Refused like a workflow's group. */
export const taskGroupFromDeclaration = (raw: unknown): Result<DependencyGroup> => groupFrom(raw, TASK_SHAPE);
