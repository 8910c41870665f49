import { execFileSync } from 'node:child_process';
import { closeSync, constants, cpSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { AssetDetailsBody } from '../../src/api/contract/assets.ts';
import {
  laySteps,
  makePlace,
  type Place,
  type ServerProcess,
  startProcess,
  startServer,
  until,
} from '../support/server.ts';
import { clientOf, type TestClient } from '../support/server-client.ts';
import { ORDERS, PAYMENTS } from './trigger-story.ts';

/**
 * A table that hangs, as one on a network mount does whose server is gone: here a pipe stands for its next snapshot, and who opens it waits until
 * somebody writes. Each such wait holds a thread of the server, of which there are few.
 */

const LIMIT = { timeout: 120_000 };
const LOOKS = 20; // more than the server has threads

const tableOf = ({ warehouse }: Place, key: string): string =>
  join(warehouse, key === ORDERS ? 'ods_db.db/ods_order_latest' : 'ods_db.db/ods_payment_latest');

const declarationOf = (place: Place) => ({
  apiVersion: 'sluice/v1',
  project: 'hang',
  assets: [ORDERS, PAYMENTS].map((key) => ({ key, location: tableOf(place, key) })),
  workflows: [
    {
      name: 'of_orders',
      triggers: [{ group: 'g', all: [{ assetKey: ORDERS }] }],
      tasks: [{ name: 'read', params: { rawScript: 'echo' } }],
    },
    {
      name: 'of_payments',
      triggers: [{ group: 'g', all: [{ assetKey: PAYMENTS }] }],
      tasks: [{ name: 'read', params: { rawScript: 'echo' } }],
    },
  ],
});

/** A server that waits 0.2 s for a table, and an orders table that hangs from its second snapshot on. */
async function hang(): Promise<{ place: Place; server: ServerProcess; client: TestClient; heal: () => void }> {
  const place = makePlace();
  laySteps(place, 1, 2, 4);
  const args = [
    join(import.meta.dirname, 'victim.ts'),
    place.data,
    'none',
    'BEFORE',
    join(place.folder, 'trace'),
    '0.2',
  ];
  const server = await startProcess(args, place);
  const client = clientOf(place, server, 'hang');
  await client.apply(declarationOf(place));
  await until('orders to be read', async () => (await stateOf(client)).latest?.snapshotId === '1');
  const pipe = join(tableOf(place, ORDERS), 'snapshot/snapshot-2');
  makePipe(pipe);
  onTestFinished(() => letGo(pipe));
  writeFileSync(join(tableOf(place, ORDERS), 'snapshot/LATEST'), '2');
  await until('orders to be unreadable', async () =>
    /did not answer within 0.2 s/.test((await stateOf(client)).healthReason ?? ''),
  );
  const heal = (): void => {
    letGo(pipe);
    rmSync(pipe);
    laySteps(place, 3);
  };
  return { place, server, client, heal };
}

const makePipe = (path: string) => execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', path]);

/** Whoever waits at the pipe reads its end. */
function letGo(pipe: string): void {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
  } catch {
    // Nobody waits there, or it is gone.
  }
}

const stateOf = async (client: TestClient): Promise<AssetDetailsBody['state']> =>
  (await client.get<AssetDetailsBody>(`/assets/${encodeURIComponent(ORDERS)}`)).state;

const runsOf = async (client: TestClient, workflow: string) =>
  (await client.runs()).filter((run) => run.workflow === workflow);

test(
  'however often it is looked at, other tables trigger, tasks start, and it counts again once it answers',
  LIMIT,
  async () => {
    const { place, server, client, heal } = await hang();
    for (let look = 0; look < LOOKS; look += 1)
      expect(await client.post(`/assets/${encodeURIComponent(ORDERS)}/scan`, { timeoutSeconds: 5 })).toMatchObject({
        newVersions: 0,
      });
    laySteps(place, 10);
    await until(
      'the run of payments to succeed',
      async () => (await runsOf(client, 'of_payments'))[0]?.state === 'SUCCESS',
    );
    heal();
    await until('orders to be read again', async () => {
      await client.post(`/assets/${encodeURIComponent(ORDERS)}/scan`, { timeoutSeconds: 5 });
      return (await stateOf(client)).health === 'OK';
    });
    await until(
      'the run of orders to succeed',
      async () => (await runsOf(client, 'of_orders'))[0]?.state === 'SUCCESS',
    );
    await server.kill('SIGKILL');
  },
);

test('many at once leave the server threads enough for everybody else', LIMIT, async () => {
  const place = makePlace();
  laySteps(place, 1, 2, 4);
  const hanging = Array.from({ length: 12 }, (_, i) => `paimon://ods_db/hangs_${i}`);
  const folderOf = (key: string): string => join(place.warehouse, key.slice('paimon://'.length));
  for (const key of hanging) {
    cpSync(tableOf(place, ORDERS), folderOf(key), { recursive: true });
    const pipe = join(folderOf(key), 'snapshot/snapshot-2');
    makePipe(pipe);
    writeFileSync(join(folderOf(key), 'snapshot/LATEST'), '2');
    onTestFinished(() => letGo(pipe));
  }
  const client = clientOf(place, await startServer(place), 'hang');
  const { assets, ...rest } = declarationOf(place);
  await client.apply({ ...rest, assets: [...hanging.map((key) => ({ key, location: folderOf(key) })), ...assets] });
  laySteps(place, 10);
  await until(
    'the run of payments to succeed',
    async () => (await runsOf(client, 'of_payments'))[0]?.state === 'SUCCESS',
  );
});

test('a task whose pin cannot be asked for starts all the same: it will see for itself', LIMIT, async () => {
  const { client, place } = await hang();
  const first = join(tableOf(place, ORDERS), 'snapshot/snapshot-1');
  rmSync(first);
  symlinkSync('snapshot-1', first); // leads to itself: neither there nor away
  const { id } = await client.post<{ id: number }>('/workflow-definitions/of_orders/start', {});
  expect((await client.untilRun(id, 'SUCCESS')).pins).toMatchObject({ [ORDERS]: { snapshotId: '1' } });
});

test('a server that is told to stop does not wait for a table that hangs', LIMIT, async () => {
  const place = makePlace();
  laySteps(place, 1, 2, 4);
  const server = await startServer(place);
  const client = clientOf(place, server, 'hang');
  await client.apply(declarationOf(place));
  await until('orders to be read', async () => (await stateOf(client)).latest?.snapshotId === '1');
  const pipe = join(tableOf(place, ORDERS), 'snapshot/snapshot-2');
  makePipe(pipe);
  onTestFinished(() => letGo(pipe));
  writeFileSync(join(tableOf(place, ORDERS), 'snapshot/LATEST'), '2');
  await client.post(`/assets/${encodeURIComponent(ORDERS)}/scan`, { timeoutSeconds: 1 }); // by now it is being read
  const stopped = server.kill('SIGTERM');
  await until('the server to end', () => server.end() !== null, 30_000); // a read may take 60 s
  await stopped;
  expect(server.end()).toEqual({ code: null, signal: 'SIGTERM' }); // Node's own exit would wait for the read
});
