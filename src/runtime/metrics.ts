import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * What `GET /metrics` shows. The `lakehouse_asset_…` names and labels are those of RFC 6.1; `sluice_…` are the engine's own.
 * A label set never holds what grows without end (run ids, snapshot ids).
 */
export type Metrics = ReturnType<typeof createMetrics>;

const LATENCY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Metrics in a registry of their own: two servers in one process never share a number. */
export function createMetrics() {
  const registry = new Registry();
  const samplers: (() => void | Promise<void>)[] = [];
  return {
    ...assetMetrics(registry),
    ...engineMetrics(registry),
    /** Called before each scrape, to set gauges that are read, not counted. */
    onScrape: (sample: () => void | Promise<void>): void => void samplers.push(sample),
    /** The exposition text; its media type is `contentType`. */
    text: async (): Promise<string> => {
      await Promise.all(samplers.map((sample) => sample()));
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

const counter =
  (registry: Registry) =>
  <L extends string>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> =>
    new Counter({ name, help, labelNames, registers: [registry] });

const gauge =
  (registry: Registry) =>
  <L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> =>
    new Gauge({ name, help, labelNames, registers: [registry] });

const seconds =
  (registry: Registry) =>
  (name: string, help: string): Histogram =>
    new Histogram({ name, help, buckets: LATENCY_BUCKETS, registers: [registry] });

function assetMetrics(registry: Registry) {
  const [count, level] = [counter(registry), gauge(registry)];
  const asset = ['asset_key'] as const;
  const group = ['asset_key', 'workflow_code', 'dependency_group'] as const;
  const name = (rest: string): string => `lakehouse_asset_${rest}`;
  return {
    eventReceived: count(name('event_received_total'), 'Events received.', ['source_type', 'asset_key']),
    eventDeduplicated: count(name('event_deduplicated_total'), 'Events that were known.', ['source_type', 'asset_key']),
    eventInvalid: count(name('event_invalid_total'), 'Events refused.', ['source_type', 'asset_key', 'reason']),
    stateUpdated: count(name('state_updated_total'), 'Times that the state of an asset moved.', asset),
    stateLag: level(name('state_lag_seconds'), 'Age of the newest version.', asset),
    watermarkLag: level(name('watermark_lag_seconds'), 'How far the watermark is behind the clock.', asset),
    dependencyReady: count(name('dependency_ready_total'), 'Times that a group was ready.', group),
    dependencyBlockedBy: level(name('dependency_blocked_by'), 'Groups held up, by what holds them.', [
      ...['asset_key', 'workflow_code', 'blocked_by'],
    ] as const),
    triggerSuccess: count(name('trigger_success_total'), 'Runs triggered.', ['workflow_code', 'trigger_source']),
    triggerFailed: count(name('trigger_failed_total'), 'Triggers that failed.', ['workflow_code', 'reason']),
  };
}

function engineMetrics(registry: Registry) {
  const [count, level, latency] = [counter(registry), gauge(registry), seconds(registry)];
  return {
    commandLag: latency('sluice_command_lag_seconds', 'From a command to its run.'),
    evaluationLag: level(
      'sluice_evaluation_lag_seconds',
      'How long the evaluation of a group that has been due longest is due; 0 if none is.',
    ),
    triggerLatency: latency(
      'sluice_trigger_latency_seconds',
      'From the newest commit that a run or a waiting task needed, as seen, to the start of the first tasks.',
    ),
    scanDuration: latency('sluice_scan_duration_seconds', 'One poll of one asset.'),
    tasksRunning: level('sluice_tasks_running', 'Attempts that run.'),
    tasksWaiting: level('sluice_tasks_waiting', 'Attempts that wait for tables.'),
    leaseAge: level('sluice_lease_age_seconds', 'How long the server that owns the work has owned it.'),
    queueDepth: level('sluice_queue_depth', 'What is due: evaluations, commands, tasks (attempts for a slot).', [
      'queue',
    ]),
    tasksEnded: count('sluice_tasks_ended_total', 'Attempts that ended.', ['state']),
  };
}
