import { join } from 'node:path';
import { expect, test } from 'vitest';
import { laySteps, makePlace, startServer, until } from '../support/server.ts';
import { clientOf } from '../support/server-client.ts';

const ORDERS = 'paimon://ods_db/ods_order_latest';
const ASSET = `/assets/${encodeURIComponent(ORDERS)}`;

test('without asset-driven scheduling no table starts a run and no event is taken; what was read meanwhile counts once it is on again', async () => {
  const place = makePlace();
  laySteps(place, 1);
  const off = await startServer(place, { SLUICE_ASSET_EVENT_SCHEDULING_ENABLED: 'false' });
  const client = clientOf(place, off, 'quiet');
  await client.apply({
    apiVersion: 'sluice/v1',
    project: 'quiet',
    assets: [{ key: ORDERS, location: join(place.warehouse, 'ods_db.db/ods_order_latest') }],
    workflows: [
      {
        name: 'w',
        triggers: [{ group: 'g', all: [{ assetKey: ORDERS }] }],
        tasks: [{ name: 'a', params: { rawScript: 'echo' } }],
      },
    ],
  });
  await client.post(`${ASSET}/scan`, { timeoutSeconds: 20 }); // the baseline
  laySteps(place, 2, 3, 4);
  expect(await client.post(`${ASSET}/scan`, { timeoutSeconds: 20 })).not.toMatchObject({ newVersions: 0 });
  await expect(client.emit({ assetKey: ORDERS, eventType: 'SNAPSHOT_COMMITTED', snapshotId: '9' })).rejects.toThrow(
    /push-receiver.enabled/,
  );
  expect(await client.runs()).toEqual([]);
  await off.kill('SIGTERM');

  const again = clientOf(place, await startServer(place), 'quiet');
  await until('the run to succeed', async () => (await again.runs())[0]?.state === 'SUCCESS');
  expect(await again.runs()).toHaveLength(1);
});
