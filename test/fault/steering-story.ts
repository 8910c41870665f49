import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { RUN_STATE_CODES } from '../../src/core/workflow/run-state.ts';
import type { RunDetailsBody } from '../../src/api/contract/workflows.ts';
import { type Place, until } from '../support/server.ts';
import type { TestClient } from '../support/server-client.ts';
import { notingScript, readEffects, readLedger } from './ledger.ts';
import type { Story } from './story.ts';

/** What a person does to a run, and a retry: a run by hand whose first task fails once, whose second is stopped while it runs, and resumed. */

const go = ({ folder }: Place): string => join(folder, 'go');

const declarationOf = (place: Place) => ({
  apiVersion: 'sluice/v1',
  project: 'steer',
  workflows: [
    {
      name: 'work',
      tasks: [
        {
          name: 'flaky',
          failRetryTimes: 1,
          failRetryIntervalSeconds: 0,
          params: { rawScript: notingScript(place.folder, '[ $SLUICE_ATTEMPT = 2 ]') },
        },
        {
          name: 'long',
          dependsOn: ['flaky'],
          params: { rawScript: notingScript(place.folder, `until [ -e "${go(place)}" ]; do sleep 0.05; done`) },
        },
      ],
    },
  ],
});

/** Its number is not always 1: a sequence does not go back with the transaction that drew from it. */
async function theRun(client: TestClient): Promise<RunDetailsBody> {
  const [run, second] = await client.runs();
  if (run === undefined || second !== undefined) throw new Error('There must be one run.');
  return run;
}

/** The server may have done it before it died: then it is not asked again. */
async function operate(
  client: TestClient,
  operation: 'stop' | 'resume',
  inState: (state: string) => boolean,
): Promise<void> {
  const { id, state } = await theRun(client);
  if (inState(state)) await client.post(`/workflow-instances/${id}/${operation}`);
}

export const steeringStory: Story = {
  project: 'steer',
  omits: ['schema', 't_ds_version', 't_ds_master', 't_ds_project', 't_ds_workflow_definition'],
  prepare: () => {},
  steps: [
    (place, client) => client.apply(declarationOf(place)),
    (_, client) => client.post('/workflow-definitions/work/start', {}, { 'idempotency-key': 'once' }),
    // Asked of the server too: nobody would look at a file for ever while it is dead.
    (place, client) =>
      until('the long task to begin', async () => {
        await theRun(client);
        return existsSync(join(place.folder, 'effects')) && readEffects(place).some(({ task }) => task === 'long');
      }),
    (_, client) => operate(client, 'stop', (state) => state === 'RUNNING_EXECUTION'),
    async (_, client) => client.untilRun((await theRun(client)).id, 'STOP'),
    (place) => writeFileSync(go(place), ''),
    (_, client) => operate(client, 'resume', (state) => state === 'STOP'),
    async (_, client) => client.untilRun((await theRun(client)).id, 'SUCCESS'),
  ],
  audit: async (place, client) => {
    const { id, runTimes } = await theRun(client);
    expect(runTimes).toBe(2);
    const history = (await client.attempts(id)).map(({ name, attempt, state }) => `${name} ${attempt} ${state}`);
    expect(history).toEqual(['flaky 1 FAILURE', 'flaky 2 SUCCESS', 'long 1 KILL', 'long 2 SUCCESS']);
    expect(readEffects(place).map(({ task, attempt }) => `${task} ${attempt}`)).toEqual([
      'flaky 1',
      'flaky 2',
      'long 1',
      'long 2',
    ]);
    const { runs, commands } = readLedger(place);
    expect(runs).toEqual([{ id, state: RUN_STATE_CODES.SUCCESS }]);
    expect(commands).toBe(0);
  },
  tables: ['t_ds_command', 't_ds_task_instance', 't_ds_workflow_instance'],
};
