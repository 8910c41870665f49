import { ok, refuse } from '../../result.ts';
import type { Result } from '../../result.ts';
import type { EpochMs } from '../../time.ts';
import { formatLocal } from './date-pattern.ts';
import { nearest } from '../../nearest.ts';
import type { Parameter, TaskDefinition, WorkflowDefinition } from '../definition.ts';
import { isSafeInScript, pinParameters } from './pin-values.ts';
import type { PinValues } from './pin-values.ts';
import { expand, expandParameter } from './placeholders.ts';
import type { Expanded, Named } from './placeholders.ts';
import type { TaskRun, WorkflowRun } from '../run.ts';
import { replaceTimes } from './time-expression.ts';
import type { TimeBase } from './time-expression.ts';
import { isTimezone, toLocal } from './zone.ts';

/** A parameter as somebody declared it. Value null (as DolphinScheduler's exports can hold it): declared, but without a value. */
export interface DeclaredParameter {
  readonly prop: string;
  readonly direct: 'IN' | 'OUT';
  readonly value: string | null;
}

/** Everything that gives a task its parameters. */
export interface ParameterSources {
  readonly run: Pick<WorkflowRun, 'id' | 'params' | 'scheduleTime' | 'triggerKey' | 'triggerGroup'>;
  readonly workflow: Pick<WorkflowDefinition, 'code' | 'name' | 'projectCode' | 'projectName' | 'timezone'> & {
    readonly globalParams: readonly DeclaredParameter[];
  };
  readonly task: Pick<TaskDefinition, 'code' | 'name'> & { readonly localParams: readonly DeclaredParameter[] };
  readonly taskRun: Pick<TaskRun, 'id'>;
  readonly projectParams: readonly DeclaredParameter[];
  /** What the tasks before this one gave out, merged (mergeUpstream). */
  readonly upstream: readonly Parameter[];
  readonly pins: readonly PinValues[];
  /** More built-in ones, such as `system.task.execute.path`. */
  readonly builtIns: Readonly<Record<string, string>>;
  /** Stands for the schedule time of a run that has none. */
  readonly now: EpochMs;
}

/** A resolved parameter: no placeholder that could be replaced is left in it. */
export interface ParameterValue {
  readonly text: string | null;
  /** The parameter from outside whose characters keep this one out of scripts; null: it may be put into one. */
  readonly unsafe: string | null;
}

/** What `render` needs: the parameters, and the time that `$[…]` counts from. */
export interface TaskParameters {
  readonly values: ReadonlyMap<string, ParameterValue>;
  readonly base: TimeBase;
}

/**
 * The parameters of one attempt. Strongest first: upstream output (only for a name that something else declares, and not over a local
 * parameter that is OUT), start, local, global, project, built-in (facts/dolphinscheduler.md 0 and 2.7). `asset.*` and `trigger.*` are facts
 * and hidden by nothing. Placeholders and time expressions in values are resolved; BAD_PARAMETER if one cannot be.
 */
export function resolveParameters(sources: ParameterSources): Result<TaskParameters> {
  const { run, workflow, now } = sources;
  if (!isTimezone(workflow.timezone))
    return refuse(
      'BAD_PARAMETER',
      `The workflow's time zone ${workflow.timezone} is unknown: use a name such as Asia/Shanghai.`,
    );
  const base: TimeBase = { at: run.scheduleTime ?? now, timezone: workflow.timezone };
  const declared = declaredParameters(sources, base);
  const values = new Map<string, ParameterValue>();
  for (const [name, { text, literal, unsafe }] of declared) {
    const value =
      text === null || literal
        ? ok({ text, unsafe })
        : withTimes(
            expandParameter(name, (one) => declared.get(one)),
            base,
          );
    if (!value.ok) return value;
    values.set(name, value.value);
  }
  return ok({ values, base });
}

function declaredParameters(sources: ParameterSources, base: TimeBase): ReadonlyMap<string, Named> {
  const { run, workflow, task, upstream, projectParams } = sources;
  const declared = new Map<string, Named>();
  const declare = (name: string, text: string | null): unknown =>
    declared.set(name, { text, literal: false, unsafe: null });
  for (const [name, text] of Object.entries(builtInsOf(sources, base))) declare(name, text);
  for (const { prop, value } of [...projectParams, ...workflow.globalParams, ...task.localParams]) declare(prop, value);
  for (const [name, text] of Object.entries(run.params)) declare(name, text);
  const givesOut = new Set(task.localParams.filter(({ direct }) => direct === 'OUT').map(({ prop }) => prop));
  for (const { prop, value } of upstream) {
    if (!declared.has(prop) || givesOut.has(prop)) continue;
    declared.set(prop, { text: value, literal: false, unsafe: isSafeInScript(value) ? null : prop });
  }
  declare('system.datetime', businessTimes(base)['system.datetime']);
  for (const [name, fact] of outsideFacts(sources)) declared.set(name, fact);
  return declared;
}

/** Where the values of tables and triggers are taken as they are. */
function outsideFacts({ run, pins }: ParameterSources): ReadonlyMap<string, Named> {
  const fact = (name: string, text: string, safe: boolean): [string, Named] => [
    name,
    { text, literal: true, unsafe: safe ? null : name },
  ];
  const trigger = { 'trigger.key': run.triggerKey ?? '', 'trigger.group': run.triggerGroup ?? '' };
  return new Map([
    ...Object.entries(trigger).map(([name, text]) => fact(name, text, isSafeInScript(text))),
    ...pins.flatMap((pin) =>
      pinParameters(pin).map(({ name, text, safe }) => fact(`asset.${pin.alias}.${name}`, text, safe)),
    ),
  ]);
}

const builtInsOf = (
  { run, workflow, task, taskRun, builtIns }: ParameterSources,
  base: TimeBase,
): Readonly<Record<string, string>> => ({
  ...businessTimes(base),
  'system.project.name': workflow.projectName,
  'system.project.code': String(workflow.projectCode),
  'system.workflow.definition.name': workflow.name,
  'system.workflow.definition.code': String(workflow.code),
  'system.workflow.instance.id': String(run.id),
  'system.task.definition.name': task.name,
  'system.task.definition.code': String(task.code),
  'system.task.instance.id': String(taskRun.id),
  ...builtIns,
});

const DAY_MS = 86_400_000;

export type BusinessTimes = Readonly<Record<'system.biz.date' | 'system.biz.curdate' | 'system.datetime', string>>;

/** The day before the base time, its day, and the time itself, in the base's time zone. */
export function businessTimes({ at, timezone }: TimeBase): BusinessTimes {
  const local = toLocal(timezone, at);
  const write = (time: number, pattern: string): string => {
    const text = formatLocal(time, pattern);
    return text.ok ? text.value : ''; // the two patterns below can always be written
  };
  return {
    'system.biz.date': write(local - DAY_MS, 'yyyyMMdd'),
    'system.biz.curdate': write(local, 'yyyyMMdd'),
    'system.datetime': write(local, 'yyyyMMddHHmmss'),
  };
}

/** A text with its placeholders and then its time expressions replaced; `unsafe` as in ParameterValue. */
export const resolveText = (text: string, declared: ReadonlyMap<string, Named>, base: TimeBase): Result<Expanded> =>
  withTimes(
    expand(text, (name) => declared.get(name)),
    base,
  );

function withTimes(expanded: Result<Expanded>, base: TimeBase): Result<Expanded> {
  if (!expanded.ok) return expanded;
  const timed = replaceTimes(expanded.value.text, base);
  return timed.ok ? ok({ ...expanded.value, text: timed.value }) : timed;
}

/**
 * A script or another text with `${name}` and `$[…]` replaced; names that no parameter has stay as they are. UNSAFE_PARAMETER if a value that
 * came from outside (asset.*, trigger.*, upstream output, or a parameter made of one) holds other characters than `A-Z a-z 0-9 . _ : / = @ + -`
 * and spaces; BAD_PARAMETER for a time expression that means nothing, and for an `asset.*` or `trigger.*` that is not there: no shell has a
 * variable of such a name.
 */
export function render(text: string, { values, base }: TaskParameters): Result<string> {
  const named = new Map([...values].map(([name, value]) => [name, { ...value, literal: true }]));
  const done = resolveText(text, named, base);
  if (!done.ok) return done;
  const { unsafe } = done.value;
  const unknown = unsafe === null ? UNRESOLVED.exec(done.value.text)?.[1] : undefined;
  if (unknown !== undefined) return refuse('BAD_PARAMETER', unknownFact(unknown, [...values.keys()]));
  if (unsafe === null) return ok(done.value.text);
  return refuse(
    'UNSAFE_PARAMETER',
    `The value of ${unsafe} holds characters that could change the script: read it from its environment variable or from $SLUICE_CONTEXT.`,
  );
}

const UNRESOLVED = /\$\{\s*((?:asset|trigger)\.[^{}]*?)\s*\}/;

/** Why the run has nothing under this name, and what it has. */
const unknownFact = (name: string, known: readonly string[]): string => {
  const [kind, alias = ''] = name.split('.');
  if (kind === 'trigger') return `\${${name}} has no value: use \${trigger.key} or \${trigger.group}.`;
  const facts = known.filter((one) => one.startsWith(`asset.${alias}.`));
  if (facts.length > 0) {
    const meant = nearest(name, facts);
    const hint = meant === undefined ? `there are ${facts.join(', ')}` : `did you mean \${${meant}}?`;
    return `\${${name}} has no value: ${hint}`;
  }
  const aliases = [
    ...new Set(known.flatMap((one) => (one.startsWith('asset.') ? one.split('.')[1] : undefined) ?? [])),
  ];
  const pinned = aliases.length === 0 ? 'none is' : `pinned are ${aliases.join(', ')}`;
  return `\${${name}} has no value: this run has pinned no asset under the alias "${alias}" (${pinned}); correct the alias, or start the run with --pin.`;
};

/** What a run keeps as its global parameters: the workflow's, with the values that the start gave for them. */
export const globalParametersOf = <P extends DeclaredParameter>(
  globals: readonly P[],
  start: Readonly<Record<string, string>>,
): readonly P[] => globals.map((one) => ({ ...one, value: start[one.prop] ?? one.value }));
