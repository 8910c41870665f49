import { describe, expect, test } from 'vitest';
import type { Backend } from './support.ts';
import {
  ORDERS,
  PAYMENTS,
  apply,
  asset,
  commit,
  commits,
  condition,
  fires,
  group,
  key,
  poll,
  project,
  record,
  task,
  workflow,
} from './support.ts';
import { withStore } from './with-store.ts';

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `t${i}`);

export const definitionSuite = (backend: Backend): void => {
  describe('definitions', () => {
    const orders = project({
      assets: [asset(ORDERS)],
      workflows: [
        workflow('trade', {
          groups: [group('g', [condition(ORDERS)])],
          tasks: [task('a'), task('b', ['a']), task('c', ['a', 'b'])],
        }),
      ],
    });

    test(
      'what was applied is read back as it was declared',
      withStore(backend, async ({ store }) => {
        const groups = [
          group('g', [
            condition(ORDERS, { watermarkGte: 9_223_372_036_854_775_807n, minAddedRecords: 9_007_199_254_740_993n }),
          ]),
        ];
        const declared = workflow('trade', {
          groups,
          description: 'Trade "facts"',
          releaseState: 'OFFLINE',
          globalParams: [{ prop: 'dt', direct: 'IN', value: '$[yyyy-MM-dd]' }],
          inputs: [PAYMENTS],
          tasks: [
            task('z', [], {
              params: { rawScript: 'echo ü\n' },
              timeoutSeconds: 60,
              failRetryTimes: 3,
              failRetryIntervalSeconds: 5,
              flag: 'NO',
            }),
            task('a', ['z'], {
              outputs: [ORDERS],
              inputs: [PAYMENTS],
              localParams: [{ prop: 'x', direct: 'OUT', value: '' }],
            }),
            task('m', ['a', 'z']),
          ],
        });
        await apply(store, project({ workflows: [declared] }));
        const read = await store.definitions.workflow('shop', 'trade');
        expect(read).toMatchObject({ ...declared, version: 1, projectName: 'shop', tasks: declared.tasks });
        expect(await store.definitions.workflow(null, String(read.code))).toEqual(read);
        expect(await store.definitions.workflows(null)).toEqual([read]);
      }),
    );

    test(
      'applying the same again changes nothing and makes no version',
      withStore(backend, async ({ store }) => {
        await apply(store, orders);
        const plan = await apply(store, orders);
        expect(plan.lines.map((line) => line.action)).toEqual(['UNCHANGED', 'UNCHANGED', 'UNCHANGED']);
        expect((await store.definitions.workflow('shop', 'trade')).version).toBe(1);
      }),
    );

    test(
      'a changed workflow gets a new version in which tasks keep their codes by name',
      withStore(backend, async ({ store }) => {
        await apply(store, project({ workflows: [workflow('w', { tasks: [task('a'), task('b', ['a'])] })] }));
        const first = await store.definitions.workflow(null, 'w');
        const plan = await apply(
          store,
          project({ workflows: [workflow('w', { tasks: [task('b', [], { description: 'new' }), task('c')] })] }),
        );
        expect(plan.lines).toEqual([
          {
            kind: 'WORKFLOW',
            name: 'w',
            action: 'UPDATE',
            details: ['adds task c', 'removes task a', 'changes task b'],
          },
        ]);
        await apply(store, project({ workflows: [workflow('w', { tasks: [task('a'), task('b')] })] }));
        const third = await store.definitions.workflow(null, 'w');
        expect(third.version).toBe(3);
        expect(third.tasks.map(({ name, code }) => [name, code])).toEqual(
          first.tasks.map(({ name, code }) => [name, code]),
        );
      }),
    );

    test(
      'a dry run says what would change and writes nothing',
      withStore(backend, async ({ store }) => {
        const plan = await store.definitions.apply(orders, { dryRun: true, strict: false });
        expect(plan).toMatchObject({ dryRun: true, project: 'shop' });
        expect(plan.lines.map((line) => line.action)).toEqual(['CREATE', 'CREATE', 'CREATE']);
        expect(await store.definitions.projects()).toEqual([]);
        expect(await store.assets.list(null)).toEqual([]);
        await apply(store, orders);
        expect((await store.definitions.workflow('shop', 'trade')).code).toBe(1);
      }),
    );

    test(
      'one bad workflow refuses the whole file',
      withStore(backend, async ({ store }) => {
        const circle = workflow('bad', { tasks: [task('a', ['b']), task('b', ['a'])] });
        await expect(apply(store, { ...orders, workflows: [...orders.workflows, circle] })).rejects.toMatchObject({
          code: 'WORKFLOW_CYCLE',
        });
        const never = workflow('bad', { groups: [group('g', [condition(ORDERS, { snapshotRequired: false })])] });
        await expect(apply(store, { ...orders, workflows: [never] })).rejects.toMatchObject({
          code: 'GROUP_NEVER_WAITS',
        });
        await expect(apply(store, project({ workflows: [workflow('w'), workflow('w')] }))).rejects.toMatchObject({
          code: 'BAD_FILE',
        });
        expect(await store.definitions.projects()).toEqual([]);
      }),
    );

    test(
      'an unknown asset is a warning, and refused when strict',
      withStore(backend, async ({ store }) => {
        const declaration = project({ workflows: [workflow('w', { groups: [group('g', [condition(ORDERS)])] })] });
        expect((await apply(store, declaration)).warnings).toEqual([
          `Group g of workflow w names ${ORDERS}, which is not registered: declare it under assets.`,
        ]);
        const strict = store.definitions.apply(declaration, { dryRun: false, strict: true });
        await expect(strict).rejects.toMatchObject({ code: 'UNKNOWN_ASSET' });
      }),
    );

    test(
      'an asset belongs to the project that registered it first',
      withStore(backend, async ({ store }) => {
        await apply(store, orders);
        await expect(apply(store, project({ project: 'other', assets: [asset(ORDERS)] }))).rejects.toMatchObject({
          code: 'BAD_FILE',
        });
        await apply(store, project({ project: 'other', workflows: [workflow('trade')] }));
        expect(await store.assets.owners([ORDERS, PAYMENTS])).toEqual(new Map([[ORDERS, 'shop']]));
        await expect(store.definitions.workflow(null, 'trade')).rejects.toMatchObject({ code: 'NOT_FOUND' });
        expect((await store.definitions.workflow('other', 'trade')).projectName).toBe('other');
      }),
    );

    test(
      'keys with percent-encoding are different assets, however alike',
      withStore(backend, async ({ store }) => {
        const keys = [
          key('paimon://ods/a%2Fb'),
          key('paimon://ods/A%2Fb'),
          key('paimon://ods/a%20'),
          key('paimon://ods/a'),
        ];
        await apply(store, project({ assets: keys.map((each) => asset(each)) }));
        await commits(store, keys[0] ?? ORDERS, 7);
        expect((await store.assets.list('shop')).map((row) => [row.asset.key, row.state.lastOrdinal])).toEqual(
          keys.toSorted().map((each) => [each, each === keys[0] ? 1 : 0]),
        );
      }),
    );

    test(
      'a thousand tasks in one workflow',
      withStore(backend, async ({ store }) => {
        const tasks = names(1_000).map((name, i, all) => task(name, i === 0 ? [] : [all[i - 1] ?? '']));
        await apply(store, project({ workflows: [workflow('long', { tasks })] }));
        expect((await store.definitions.workflow(null, 'long')).tasks.map(({ name }) => name)).toEqual(names(1_000));
      }),
    );
  });

  describe('where a group begins', () => {
    const declared = (startFrom: Parameters<typeof group>[2], keys = [ORDERS]) =>
      project({
        workflows: [
          workflow('w', {
            groups: [
              group(
                'g',
                keys.map((each) => condition(each)),
                startFrom,
              ),
            ],
          }),
        ],
      });
    const begins = async (store: Parameters<typeof apply>[0], more: Parameters<typeof group>[2] = {}) =>
      (await apply(store, declared(more))).lines.find((line) => line.kind === 'GROUP')?.details;

    test(
      'NEXT: after the last recorded version',
      withStore(backend, async ({ store }) => {
        await apply(store, project({ assets: [asset(ORDERS)] }));
        await commits(store, ORDERS, 4, 5);
        expect(await begins(store)).toEqual([`${ORDERS}: begins after snapshot 5`]);
        expect(await fires(store)).toEqual([]);
        await commits(store, ORDERS, 6);
        expect((await fires(store)).map((fire) => fire.pins.get(ORDERS)?.snapshotId)).toEqual(['6']);
      }),
    );

    test(
      'CURRENT: fires once for what is there',
      withStore(backend, async ({ store }) => {
        await apply(store, project({ assets: [asset(ORDERS)] }));
        await commits(store, ORDERS, 4, 5);
        expect(await begins(store, { startFrom: 'CURRENT' })).toEqual([`${ORDERS}: begins with what is there now`]);
        expect((await fires(store)).map((fire) => fire.pins.get(ORDERS)?.snapshotId)).toEqual(['5']);
        expect(await fires(store)).toEqual([]);
      }),
    );

    test(
      'a version per asset, which must be recorded',
      withStore(backend, async ({ store }) => {
        await apply(store, project({ assets: [asset(ORDERS)] }));
        await commits(store, ORDERS, 4, 5, 6);
        await expect(begins(store, { startFrom: { [ORDERS]: '9' } })).rejects.toMatchObject({ code: 'BAD_FILE' });
        expect(await begins(store, { startFrom: { [ORDERS]: '5' } })).toEqual([`${ORDERS}: begins after snapshot 5`]);
        expect((await fires(store)).map((fire) => fire.pins.get(ORDERS)?.snapshotId)).toEqual(['6']);
      }),
    );

    test(
      'a table that is known not to exist yet: its first commit counts',
      withStore(backend, async ({ store }) => {
        await apply(store, project({ assets: [asset(ORDERS)] }));
        await record(store, ORDERS, poll([]));
        expect(await begins(store)).toEqual([`${ORDERS}: begins with its first commit`]);
        await commits(store, ORDERS, 1);
        expect(await fires(store)).toHaveLength(1);
      }),
    );

    test(
      'a table never read: the first read decides, what was committed since the group was made counts',
      withStore(backend, async ({ store, clock }) => {
        await apply(store, project({ assets: [asset(ORDERS)] }));
        expect(await begins(store)).toEqual([`${ORDERS}: begins when the table has first been read`]);
        expect(await settle1(store)).toMatchObject({ ready: false });
        const old = clock.now() - 3_600_000n;
        await record(store, ORDERS, poll([commit(1, { commitTime: old }), commit(2, { commitTime: old })]));
        expect(await fires(store)).toEqual([]);
        await commits(store, ORDERS, 3);
        expect((await fires(store)).map((fire) => fire.pins.get(ORDERS)?.snapshotId)).toEqual(['3']);
      }),
    );

    test(
      'a table never read: a commit at about the time of the group counts',
      withStore(backend, async ({ store, clock }) => {
        await apply(store, project({ assets: [asset(ORDERS)] }));
        await begins(store);
        const old = clock.now() - 3_600_000n;
        await record(
          store,
          ORDERS,
          poll([commit(1, { commitTime: old }), commit(2, { commitTime: clock.now() - 300_000n })]),
        );
        expect((await fires(store)).map((fire) => fire.pins.get(ORDERS)?.snapshotId)).toEqual(['2']);
      }),
    );

    test(
      'an unreadable first scan leaves the baseline open',
      withStore(backend, async ({ store }) => {
        await apply(store, project({ assets: [asset(ORDERS)] }));
        await begins(store);
        await record(
          store,
          ORDERS,
          poll([], { outcome: { kind: 'UNREADABLE', reason: 'no such folder', retryable: true }, cursor: null }),
        );
        await commits(store, ORDERS, 1);
        expect(await fires(store)).toHaveLength(1);
      }),
    );

    test(
      'an asset that is registered later',
      withStore(backend, async ({ store }) => {
        await begins(store);
        await apply(store, project({ assets: [asset(ORDERS)] }));
        await commits(store, ORDERS, 1);
        expect(await fires(store)).toHaveLength(1);
      }),
    );

    test(
      'an edited or renamed group keeps what it consumed; a new member begins anew',
      withStore(backend, async ({ store }) => {
        await apply(store, project({ assets: [asset(ORDERS), asset(PAYMENTS)] }));
        await commits(store, ORDERS, 1);
        await begins(store);
        await commits(store, PAYMENTS, 8);
        await commits(store, ORDERS, 2);
        const both = [condition(ORDERS), condition(PAYMENTS)];
        const plan = await apply(
          store,
          project({ workflows: [workflow('w', { groups: [group('h', both, { renamedFrom: 'g' })] })] }),
        );
        expect(plan.lines.at(-1)).toEqual({
          kind: 'GROUP',
          name: 'w/h',
          action: 'UPDATE',
          details: [
            'renamed from g',
            `${ORDERS}: keeps snapshot 1 as consumed`,
            `${PAYMENTS}: begins after snapshot 8`,
          ],
        });
        expect(await fires(store)).toEqual([]);
        const again = [group('h', both, { renamedFrom: 'g' }), group('i', both, { renamedFrom: 'nobody' })];
        const more = await apply(store, project({ workflows: [workflow('w', { groups: again })] }));
        expect(more.lines.at(-1)?.details[0]).toBe('begins anew: there is no group nobody to take over from');
        await apply(store, project({ workflows: [workflow('w', { groups: again.slice(0, 1) })] }));
        await commits(store, PAYMENTS, 9);
        const [fire] = await fires(store);
        expect([...(fire?.pins ?? [])].map(([each, pin]) => [each, pin.snapshotId])).toEqual([
          [ORDERS, '2'],
          [PAYMENTS, '9'],
        ]);
      }),
    );

    test(
      'a group that is dropped goes, and comes back without what it consumed',
      withStore(backend, async ({ store }) => {
        await apply(store, project({ assets: [asset(ORDERS)] }));
        await begins(store);
        const plan = await apply(store, project({ workflows: [workflow('w')] }));
        expect(plan.lines.at(-1)).toMatchObject({ kind: 'GROUP', name: 'w/g', action: 'REMOVE' });
        await commits(store, ORDERS, 1);
        expect(await fires(store)).toEqual([]);
        expect(await begins(store)).toEqual([`${ORDERS}: begins after snapshot 1`]);
      }),
    );
  });
};

const settle1 = async (store: Parameters<typeof apply>[0]) => (await store.groups.evaluateDue(1))[0];
