import { assetName } from '../core/asset/key.ts';
import { ok, refuse, type Result } from '../core/result.ts';
import { render, resolveParameters, type TaskParameters } from '../core/workflow/parameters/parameters.ts';
import type { PinValues } from '../core/workflow/parameters/pin-values.ts';
import { taskContextJson, taskEnvironment, type TaskIdentity } from '../core/workflow/parameters/task-context.ts';
import type { ProcessLaunch } from '../executors/executor.ts';
import type { PinFacts, TaskOffer } from '../store/store.ts';
import type { TaskPlugin } from '../tasks/task.ts';

/** What there is to start for an attempt, once its pins were found readable and its parameters are resolved. NOTHING: it has succeeded as it stands. */
export type Prepared =
  | { readonly kind: 'NOTHING' }
  | { readonly kind: 'PROCESS'; readonly launch: Omit<ProcessLaunch, 'id' | 'runId'> };

export interface PrepareOptions {
  readonly plugin: (type: string) => TaskPlugin | undefined;
  /** Can the pinned version still be read? A table that cannot be asked right now counts as readable. */
  readonly isReadable: (pin: PinFacts) => Promise<boolean>;
}

/**
 * Offer → what to start: pins checked, parameters resolved, script rendered. Refuses with PIN_EXPIRED, UNSAFE_PARAMETER, BAD_PARAMETER or
 * what the task type says; nothing has been started then.
 */
export const prepareAttempt = async (offer: TaskOffer, options: PrepareOptions): Promise<Result<Prepared>> => {
  const plugin = options.plugin(offer.task.type);
  if (plugin === undefined) return refuse('NOT_FOUND', `This server has no task type ${offer.task.type}.`);
  const expired = await firstExpired(offer.pins, options.isReadable);
  if (expired !== null) return refuse('PIN_EXPIRED', expiredSentence(expired));
  const parameters = parametersOf(offer);
  return parameters.ok ? work(offer, plugin, parameters.value) : parameters;
};

const work = (offer: TaskOffer, plugin: TaskPlugin, parameters: TaskParameters): Result<Prepared> => {
  const prepared = plugin.prepare({ params: offer.task.params, render: (text) => render(text, parameters) });
  if (!prepared.ok) return prepared;
  if (prepared.value.kind === 'NOTHING') return ok({ kind: 'NOTHING' });
  const identity = identityOf(offer);
  const { script, cwd } = prepared.value;
  const context = taskContextJson(identity, parameters);
  return ok({ kind: 'PROCESS', launch: { script, cwd, env: taskEnvironment(identity), context } });
};

/** Times count from the schedule time, else the run's start: a retry after midnight is still about the same day. */
const parametersOf = (offer: TaskOffer): Result<TaskParameters> => {
  const { run, workflow, task, taskRun, pins, upstream } = offer;
  const sources = {
    run,
    workflow,
    task,
    taskRun,
    pins: pins.map(pinValues),
    projectParams: [],
    upstream,
    builtIns: {},
    now: run.startTime,
  };
  return resolveParameters(sources);
};

const identityOf = ({ run, workflow, task, taskRun, pins }: TaskOffer): TaskIdentity => ({
  run,
  workflow,
  task,
  taskRun,
  pins: pins.map(pinValues),
});

const pinValues = (facts: PinFacts): PinValues => {
  const { alias, assetKey, pin, version, location, previousSnapshotId, incremental, incrementalReason } = facts;
  return {
    alias,
    assetKey,
    format: assetName(assetKey).format,
    snapshotId: pin.snapshotId,
    ...(version?.readAs === undefined ? {} : { readAs: version.readAs }),
    previousSnapshotId,
    incremental,
    incrementalReason,
    watermark: version?.watermark ?? null,
    schemaId: version?.schemaId ?? null,
    tag: pin.tag ?? null,
    commitTime: version?.commitTime ?? null,
    location,
  };
};

const firstExpired = async (
  pins: readonly PinFacts[],
  isReadable: PrepareOptions['isReadable'],
): Promise<PinFacts | null> => {
  const readable = await Promise.all(pins.map(isReadable));
  return pins.find((_, index) => readable[index] === false) ?? null;
};

const expiredSentence = ({ assetKey, pin }: PinFacts): string =>
  `Version ${pin.snapshotId} of ${assetKey} can no longer be read: the table expired it. Rerun with --repin to take the newest one, or keep the table's snapshots longer.`;
