import { expect, test } from 'vitest';
import { createMetrics } from '../../src/runtime/metrics.ts';

test('the names and labels are those of RFC 6.1', async () => {
  const metrics = createMetrics();
  const asset_key = 'paimon://a/b';
  metrics.eventReceived.inc({ source_type: 'paimon', asset_key });
  metrics.eventDeduplicated.inc({ source_type: 'paimon', asset_key });
  metrics.eventInvalid.inc({ source_type: 'paimon', asset_key, reason: 'BAD_EVENT' });
  metrics.stateUpdated.inc({ asset_key });
  metrics.dependencyReady.inc({ asset_key, workflow_code: '1', dependency_group: 'g' });
  metrics.dependencyBlockedBy.set({ asset_key, workflow_code: '1', blocked_by: 'quality' }, 1);
  metrics.triggerSuccess.inc({ workflow_code: '1', trigger_source: 'asset_event' });
  metrics.triggerFailed.inc({ workflow_code: '1', reason: 'x' });
  metrics.onScrape(() => metrics.stateLag.set({ asset_key }, 12));
  metrics.onScrape(async () => metrics.watermarkLag.set({ asset_key }, -10));
  const lines = (await metrics.text()).split('\n').filter((line) => /^lakehouse/.test(line));
  expect(lines).toEqual([
    'lakehouse_asset_event_received_total{source_type="paimon",asset_key="paimon://a/b"} 1',
    'lakehouse_asset_event_deduplicated_total{source_type="paimon",asset_key="paimon://a/b"} 1',
    'lakehouse_asset_event_invalid_total{source_type="paimon",asset_key="paimon://a/b",reason="BAD_EVENT"} 1',
    'lakehouse_asset_state_updated_total{asset_key="paimon://a/b"} 1',
    'lakehouse_asset_state_lag_seconds{asset_key="paimon://a/b"} 12',
    'lakehouse_asset_watermark_lag_seconds{asset_key="paimon://a/b"} -10',
    'lakehouse_asset_dependency_ready_total{asset_key="paimon://a/b",workflow_code="1",dependency_group="g"} 1',
    'lakehouse_asset_dependency_blocked_by{asset_key="paimon://a/b",workflow_code="1",blocked_by="quality"} 1',
    'lakehouse_asset_trigger_success_total{workflow_code="1",trigger_source="asset_event"} 1',
    'lakehouse_asset_trigger_failed_total{workflow_code="1",reason="x"} 1',
  ]);
});

test('two sets of metrics share nothing; latencies are histograms in seconds', async () => {
  const [one, two] = [createMetrics(), createMetrics()];
  one.triggerLatency.observe(0.02);
  one.tasksRunning.set(3);
  one.queueDepth.set({ queue: 'groups' }, 5);
  expect(await one.text()).toContain('sluice_trigger_latency_seconds_bucket{le="0.025"} 1');
  expect(await one.text()).toContain('sluice_queue_depth{queue="groups"} 5');
  expect(await two.text()).toContain('sluice_trigger_latency_seconds_count 0');
  expect(one.contentType).toContain('text/plain');
});
