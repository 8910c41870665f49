import { expect, test } from 'vitest';
import { until } from '../support/server.ts';
import { jsonLines, serve } from './process.ts';

const ORDERS = 'paimon://ods_db/orders';

const FILE = `
apiVersion: sluice/v1
project: gmv
assets: [{key: "${ORDERS}"}]
workflows:
  - name: trade
    triggers: [{group: orders, all: [{assetKey: "${ORDERS}"}]}]
    tasks: [{name: a, type: NOOP}]
`;

test('sluice project: paused, no table starts its workflows and why says so; resumed, one run for what arrived', {
  timeout: 60_000,
}, async () => {
  const server = await serve({ 'gmv.yaml': FILE });
  const ask = async (...args: string[]) => {
    const { out, err } = await server.sluice(...args);
    return out + err;
  };
  const commit = (id: string) =>
    ask('asset', 'emit', ORDERS, '--type', 'SNAPSHOT_COMMITTED', '--snapshot', id, '--data-change', 'yes');
  const runs = async () => jsonLines((await server.sluice('runs', 'list', '--json')).out);
  expect(await ask('project', 'list')).toBe('There are no projects yet.\n');
  expect(await ask('project', 'pause')).toContain('Apply a file first');
  await ask('apply', '-f', 'gmv.yaml');
  expect(await ask('project', 'list')).toMatch(/^gmv +1$/m);
  expect(await ask('project', 'pause')).toBe('project gmv is paused\n');
  expect(await ask('project', 'list')).toMatch(/^gmv +1 +paused$/m);
  await commit('1');
  expect(await ask('why', 'trade')).toMatch(
    /group +needs a workflow that may start runs +now: the project is paused .*BLOCKED_BY_PAUSED/,
  );
  expect(await runs()).toEqual([]);
  expect(await ask('project', 'resume', 'gmv')).toBe('project gmv is no longer paused\n');
  await until('the run of what arrived', async () => (await runs()).length > 0);
  expect(await runs()).toMatchObject([{ id: 1, pins: { [ORDERS]: { snapshotId: '1' } } }]);
  expect(jsonLines(await ask('project', 'pause', '1', '--json'))).toEqual([{ code: 1, name: 'gmv', paused: true }]);
  await commit('2');
  expect(await ask('project', 'resume', 'gmv', '--skip')).toBe('project gmv is no longer paused\n');
  expect(await ask('why', 'trade')).toContain('needs a version newer than 2');
  expect(await ask('project', 'resume', 'gmv')).toBe('sluice: Leave project gmv as it is: it is not paused.\n');
  expect(await ask('project', 'pause', 'nobody')).toContain('Name one of the projects gmv: there is no "nobody".');
  const twice = await server.sluice('project', 'pause', 'gmv', '--project', 'shop');
  expect([twice.code, twice.err]).toEqual([2, expect.stringContaining('Name one project')]);
});
