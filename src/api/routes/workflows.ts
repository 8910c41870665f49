import Type from 'typebox';
import type { AssetKey } from '../../core/asset/key.ts';
import { SluiceError } from '../../core/errors.ts';
import type { StartRequest, Store } from '../../store/store.ts';
import { OptionalBody, PageOf, PageQuery, ProjectParam } from '../contract/common.ts';
import { StartedBody, StartInput, WorkflowBody } from '../contract/workflows.ts';
import { namedKey, projectName } from '../actions/find.ts';
import { namedPage } from '../views/named-page.ts';
import type { Routes } from '../app.ts';
import { runDetailsBody, workflowBody } from '../views/workflows.ts';

const Params = Type.Object({
  ...ProjectParam,
  code: Type.String({ minLength: 1, maxLength: 255, description: "The workflow's code or name." }),
});
const tags = ['workflow-definitions'];
const PATH = '/projects/:projectCode/workflow-definitions';

export const workflowRoutes: Routes = (app, { store }) => {
  app.get(
    PATH,
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listWorkflowDefinitions',
        tags,
        summary: 'The workflows of a project, by name; all of them without a limit.',
        params: Type.Object(ProjectParam),
        querystring: Type.Object(PageQuery),
        response: { 200: PageOf(WorkflowBody) },
      },
    },
    async ({ params, query }) => {
      const workflows = await store.definitions.workflows(await projectName(store, params.projectCode));
      return namedPage(workflows, ({ name }) => name, workflowBody, query);
    },
  );
  app.get(
    `${PATH}/:code`,
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'getWorkflowDefinition',
        tags,
        summary: 'One workflow, in its newest version.',
        params: Params,
        response: { 200: WorkflowBody },
      },
    },
    async ({ params }) =>
      workflowBody(await store.definitions.workflow(await projectName(store, params.projectCode), params.code)),
  );
  app.post(
    `${PATH}/:code/start`,
    {
      config: { permission: 'operate', repeats: 'KNOWN' },
      schema: {
        operationId: 'startWorkflow',
        tags,
        summary: 'A manual run. The same Idempotency-Key gives the same run again, with "duplicate": true.',
        params: Params,
        body: OptionalBody(StartInput),
        response: { 200: StartedBody, 201: StartedBody },
      },
    },
    async ({ params, body, headers }, reply) => {
      const workflow = await store.definitions.workflow(await projectName(store, params.projectCode), params.code);
      const { runId, duplicate } = await store.runs.start(
        await startRequest(store, workflow.code, body ?? {}, headers['idempotency-key']),
      );
      return reply.code(duplicate ? 200 : 201).send({ ...runDetailsBody(await store.runs.get(runId)), duplicate });
    },
  );
};

const startRequest = async (
  store: Store,
  workflowCode: number,
  body: StartInput,
  idempotencyKey: string | string[] | undefined,
): Promise<StartRequest> => ({
  workflowCode,
  params: Object.fromEntries(Object.entries(body.params ?? {}).map(([name, value]) => [name, String(value)])),
  pins: await readPins(store, body.pins ?? {}),
  consume: body.consume ?? false,
  startTasks: body.startTasks ?? [],
  taskDependType: body.taskDependType ?? 'TASK_POST',
  idempotencyKey: typeof idempotencyKey === 'string' && idempotencyKey !== '' ? idempotencyKey : null,
});

const readPins = async (
  store: Store,
  pins: Readonly<Record<string, string | number>>,
): Promise<StartRequest['pins']> => {
  const read = new Map<AssetKey, { snapshotId: string } | { tag: string }>();
  for (const [text, value] of Object.entries(pins)) {
    const key = await namedKey(store, text);
    if (read.has(key)) throw new SluiceError('BAD_PIN', `Pin ${key} once: it stands there twice.`);
    const pin = String(value);
    read.set(key, pin.startsWith('tag:') ? { tag: pin.slice('tag:'.length) } : { snapshotId: pin });
  }
  return read;
};
