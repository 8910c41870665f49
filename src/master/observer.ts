import type { StatedEvent } from '../core/asset/event.ts';
import type { AssetKey } from '../core/asset/key.ts';
import type { Poll } from '../core/asset/poll.ts';
import type { EpochMs } from '../core/time.ts';
import type { WorkflowRun } from '../core/workflow/run.ts';
import type { Log } from '../runtime/log.ts';
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
  evaluated(report: EvaluationReport): void;
  timedOut(wait: TimedOutWait): void;
  launched(run: WorkflowRun): void;
  taskStarted(offer: TaskOffer): void;
  taskEnded(offer: TaskOffer, ending: TaskEnding): void;
}

export const createObserver = (log: Log, metrics: Metrics, now: () => EpochMs): Observer => {
  const blocked = blockedGauge(metrics);
  return observerOf(log, metrics, { now, blocked });
};

interface Helpers {
  readonly now: () => EpochMs;
  readonly blocked: (report: EvaluationReport) => void;
}

const observerOf = (log: Log, metrics: Metrics, { now, blocked }: Helpers): Observer => ({
  scanned(key, _poll, ms) {
    metrics.scanDuration.observe(ms / 1000);
    void key;
  },
  recorded({ events, target }) {
    const assetKey = target.asset.key;
    if (events.length > 0) metrics.stateUpdated.inc({ asset_key: assetKey });
    for (const event of events) {
      metrics.eventReceived.inc({ source_type: event.sourceType.toLowerCase(), asset_key: assetKey });
      const { eventType, snapshotId, schemaId, sentence } = event;
      log.info(sentence, { assetKey, eventType, snapshotId, schemaId, status: event.status });
    }
  },
  stated: (events, receipts) => countStated(metrics, events, receipts),
  evaluated(report) {
    countDecision(metrics, report);
    blocked(report);
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
    if (run.runTimes === 1) metrics.commandLag.observe(Number(now() - run.startTime) / 1000);
    log.info('run started', {
      workflowInstanceId: run.id,
      workflowDefinitionCode: run.workflowCode,
      triggerKey: run.triggerKey,
    });
  },
  taskStarted(offer) {
    const { run, task, taskRun } = offer;
    const isFirst =
      run.triggerKey !== null && run.runTimes === 1 && taskRun.attempt === 1 && task.dependsOn.length === 0;
    if (isFirst) metrics.triggerLatency.observe(Number(now() - run.startTime) / 1000);
    log.info(`task ${task.name} started`, idsOf(offer));
  },
  taskEnded(offer, { state, reason }) {
    metrics.tasksEnded.inc({ state });
    log.info(`task ${offer.task.name} ended`, { ...idsOf(offer), status: state, reason });
  },
});

const tellDecision = (log: Log, metrics: Metrics, report: EvaluationReport): void => {
  const { workflow, group, fired, released, leaves, changed } = report;
  const who =
    report.task === null ? `group ${group} of ${workflow}` : `task ${report.task} of ${workflow}, group ${group},`;
  if (fired !== null) {
    metrics.triggerSuccess.inc({ workflow_code: report.workflowCode, trigger_source: 'asset_event' });
    log.info(`${who} fired`, {
      status: 'TRIGGERED',
      triggerKey: fired.triggerKey,
      workflowInstanceId: fired.runId,
    });
  } else if (released !== null) {
    metrics.triggerSuccess.inc({ workflow_code: report.workflowCode, trigger_source: 'asset_sensor' });
    log.info(`${who} is ready: the task no longer waits`, {
      status: 'TRIGGERED',
      triggerKey: released.triggerKey,
      workflowInstanceId: released.runId,
      taskInstanceId: released.taskRunId,
    });
  } else if (changed)
    for (const leaf of leaves.filter((one) => !one.met))
      log.info(`${who} waits: ${leaf.needed}; ${leaf.actual}`, {
        assetKey: leaf.assetKey,
        status: leaf.code,
      });
};

const countStated = (metrics: Metrics, events: readonly StatedEvent[], receipts: readonly StatedReceipt[]): void => {
  for (const [i, { assetKey, sourceType }] of events.entries()) {
    const receipt = receipts[i];
    if (receipt === undefined) continue;
    const labels = { source_type: sourceType.toLowerCase(), asset_key: assetKey };
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

/** Keeps the number of conditions that hold a group up, by what holds them; a group counts from its first evaluation by this server on. */
const blockedGauge = (metrics: Metrics): ((report: EvaluationReport) => void) => {
  const held = new Map<string, readonly { asset_key: string; workflow_code: number; blocked_by: string }[]>();
  return ({ workflowCode, group, task, leaves }) => {
    if (task !== null) return;
    const name = `${workflowCode}/${group}`;
    for (const labels of held.get(name) ?? []) metrics.dependencyBlockedBy.dec(labels);
    const now = leaves.flatMap(({ assetKey, code }) =>
      code === null
        ? []
        : [
            {
              asset_key: assetKey ?? '',
              workflow_code: workflowCode,
              blocked_by: code.replace('BLOCKED_BY_', '').toLowerCase(),
            },
          ],
    );
    for (const labels of now) metrics.dependencyBlockedBy.inc(labels);
    held.set(name, now);
  };
};

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
  const { now, assets, ...depths } = await admin.sample();
  for (const { key, commitTime, watermark } of assets) {
    const labels = { asset_key: key };
    if (commitTime !== null) metrics.stateLag.set(labels, Number(now - commitTime) / 1000);
    if (watermark !== null) metrics.watermarkLag.set(labels, Number(now - watermark) / 1000);
  }
  metrics.tasksRunning.set(depths.running);
  metrics.tasksWaiting.set(depths.submitted);
  for (const queue of ['evaluations', 'commands'] as const) metrics.queueDepth.set({ queue }, depths[queue]);
};

const idsOf = ({ run, task, taskRun }: TaskOffer) => ({
  workflowInstanceId: run.id,
  workflowDefinitionCode: run.workflowCode,
  taskDefinitionCode: task.code,
  taskInstanceId: taskRun.id,
});
