import type { RecordedEvent, StatedEvent } from '../core/asset/event.ts';
import { type AssetKey, assetName } from '../core/asset/key.ts';
import type { Poll } from '../core/asset/poll.ts';
import type { Problem } from '../core/result.ts';
import { type EpochMs, isoTime } from '../core/time.ts';
import type { WorkflowRun } from '../core/workflow/run.ts';
import type { Log, LogFields } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type {
  AdminStore,
  EvaluationReport,
  RecordReceipt,
  StatedReceipt,
  TaskEnding,
  TaskOffer,
  TimedOutWait,
} from '../store/store.ts';

/** Writes down what the duties, and the API's callers, did: log lines and numbers, nothing that anybody decides by. */
export interface Observer {
  scanned(key: AssetKey, poll: Poll, ms: number): void;
  recorded(receipt: RecordReceipt): void;
  stated(events: readonly StatedEvent[], receipts: readonly StatedReceipt[]): void;
  /** Before the store saw them; the key is there if somebody has registered it. */
  refused(refusals: readonly { readonly assetKey: AssetKey | null; readonly problem: Problem }[]): void;
  evaluated(report: EvaluationReport): void;
  timedOut(wait: TimedOutWait): void;
  launched(run: WorkflowRun): void;
  taskStarted(offer: TaskOffer): void;
  taskEnded(offer: TaskOffer, ending: TaskEnding): void;
}

export const createObserver = (log: Log, metrics: Metrics, now: () => EpochMs): Observer => ({
  scanned(_key, _poll, ms) {
    metrics.scanDuration.observe(ms / 1000);
  },
  recorded({ events, target }) {
    const assetKey = target.asset.key;
    if (events.length > 0) metrics.stateUpdated.inc({ asset_key: assetKey });
    for (const event of events) {
      metrics.eventReceived.inc({ source_type: assetName(assetKey).format, asset_key: assetKey });
      log.info(event.sentence, eventFields(event));
    }
  },
  stated(events, receipts) {
    countStated(metrics, events, receipts);
    tellStated(log, events, receipts);
  },
  refused(refusals) {
    for (const { assetKey, problem } of refusals) {
      const source_type = assetKey === null ? '' : assetName(assetKey).format;
      metrics.eventInvalid.inc({ source_type, asset_key: assetKey ?? '', reason: problem.code });
    }
    for (const { assetKey, problem } of refusals.slice(0, MOST_LINES))
      log.info(problem.detail, { assetKey, status: 'REJECTED', reason: problem.code });
  },
  evaluated(report) {
    countDecision(metrics, report);
    tellDecision(log, metrics, report);
  },
  timedOut({ workflow, task, runId, taskRunId, outcome, reason }) {
    const ids = { workflowInstanceId: runId, taskInstanceId: taskRunId, status: outcome };
    if (outcome === 'RELEASED')
      log.info(`task ${task} of ${workflow} no longer waits: it was ready when its time was up`, ids);
    else log.warn(`task ${task} of ${workflow}: ${reason}`, ids);
  },
  launched(run) {
    // A run that is rerun was started long ago.
    if (run.runTimes === 1) metrics.commandLag.observe(secondsBetween(run.startTime, now()));
    log.info('run started', {
      workflowInstanceId: run.id,
      workflowDefinitionCode: run.workflowCode,
      triggerKey: run.triggerKey,
    });
  },
  taskStarted(offer) {
    const seen = seenAt(offer);
    if (seen !== null) metrics.triggerLatency.observe(secondsBetween(seen, now()));
    log.info(`task ${offer.task.name} started`, idsOf(offer));
  },
  taskEnded(offer, { state, reason }) {
    metrics.tasksEnded.inc({ state });
    log.info(`task ${offer.task.name} ended`, { ...idsOf(offer), status: state, reason });
  },
});

const eventFields = (event: StatedEvent & Partial<Pick<RecordedEvent, 'status'>>): LogFields => ({
  assetKey: event.assetKey,
  partitionKey: event.partitionKey,
  snapshotId: event.snapshotId,
  schemaId: event.schemaId,
  watermark: event.watermark === null ? null : isoTime(event.watermark),
  eventType: event.eventType,
  eventId: event.eventId,
  status: event.status ?? null,
});

/** Of more events than these in one request only the numbers are logged, and each event at level debug: a line for each would cost more than the event itself. */
const MOST_LINES = 20;

const tellStated = (log: Log, events: readonly StatedEvent[], receipts: readonly StatedReceipt[]): void => {
  const many = events.length > MOST_LINES;
  for (const [i, stated] of events.entries()) {
    const { status, problem, event } = receipts[i] ?? { status: 'REJECTED', problem: null, event: null };
    const said = status === 'DUPLICATE' ? 'stated once more' : (problem?.detail ?? event?.sentence ?? 'refused');
    const fields = {
      ...eventFields(event ?? stated),
      ...(status === 'ACCEPTED' ? {} : { status }),
      reason: problem?.code ?? null,
    };
    if (many) log.debug(said, fields);
    else log.info(said, fields);
  }
  const count = (status: StatedReceipt['status']) => receipts.filter((receipt) => receipt.status === status).length;
  if (many)
    log.info(
      `${events.length} events stated: ${count('ACCEPTED')} accepted, ${count('DUPLICATE')} stated once more, ${count('REJECTED')} refused`,
    );
};

const tellDecision = (log: Log, metrics: Metrics, report: EvaluationReport): void => {
  const { workflow, group, fired, released, leaves, changed, workflowCode: workflowDefinitionCode } = report;
  const who =
    report.task === null ? `group ${group} of ${workflow}` : `task ${report.task} of ${workflow}, group ${group},`;
  if (fired !== null) {
    metrics.triggerSuccess.inc({ workflow_code: report.workflowCode, trigger_source: 'asset_event' });
    log.info(`${who} fired`, {
      workflowDefinitionCode,
      status: 'TRIGGERED',
      triggerKey: fired.triggerKey,
      workflowInstanceId: fired.runId,
    });
  } else if (released !== null) {
    metrics.triggerSuccess.inc({ workflow_code: report.workflowCode, trigger_source: 'asset_sensor' });
    log.info(`${who} is ready: the task no longer waits`, {
      workflowDefinitionCode,
      status: 'TRIGGERED',
      triggerKey: released.triggerKey,
      workflowInstanceId: released.runId,
      taskInstanceId: released.taskRunId,
    });
  } else if (changed)
    for (const leaf of leaves.filter((one) => !one.met))
      log.info(`${who} waits: ${leaf.needed}; ${leaf.actual}`, {
        workflowDefinitionCode,
        assetKey: leaf.assetKey,
        status: leaf.code,
        reason: leaf.actual,
      });
};

const countStated = (metrics: Metrics, events: readonly StatedEvent[], receipts: readonly StatedReceipt[]): void => {
  for (const [i, { assetKey }] of events.entries()) {
    const receipt = receipts[i];
    if (receipt === undefined) continue;
    const labels = { source_type: assetName(assetKey).format, asset_key: assetKey };
    // A key that nobody registered is no label: senders could make up any number of them.
    if (receipt.status === 'REJECTED')
      metrics.eventInvalid.inc({ ...labels, ...unlessKnown(receipt), reason: receipt.problem?.code ?? 'BAD_EVENT' });
    else metrics.eventReceived.inc(labels);
    if (receipt.status === 'DUPLICATE') metrics.eventDeduplicated.inc(labels);
    if (receipt.status === 'ACCEPTED' && receipt.event?.status === 'RECORDED')
      metrics.stateUpdated.inc({ asset_key: assetKey });
  }
};

const unlessKnown = ({ problem }: StatedReceipt) => (problem?.code === 'UNKNOWN_ASSET' ? { asset_key: '' } : {});

const countDecision = (
  metrics: Metrics,
  { ready, suppressed, leaves, workflowCode, group }: EvaluationReport,
): void => {
  const workflow_code = workflowCode;
  if (suppressed === true) metrics.triggerFailed.inc({ workflow_code, reason: 'duplicate_trigger' });
  if (!ready) return;
  for (const { assetKey } of leaves)
    if (assetKey !== null) metrics.dependencyReady.inc({ asset_key: assetKey, workflow_code, dependency_group: group });
};

/** Sets what is read, not counted, before each scrape. */
export const sampleInto = async (metrics: Metrics, admin: Pick<AdminStore, 'sample'>): Promise<void> => {
  const { now, assets, blocked, evaluationDueAt, claimedAt, ...counts } = await admin.sample();
  // What was removed has no age any more, and holds nothing up.
  metrics.dependencyBlockedBy.reset();
  metrics.stateLag.reset();
  metrics.watermarkLag.reset();
  for (const { key, commitTime, watermark } of assets) {
    const labels = { asset_key: key };
    if (commitTime !== null) metrics.stateLag.set(labels, secondsBetween(commitTime, now));
    if (watermark !== null) metrics.watermarkLag.set(labels, secondsBetween(watermark, now));
  }
  for (const { assetKey, workflowCode, code } of blocked)
    metrics.dependencyBlockedBy.inc({
      asset_key: assetKey ?? '',
      workflow_code: workflowCode,
      blocked_by: code.replace('BLOCKED_BY_', '').toLowerCase(),
    });
  metrics.tasksRunning.set(counts.running);
  metrics.tasksWaiting.set(counts.waiting);
  metrics.evaluationLag.set(evaluationDueAt === null ? 0 : secondsBetween(evaluationDueAt, now));
  metrics.leaseAge.set(claimedAt === null ? 0 : secondsBetween(claimedAt, now));
  const queues = { evaluations: counts.evaluations, commands: counts.commands, tasks: counts.submitted };
  for (const [queue, depth] of Object.entries(queues)) metrics.queueDepth.set({ queue }, depth);
};

const secondsBetween = (from: EpochMs, to: EpochMs): number => Number(to - from) / 1000;

/** When the newest version was seen that this attempt could not have started without; null: no table started it. */
const seenAt = ({ run, task, taskRun, pins }: TaskOffer): EpochMs | null => {
  if (taskRun.attempt > 1 || run.runTimes > 1) return null;
  const released = taskRun.pins.size > 0;
  if (!released && (run.triggerKey === null || task.dependsOn.length > 0 || task.wait !== null)) return null;
  const needed = released ? pins.filter(({ assetKey }) => taskRun.pins.has(assetKey)) : pins;
  const seen = needed.flatMap(({ version }) => (version === null ? [] : [version.recordedAt]));
  return seen.reduce<EpochMs | null>((newest, at) => (newest === null || at > newest ? at : newest), null);
};

const idsOf = ({ run, task, taskRun }: TaskOffer) => ({
  workflowInstanceId: run.id,
  workflowDefinitionCode: run.workflowCode,
  taskDefinitionCode: task.code,
  taskInstanceId: taskRun.id,
});
