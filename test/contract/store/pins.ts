import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import type { Backend } from './support.ts';
import {
  ORDERS,
  PAYMENTS,
  apply,
  asset,
  commit,
  commits,
  condition,
  finish,
  fires,
  group,
  poll,
  project,
  record,
  runAll,
  startRequest,
  stated,
  workflow,
} from './support.ts';
import { withStore } from './with-store.ts';

const given = async (store: Store, more: Parameters<typeof workflow>[1] = {}): Promise<number> => {
  await apply(store, project({ assets: [asset(ORDERS), asset(PAYMENTS)], workflows: [workflow('w', more)] }));
  return (await store.definitions.workflow('shop', 'w')).code;
};

export const pinSuite = (backend: Backend): void => {
  describe('pins', () => {
    const read = async (store: Store, more: Parameters<typeof workflow>[1] = {}): Promise<number> => {
      const code = await given(store);
      await record(store, ORDERS, poll([]));
      await record(store, PAYMENTS, poll([]));
      await given(store, { groups: [group('g', [condition(ORDERS)])], inputs: [PAYMENTS], ...more });
      return code;
    };
    const pins = async (store: Store, runId: number) =>
      Object.fromEntries([...(await store.runs.get(runId)).run.pins].map(([each, pin]) => [each, pin.snapshotId]));

    test(
      'a manual run is pinned to the newest versions that meet the predicates, and consumes nothing',
      withStore(backend, async ({ store }) => {
        const code = await read(store, { groups: [group('g', [condition(ORDERS, { qualityStatus: 'PASSED' })])] });
        await commits(store, ORDERS, 1, 2);
        await commits(store, PAYMENTS, 5);
        await store.assets.recordStated([stated(ORDERS, { snapshotId: '1', checkName: 'rows' })]);
        const { runId } = await store.runs.start(startRequest(code));
        expect(await pins(store, runId)).toEqual({ [ORDERS]: '1', [PAYMENTS]: '5' });
        expect(await fires(store)).toHaveLength(1);
      }),
    );

    test(
      'consume takes the versions from the groups',
      withStore(backend, async ({ store }) => {
        const code = await read(store);
        await commits(store, ORDERS, 1);
        await store.runs.start(startRequest(code, { consume: true }));
        await apply(store, project({ workflows: [workflow('bare')] }));
        const bare = (await store.definitions.workflow('shop', 'bare')).code;
        await expect(store.runs.start(startRequest(bare, { consume: true }))).rejects.toMatchObject({
          code: 'BAD_REQUEST',
          message: 'Leave out consume: workflow bare has no group that could consume.',
        });
        expect(await fires(store)).toEqual([]);
        expect((await store.groups.explain(code)).groups[0]?.consumed.get(ORDERS)?.snapshotId).toBe('1');
      }),
    );

    test(
      'a version or a tag that was asked for',
      withStore(backend, async ({ store }) => {
        const code = await read(store);
        const tagged = { tags: { eod: '1' }, tagChanges: [{ tag: 'eod', snapshotId: '1', before: null }] };
        await record(store, ORDERS, poll([commit(1), commit(2)], tagged));
        const byId = await store.runs.start(startRequest(code, { pins: new Map([[ORDERS, { snapshotId: '1' }]]) }));
        expect(await pins(store, byId.runId)).toEqual({ [ORDERS]: '1' });
        const byTag = await store.runs.start(startRequest(code, { pins: new Map([[ORDERS, { tag: 'eod' }]]) }));
        expect((await store.runs.get(byTag.runId)).run.pins.get(ORDERS)).toEqual({
          snapshotId: '1',
          epoch: 1,
          ordinal: 1,
          tag: 'eod',
        });
      }),
    );

    test(
      'a pin that names nothing readable is refused',
      withStore(backend, async ({ store }) => {
        const code = await read(store);
        await commits(store, ORDERS, 1, 2);
        await record(store, ORDERS, poll([], { outcome: { kind: 'ROLLBACK', to: '1', restored: commit(1) } }));
        const start = (assetKey: typeof ORDERS, pin: { snapshotId: string } | { tag: string }) =>
          store.runs.start(startRequest(code, { pins: new Map([[assetKey, pin]]) }));
        await expect(start(ORDERS, { snapshotId: '9' })).rejects.toMatchObject({ code: 'BAD_PIN' });
        await expect(start(ORDERS, { snapshotId: '2' })).rejects.toMatchObject({
          code: 'BAD_PIN',
          message: expect.stringMatching(/rewind/),
        });
        await expect(start(ORDERS, { tag: 'none' })).rejects.toMatchObject({ code: 'BAD_PIN' });
        await given(store, { groups: [group('g', [condition(ORDERS)])] });
        await expect(start(PAYMENTS, { snapshotId: '1' })).rejects.toMatchObject({
          code: 'BAD_PIN',
          message: expect.stringMatching(/does not read/),
        });
        expect((await store.runs.list({}, {})).items).toEqual([]);
      }),
    );

    test(
      'what was read before by a run that succeeded',
      withStore(backend, async ({ store }) => {
        await read(store, { groups: [group('g', [condition(ORDERS, { alias: 'o' })])] });
        const next = async (state: 'SUCCESS' | 'FAILURE') => {
          await fires(store);
          await store.runs.launch(10);
          const [offer] = await store.runs.dispatch(10);
          await finish(store, offer!, state);
          return offer!.pins[0];
        };
        await commits(store, ORDERS, 1);
        expect(await next('SUCCESS')).toMatchObject({
          alias: 'o',
          location: asset(ORDERS).location,
          previousSnapshotId: null,
          incremental: false,
          version: { snapshotId: '1' },
        });
        await commits(store, ORDERS, 2);
        expect(await next('FAILURE')).toMatchObject({
          previousSnapshotId: '1',
          incremental: true,
          incrementalReason: null,
        });
        await commits(store, ORDERS, 3);
        expect(await next('SUCCESS')).toMatchObject({
          pin: { snapshotId: '3' },
          previousSnapshotId: '1',
          incremental: true,
        });
        await record(store, ORDERS, poll([commit(6), commit(7)], { outcome: { kind: 'GAP', from: '4', to: '5' } }));
        expect(await next('SUCCESS')).toMatchObject({
          previousSnapshotId: '3',
          incremental: false,
          incrementalReason: expect.stringMatching(/expired/),
        });
        await commits(store, ORDERS, 8);
        expect(await next('SUCCESS')).toMatchObject({ previousSnapshotId: '7', incremental: true });
        await record(store, ORDERS, poll([commit(1)], { outcome: { kind: 'RECREATED' } }));
        expect(await next('SUCCESS')).toMatchObject({
          previousSnapshotId: null,
          incremental: false,
          incrementalReason: expect.stringMatching(/again/),
        });
      }),
    );

    test(
      'rerun keeps the pins, repin takes new ones',
      withStore(backend, async ({ store }) => {
        const code = await read(store);
        await commits(store, ORDERS, 1);
        const { runId } = await store.runs.start(startRequest(code));
        await runAll(store);
        await commits(store, ORDERS, 2);
        await store.runs.operate(runId, 'RERUN', { repin: false });
        await runAll(store);
        expect(await pins(store, runId)).toEqual({ [ORDERS]: '1' });
        await store.runs.operate(runId, 'RERUN', { repin: true });
        expect(await pins(store, runId)).toEqual({ [ORDERS]: '2' });
      }),
    );
  });
};
