import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  laySteps,
  makePlace,
  type Place,
  runProcess,
  type ServerProcess,
  sluice,
  startServer,
  until,
} from '../support/server.ts';
import { clientOf, snapshotsOf, type TestClient } from '../support/server-client.ts';
import { jsonLines, refused, said } from './said.ts';
import {
  assetsOf,
  ORDERS,
  onOrders,
  onPayments,
  PAYMENTS,
  shell,
  tableFolder,
  writeDeclaration,
} from './workflow-file.ts';

/** Tables that are broken in one way or another: said clearly, and nobody else is held up. */

const LIMIT = { timeout: 150_000 };

interface Scene {
  readonly place: Place;
  readonly server: ServerProcess;
  readonly client: TestClient;
  /** A path inside the orders table. */
  readonly inOrders: (path: string) => string;
}

const workflows = [
  { name: 'of_orders', triggers: onOrders, tasks: [{ name: 'read', ...shell('echo ${asset.orders.snapshot_id}') }] },
  {
    name: 'of_payments',
    triggers: onPayments,
    tasks: [{ name: 'read', ...shell('echo ${asset.payments.snapshot_id}') }],
  },
];

/** Both tables have a first commit, `before` has broken orders, and a server looks at both. */
async function open(before: (place: Place) => void = () => {}): Promise<Scene> {
  const place = makePlace();
  laySteps(place, 1, 2, 4);
  before(place);
  const server = await startServer(place);
  await said(sluice(place, ['apply', '-f', writeDeclaration(place, { assets: assetsOf(place), workflows })]));
  return {
    place,
    server,
    client: clientOf(place, server, 'e2e'),
    inOrders: (path) => join(tableFolder(place, ORDERS), path),
  };
}

const runsOf = async (client: TestClient, workflow: string) =>
  (await client.runs()).filter((run) => run.workflow === workflow);

/** The newest run of the workflow has succeeded on this version; its pins. */
const untilRead = (client: TestClient, workflow: string, key: string, snapshotId: string) =>
  until(`${workflow} to have run on ${snapshotId}`, async () => {
    const run = (await runsOf(client, workflow)).at(-1);
    return run?.state === 'SUCCESS' && snapshotsOf(run.pins)[key] === snapshotId;
  });

/** The next commit to payments starts its workflow: whatever happened to orders has not held it up. */
async function othersGoOn({ place, client }: Scene): Promise<void> {
  laySteps(place, 10);
  await untilRead(client, 'of_payments', PAYMENTS, '2');
}

const healthOf = async (client: TestClient, key: string) =>
  (await client.get<{ state: { health: string; healthReason: string | null } }>(`/assets/${encodeURIComponent(key)}`))
    .state;

const untilUnreadable = (client: TestClient, reason: RegExp) =>
  until(`orders to be unreadable: ${reason}`, async () => {
    const { health, healthReason } = await healthOf(client, ORDERS);
    return health === 'UNREADABLE' && reason.test(healthReason ?? '');
  });

const eventTypes = async (place: Place): Promise<readonly unknown[]> =>
  (await jsonLines(sluice(place, ['asset', 'events', ORDERS, '--json']))).map(({ eventType }) => eventType);

describe('a bad table is said to be bad, and nobody else waits for it', () => {
  test('unknown path: the asset shows what to check, and triggers once the table is there', LIMIT, async () => {
    const scene = await open((place) => renameSync(tableFolder(place, ORDERS), join(place.folder, 'away')));
    const { place, client, inOrders } = scene;
    await untilUnreadable(client, /does not exist: check the location/);
    const scan = await sluice(place, ['asset', 'scan', ORDERS]);
    expect(scan.code).toBe(1);
    expect(scan.stdout).toMatch(/does not exist: check the location/);
    expect(await said(sluice(place, ['why', 'of_orders']))).toMatch(/BLOCKED_BY_SOURCE/);
    const inspected = await sluice(place, ['inspect', inOrders('')]);
    expect(inspected).toMatchObject({ code: 1, stderr: expect.stringMatching(/no folder .*check the path/) });
    await othersGoOn(scene);
    renameSync(join(place.folder, 'away'), inOrders(''));
    await said(sluice(place, ['asset', 'scan', ORDERS]));
    // What is in it was committed long before the workflow came into force, so the next commit is the first that counts.
    laySteps(place, 3);
    await untilRead(client, 'of_orders', ORDERS, '2');
    expect((await runsOf(client, 'of_orders')).length).toBe(1);
    expect(await eventTypes(place)).toEqual(expect.arrayContaining(['SOURCE_UNREADABLE', 'SOURCE_RECOVERED']));
  });

  test('half a snapshot file: what came before counts, the file is read again when it is whole', LIMIT, async () => {
    const scene = await open();
    const { place, client, inOrders } = scene;
    const elsewhere = makePlace();
    laySteps(elsewhere, 1, 2, 3);
    const whole = readFileSync(join(tableFolder(elsewhere, ORDERS), 'snapshot/snapshot-2'), 'utf8');
    writeFileSync(inOrders('snapshot/snapshot-2'), whole.slice(0, whole.length / 2));
    await untilUnreadable(client, /snapshot-2/);
    await othersGoOn(scene);
    const inspected = await sluice(place, ['inspect', inOrders(''), '--json']);
    expect(inspected.stdout).toMatch(/"snapshotId":"1"/);
    expect(inspected.stdout).toMatch(/snapshot-2.*read again/);
    expect(await runsOf(client, 'of_orders')).toEqual([]);
    laySteps(place, 3);
    await said(sluice(place, ['asset', 'scan', ORDERS]));
    await untilRead(client, 'of_orders', ORDERS, '2');
  });

  test('an id above 2^63: the file is named and left out, and later commits count', LIMIT, async () => {
    const scene = await open();
    const { place, client, inOrders } = scene;
    writeFileSync(inOrders('snapshot/snapshot-9223372036854775808'), '{}');
    const last = (
      await jsonLines<{ summary?: { head: string; problems: string[] } }>(
        sluice(place, ['inspect', inOrders(''), '--json']),
      )
    ).at(-1);
    expect(last?.summary).toMatchObject({
      head: '1',
      problems: [expect.stringMatching(/snapshot-9223372036854775808: .*remove what put it there/)],
    });
    laySteps(place, 3);
    await untilRead(client, 'of_orders', ORDERS, '2');
    await othersGoOn(scene);
    const numbers = client.post('/asset-events', {
      assetKey: ORDERS,
      eventType: 'QUALITY_CHECK_PASSED',
      snapshotId: 2 ** 63,
    });
    await expect(numbers).rejects.toThrow(/400|string|digits/);
  });

  test('a hint that points nowhere: commits are found all the same', LIMIT, async () => {
    const scene = await open((place) => {
      writeFileSync(join(tableFolder(place, ORDERS), 'snapshot/LATEST'), '99');
      writeFileSync(join(tableFolder(place, ORDERS), 'snapshot/EARLIEST'), 'nonsense');
    });
    const { place, client, inOrders } = scene;
    laySteps(place, 3);
    writeFileSync(inOrders('snapshot/LATEST'), '');
    await untilRead(client, 'of_orders', ORDERS, '2');
    expect(await healthOf(client, ORDERS)).toMatchObject({ health: 'OK' });
    await othersGoOn(scene);
  });

  test('stray files beside the snapshots: named by inspect, and in nobody’s way', LIMIT, async () => {
    const scene = await open((place) => {
      const folder = join(tableFolder(place, ORDERS), 'snapshot');
      for (const name of ['.snapshot-7.0b1c.tmp', 'snapshot-', 'snapshot-x', 'snapshot-1.bak', 'README'])
        writeFileSync(join(folder, name), '?');
      mkdirSync(join(folder, 'snapshot-5'));
    });
    const { place, client, inOrders } = scene;
    const summary = (await jsonLines(sluice(place, ['inspect', inOrders(''), '--json']))).at(-1);
    expect(JSON.stringify(summary)).toMatch(/Ignored beside the snapshots: .*snapshot-x/);
    laySteps(place, 3);
    await untilRead(client, 'of_orders', ORDERS, '2');
    await othersGoOn(scene);
  });

  test('a table that lost its snapshots and its schema: the asset says so, the others go on', LIMIT, async () => {
    const scene = await open();
    rmSync(scene.inOrders('snapshot/snapshot-1'));
    rmSync(scene.inOrders('schema'), { recursive: true });
    await untilUnreadable(scene.client, /lost all its snapshots|dropped or moved/);
    await othersGoOn(scene);
  });
});

test('a second server on the same data is refused with the pid of the first, which goes on', LIMIT, async () => {
  const scene = await open();
  const { place, server } = scene;
  const sentence = await refused(
    sluice(place, ['server', '--config', place.config, '--data', place.data, '--port', '0']),
  );
  expect(sentence).toBe(
    `sluice: A Sluice server (pid ${server.pid}) is already running on ${place.data}; stop it, or give this one another --data folder.\n`,
  );
  expect(JSON.parse(readFileSync(join(place.data, 'server.json'), 'utf8'))).toEqual({
    url: server.url,
    pid: server.pid,
  });
  const demo = await runProcess(
    [join(import.meta.dirname, '../../demo/main.ts'), '--data', place.data, '--port', '0'],
    place.folder,
  );
  expect(demo).toMatchObject({ code: 1, stderr: expect.stringMatching(/name another folder/) });
  await othersGoOn(scene);
});
