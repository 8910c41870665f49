import { describe, expect, test } from 'vitest';
import { parseAssetKey } from '../../src/core/asset/key.ts';
import type { AssetKey } from '../../src/core/asset/key.ts';
import { createObserver, sampleInto } from '../../src/master/observer.ts';
import { memoryLog } from '../runtime/memory-log.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import type { RecordReceipt, Sample, TaskOffer } from '../../src/store/store.ts';

const key = (text: string): AssetKey => {
  const parsed = parseAssetKey(text);
  if (!parsed.ok) throw new Error(parsed.problem.detail);
  return parsed.value;
};
const ORDERS = key('paimon://ods/orders');
const RATES = key('iceberg://ref/rates');
const NOW = 1_790_000_010_000n;

const stage = () => {
  const metrics = createMetrics();
  const log = createLog({ level: 'silent', destination: 'stderr', now: () => NOW });
  const lines = async (name: string) =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith(name) && !line.startsWith(`${name}_bucket`));
  return { metrics, observer: createObserver(log, metrics, () => NOW), lines };
};

const pin = (assetKey: AssetKey, recordedAt: bigint) => ({ assetKey, version: { recordedAt } });
const offer = (more: { run?: object; task?: object; taskRun?: object; pins?: readonly object[] } = {}): TaskOffer =>
  ({
    run: { id: 1, workflowCode: 7, triggerKey: 'k', runTimes: 1, startTime: NOW - 100n, ...more.run },
    task: { name: 't', code: 8, dependsOn: [], wait: null, ...more.task },
    taskRun: { id: 9, attempt: 1, pins: new Map(), ...more.taskRun },
    pins: more.pins ?? [pin(ORDERS, NOW - 4_000n), pin(RATES, NOW - 2_500n)],
  }) as unknown as TaskOffer;

describe('the latency of a trigger', () => {
  test('counts from the newest version that the run needed, as seen', async () => {
    const { observer, lines } = stage();
    observer.taskStarted(offer());
    expect(await lines('sluice_trigger_latency_seconds')).toEqual([
      'sluice_trigger_latency_seconds_sum 2.5',
      'sluice_trigger_latency_seconds_count 1',
    ]);
  });

  test('of a task that waited, from what released it', async () => {
    const { observer, lines } = stage();
    const released = { pins: new Map([[ORDERS, {}]]) };
    observer.taskStarted(offer({ run: { triggerKey: null }, task: { wait: {} }, taskRun: released }));
    expect(await lines('sluice_trigger_latency_seconds_sum')).toEqual(['sluice_trigger_latency_seconds_sum 4']);
  });

  test.each([
    ['a run that a person started', { run: { triggerKey: null } }],
    ['a rerun', { run: { runTimes: 2 } }],
    ['a retry', { taskRun: { attempt: 2 } }],
    ['a task behind another', { task: { dependsOn: ['a'] } }],
    ['a task that went on without tables when its time was up', { task: { wait: {} } }],
    ['versions that are no longer known', { pins: [{ assetKey: ORDERS, version: null }] }],
  ])('%s does not count', async (_what, more) => {
    const { observer, lines } = stage();
    observer.taskStarted(offer(more));
    expect(await lines('sluice_trigger_latency_seconds_count')).toEqual(['sluice_trigger_latency_seconds_count 0']);
  });
});

test('events count by the format of their table, as in RFC 6.1', async () => {
  const { observer, lines } = stage();
  observer.recorded({
    kind: 'RECORDED',
    target: { asset: { key: ORDERS } },
    events: [{ sourceType: 'POLL', eventType: 'SNAPSHOT_COMMITTED', sentence: 's', assetKey: ORDERS, watermark: 5n }],
  } as unknown as RecordReceipt);
  expect(await lines('lakehouse_asset_event_received_total')).toEqual([
    'lakehouse_asset_event_received_total{source_type="paimon",asset_key="paimon://ods/orders"} 1',
  ]);
});

test('a scrape shows queues, ages and what waits; of a removed asset nothing', async () => {
  const { metrics, lines } = stage();
  const sample: Sample = {
    now: NOW,
    assets: [{ key: ORDERS, commitTime: NOW - 90_000n, watermark: NOW + 10_000n }],
    evaluations: 3,
    commands: 2,
    running: 4,
    submitted: 5,
    waiting: 6,
    evaluationDueAt: NOW - 1_500n,
    claimedAt: NOW - 60_000n,
    blocked: [
      { workflowCode: 7, assetKey: ORDERS, code: 'BLOCKED_BY_QUALITY' },
      { workflowCode: 7, assetKey: ORDERS, code: 'BLOCKED_BY_QUALITY' },
      { workflowCode: 7, assetKey: null, code: 'BLOCKED_BY_ACTIVE_RUN' },
    ],
  };
  await sampleInto(metrics, { sample: async () => sample });
  for (const [name, value] of [
    ['lakehouse_asset_state_lag_seconds{asset_key="paimon://ods/orders"}', 90],
    ['lakehouse_asset_watermark_lag_seconds{asset_key="paimon://ods/orders"}', -10],
    [
      'lakehouse_asset_dependency_blocked_by{asset_key="paimon://ods/orders",workflow_code="7",blocked_by="quality"}',
      2,
    ],
    ['lakehouse_asset_dependency_blocked_by{asset_key="",workflow_code="7",blocked_by="active_run"}', 1],
    ['sluice_tasks_running', 4],
    ['sluice_tasks_waiting', 6],
    ['sluice_evaluation_lag_seconds', 1.5],
    ['sluice_lease_age_seconds', 60],
    ['sluice_queue_depth{queue="evaluations"}', 3],
    ['sluice_queue_depth{queue="commands"}', 2],
    ['sluice_queue_depth{queue="tasks"}', 5],
  ])
    expect(await lines(String(name))).toEqual([`${name} ${value}`]);
  await sampleInto(metrics, { sample: async () => ({ ...sample, assets: [], blocked: [], evaluationDueAt: null }) });
  expect(await lines('lakehouse_asset_state_lag_seconds')).toEqual([]);
  expect(await lines('lakehouse_asset_dependency_blocked_by')).toEqual([]);
  expect(await lines('sluice_evaluation_lag_seconds')).toEqual(['sluice_evaluation_lag_seconds 0']);
});

test('what was refused before it was known counts, by its table only where somebody registered it', async () => {
  const { observer, lines } = stage();
  const problem = { code: 'BAD_EVENT' as const, detail: 'Say more.' };
  observer.refused([
    { assetKey: null, problem },
    { assetKey: null, problem },
    { assetKey: RATES, problem: { ...problem, code: 'UNKNOWN_ASSET' } },
  ]);
  expect(await lines('lakehouse_asset_event_invalid_total')).toEqual([
    'lakehouse_asset_event_invalid_total{source_type="",asset_key="",reason="BAD_EVENT"} 2',
    'lakehouse_asset_event_invalid_total{source_type="iceberg",asset_key="iceberg://ref/rates",reason="UNKNOWN_ASSET"} 1',
  ]);
});

describe('lines about what was stated', () => {
  const ids = (count: number) => Array.from({ length: count }, (_, i) => String(i + 1));
  const event = (eventId: string) =>
    ({
      assetKey: ORDERS,
      eventType: 'TAG_CREATED',
      eventId,
      snapshotId: '5',
      watermark: null,
      partitionKey: null,
    }) as never;
  const told = (count: number) => {
    const { lines, log } = memoryLog();
    const observer = createObserver(log, createMetrics(), () => NOW);
    const receipts = ids(count).map((_, i) =>
      i === 0
        ? { status: 'REJECTED' as const, problem: { code: 'BAD_EVENT' as const, detail: 'Say more.' }, event: null }
        : { status: 'DUPLICATE' as const, problem: null, event: null },
    );
    observer.stated(ids(count).map(event), receipts);
    return lines.filter(({ level }) => level !== 'debug');
  };

  test('each of a few, with the keys of RFC 6.2', () => {
    expect(told(2)).toEqual([
      expect.objectContaining({
        level: 'info',
        message: 'Say more.',
        assetKey: ORDERS,
        eventType: 'TAG_CREATED',
        eventId: '1',
        snapshotId: '5',
        status: 'REJECTED',
        reason: 'BAD_EVENT',
      }),
      expect.objectContaining({ message: 'stated once more', status: 'DUPLICATE', eventId: '2' }),
    ]);
  });

  test('of many, how many', () => {
    expect(told(21).map(({ message }) => message)).toEqual([
      '21 events stated: 0 accepted, 20 stated once more, 1 refused',
    ]);
  });
});
