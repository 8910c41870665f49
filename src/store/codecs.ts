import type { Condition, Leaf } from '../core/asset/condition.ts';
import type { DependencyGroup } from '../core/asset/group.ts';
import type { AssetKey } from '../core/asset/key.ts';
import type { Pin, Pins } from '../core/asset/version.ts';
import type { Parameter, TaskWait } from '../core/workflow/definition.ts';
import type { CommandType, TaskDependType, WorkflowRun } from '../core/workflow/run.ts';

/** Numbers and words of the domain ↔ what columns hold. JSON columns hold plain JSON: 64-bit values in them are decimal text. */

export const big = (value: number): bigint => BigInt(value);
export const bigOrNull = (value: number | null): bigint | null => (value === null ? null : BigInt(value));
/** For ids, codes and counters of ours, all below 2^53. */
export const num = (value: bigint): number => Number(value);
export const numOrNull = (value: bigint | null): number | null => (value === null ? null : Number(value));

export const flag = (value: boolean): bigint => (value ? 1n : 0n);
export const isSet = (value: bigint): boolean => value === 1n;
export const optionalFlag = (value: boolean | null | undefined): bigint | null =>
  value === undefined || value === null ? null : flag(value);
export const flagOrNull = (value: bigint | null): boolean | null => (value === null ? null : isSet(value));

export const text = (value: unknown): string => JSON.stringify(value);
export const parse = <T>(json: string): T => JSON.parse(json) as T;

/** Most groups are set up alike, so that a few texts stand for nearly all of them. */
const settings = new Map<string, GroupSettings>();
const MOST_SETTINGS = 1_000;

export const settingsOf = (json: string): GroupSettings => {
  const known = settings.get(json);
  if (known !== undefined) return known;
  if (settings.size >= MOST_SETTINGS) settings.clear();
  const parsed = parse<GroupSettings>(json);
  settings.set(json, parsed);
  return parsed;
};

/** A text that is the same for equal values, whatever the order of their keys. */
export const canonical = (value: unknown): string => {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`)
    .join(',')}}`;
};

/** A fixed list of names as integers and back; throws for an integer that the list does not have (a newer Sluice wrote it). */
const coded = <N extends string>(what: string, codes: Readonly<Record<N, number>>) => {
  const names = new Map(Object.entries<number>(codes).map(([name, code]) => [code, name as N]));
  return {
    code: (name: N): bigint => BigInt(codes[name]),
    name: (code: bigint): N => {
      const name = names.get(Number(code));
      if (name === undefined) throw new Error(`The database holds ${what} ${code}, which this Sluice does not know.`);
      return name;
    },
  };
};

// DolphinScheduler's codes (facts/dolphinscheduler.md 2.1, 2.6); ASSET_EVENT_TRIGGER is ours, clear of its 0 to 13.
export const commandTypes = coded<CommandType>('command type', {
  START_PROCESS: 0,
  RECOVER_SUSPENDED_PROCESS: 3,
  START_FAILURE_TASK_PROCESS: 4,
  REPEAT_RUNNING: 7,
  ASSET_EVENT_TRIGGER: 20,
});
export const dependTypes = coded<TaskDependType>('task depend type', { TASK_ONLY: 0, TASK_PRE: 1, TASK_POST: 2 });
export const failureStrategies = coded<WorkflowRun['failureStrategy']>('failure strategy', { END: 0, CONTINUE: 1 });
export const releaseStates = coded<'ONLINE' | 'OFFLINE'>('release state', { OFFLINE: 0, ONLINE: 1 });

export const pinsJson = (pins: Pins): string => text(Object.fromEntries(pins));
export const pinsOf = (json: string): Pins =>
  new Map(Object.entries(parse<Record<AssetKey, Pin>>(json)) as [AssetKey, Pin][]);

/** As DolphinScheduler writes its var_pool; values are texts here. */
export const outputsJson = (outputs: readonly Parameter[]): string | null =>
  outputs.length === 0 ? null : text(outputs.map((one) => ({ ...one, type: 'VARCHAR' })));
export const outputsOf = (json: string | null): readonly Parameter[] =>
  json === null ? [] : parse<readonly Parameter[]>(json).map(({ prop, direct, value }) => ({ prop, direct, value }));

const longText = (value: bigint | null): string | null => (value === null ? null : value.toString());
const longOf = (value: string | null): bigint | null => (value === null ? null : BigInt(value));

export const leavesJson = (leaves: readonly Leaf[]): string =>
  text(leaves.map((leaf) => ({ ...leaf, since: leaf.since.toString() })));
export const leavesOf = (json: string): readonly Leaf[] =>
  parse<(Omit<Leaf, 'since'> & { since: string })[]>(json).map((leaf) => ({ ...leaf, since: BigInt(leaf.since) }));

type WrittenCondition = Omit<Condition, 'watermarkGte' | 'minAddedRecords'> & {
  readonly watermarkGte: string | null;
  readonly minAddedRecords: string | null;
};

const writtenCondition = (condition: Condition): WrittenCondition => ({
  ...condition,
  watermarkGte: longText(condition.watermarkGte),
  minAddedRecords: longText(condition.minAddedRecords),
});
const readCondition = (written: WrittenCondition): Condition => ({
  ...written,
  watermarkGte: longOf(written.watermarkGte),
  minAddedRecords: longOf(written.minAddedRecords),
});

export const conditionJson = (condition: Condition): string => text(writtenCondition(condition));
export const conditionOf = (json: string): Condition => readCondition(parse<WrittenCondition>(json));

/** A group without its conditions, which are rows of their own. */
export type GroupSettings = Omit<DependencyGroup, 'conditions'>;
export const settingsJson = ({ conditions: _, ...settings }: DependencyGroup): string => text(settings);

type WrittenGroup = GroupSettings & { readonly conditions: readonly WrittenCondition[] };
const writtenGroup = (group: DependencyGroup): WrittenGroup => ({
  ...group,
  conditions: group.conditions.map(writtenCondition),
});
const readGroup = (group: WrittenGroup): DependencyGroup => ({
  ...group,
  conditions: group.conditions.map(readCondition),
});

export const groupsJson = (groups: readonly DependencyGroup[]): string => text(groups.map(writtenGroup));
export const groupsOf = (json: string): readonly DependencyGroup[] =>
  parse<readonly WrittenGroup[]>(json).map(readGroup);

/** What a task waits for; null: nothing. */
export const waitJson = (wait: TaskWait | null): string | null =>
  wait === null ? null : text({ ...wait, groups: wait.groups.map(writtenGroup) });
export const waitOf = (json: string | null): TaskWait | null => {
  if (json === null) return null;
  const wait = parse<Omit<TaskWait, 'groups'> & { readonly groups: readonly WrittenGroup[] }>(json);
  return { ...wait, groups: wait.groups.map(readGroup) };
};
