import type { AssetKey } from '../core/asset/key.ts';
import type { Poll } from '../core/asset/poll.ts';
import type { WorkflowRun } from '../core/workflow/run.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { EvaluationReport, RecordReceipt, TaskEnding, TaskOffer, TimedOutWait } from '../store/store.ts';

/** Writes down what the duties did: log lines and numbers, nothing that anybody decides by. */
export interface Observer {
  scanned(key: AssetKey, poll: Poll, ms: number): void;
  recorded(receipt: RecordReceipt): void;
  evaluated(report: EvaluationReport): void;
  timedOut(wait: TimedOutWait): void;
  launched(run: WorkflowRun): void;
  taskStarted(offer: TaskOffer): void;
  taskEnded(offer: TaskOffer, ending: TaskEnding): void;
}

export const createObserver = (log: Log, metrics: Metrics): Observer => ({
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
  evaluated(report) {
    const { workflow, group, fired, released, leaves, changed } = report;
    const who =
      report.task === null ? `group ${group} of ${workflow}` : `task ${report.task} of ${workflow}, group ${group},`;
    if (fired !== null) {
      metrics.triggerSuccess.inc({ workflow_code: workflow, trigger_source: 'asset_event' });
      log.info(`${who} fired`, {
        status: 'TRIGGERED',
        triggerKey: fired.triggerKey,
        workflowInstanceId: fired.runId,
      });
    } else if (released !== null) {
      metrics.triggerSuccess.inc({ workflow_code: workflow, trigger_source: 'asset_sensor' });
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
  },
  timedOut({ workflow, task, runId, taskRunId, outcome, reason }) {
    const ids = { workflowInstanceId: runId, taskInstanceId: taskRunId, status: outcome };
    if (outcome === 'RELEASED')
      log.info(`task ${task} of ${workflow} no longer waits: it was ready when its time was up`, ids);
    else log.warn(`task ${task} of ${workflow}: ${reason}`, ids);
  },
  launched: (run) =>
    log.info('run started', {
      workflowInstanceId: run.id,
      workflowDefinitionCode: run.workflowCode,
      triggerKey: run.triggerKey,
    }),
  taskStarted: (offer) => log.info(`task ${offer.task.name} started`, idsOf(offer)),
  taskEnded(offer, { state, reason }) {
    metrics.tasksEnded.inc({ state });
    log.info(`task ${offer.task.name} ended`, { ...idsOf(offer), status: state, reason });
  },
});

const idsOf = ({ run, task, taskRun }: TaskOffer) => ({
  workflowInstanceId: run.id,
  workflowDefinitionCode: run.workflowCode,
  taskDefinitionCode: task.code,
  taskInstanceId: taskRun.id,
});
