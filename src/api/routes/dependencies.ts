import Type from 'typebox';
import { ApplyPlanBody } from '../contract/apply.ts';
import { ProjectParam } from '../contract/common.ts';
import { DependenciesBody, DependenciesInput, DependencyRowOrRows, WhyBody } from '../contract/dependencies.ts';
import { declareDependencies } from '../actions/declare-dependencies.ts';
import { projectName } from '../actions/find.ts';
import { SluiceError } from '../../core/errors.ts';
import type { WorkflowExplanation } from '../../store/store.ts';
import type { Routes } from '../app.ts';
import { eventBody } from '../views/assets.ts';
import { dependencyGroup, groupAnswer, triggerBody } from '../views/workflows.ts';

const BODY_LIMIT = 5 * 1024 * 1024;
const tags = ['dependencies'];
const code = Type.String({ minLength: 1, maxLength: 255, description: "The workflow's code or name." });

export const dependencyRoutes: Routes = (app, deps) => {
  const { store } = deps;
  app.post(
    '/projects/:projectCode/asset-dependencies',
    {
      bodyLimit: BODY_LIMIT,
      config: {
        permission: 'admin',
        repeats: 'ANSWERED',
        checksTexts: true,
        comments: true,
        documentedBody: DependencyRowOrRows,
      },
      schema: {
        operationId: 'declareAssetDependencies',
        tags,
        summary:
          'Adds to what workflows and tasks wait for: one row or up to 1,000, each {workflowDefinitionCode, taskDefinitionCode, assetKey, ' +
          'dependencyGroup, conditionJson, enabledFlag} (RFC 5.3). A row takes the place of the condition on its asset in its group; what no ' +
          'row names stays.',
        params: Type.Object(ProjectParam),
        body: DependenciesInput,
        response: { 200: ApplyPlanBody },
      },
    },
    async ({ params, body }) => declareDependencies(deps, await projectName(store, params.projectCode), body),
  );
  app.get(
    '/projects/:projectCode/asset-dependencies/:workflowDefinitionCode',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'getAssetDependencies',
        tags,
        summary: 'What a workflow waits for, what it last consumed, and how each condition stands now.',
        params: Type.Object({ ...ProjectParam, workflowDefinitionCode: code }),
        response: { 200: DependenciesBody },
      },
    },
    async ({ params }) => {
      const project = await projectName(store, params.projectCode);
      const workflow = await store.definitions.workflow(project, params.workflowDefinitionCode);
      const { groups } = await store.groups.explain(workflow.code);
      return { workflowDefinitionCode: workflow.code, workflow: workflow.name, groups: groups.map(dependencyGroup) };
    },
  );
  app.get(
    '/projects/:projectCode/workflow-definitions/:code/why',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'whyNotRun',
        tags,
        summary: 'Why the workflow has not run, and why it last did.',
        params: Type.Object({ ...ProjectParam, code }),
        querystring: Type.Object({
          group: Type.Optional(Type.String({ minLength: 1, description: 'Only this group.' })),
        }),
        response: { 200: WhyBody },
      },
    },
    async ({ params, query }) => {
      const project = await projectName(store, params.projectCode);
      const workflow = await store.definitions.workflow(project, params.code);
      return whyBody(workflow.name, await store.groups.explain(workflow.code), query.group);
    },
  );
};

/** Of all groups, or of one. Throws NOT_FOUND. */
const whyBody = (
  workflow: string,
  { groups, suppressed, ignored }: WorkflowExplanation,
  only: string | undefined,
): WhyBody => {
  const shown = groups.filter(({ group }) => only === undefined || group === only);
  if (only !== undefined && shown.length === 0) {
    const known = groups.map(({ group }) => group).join(', ') || 'none';
    throw new SluiceError('NOT_FOUND', `Name a group of ${workflow}: there is no ${only}, its groups are: ${known}.`);
  }
  const assets = new Set(shown.flatMap(({ conditions }) => conditions.map(({ assetKey }) => assetKey)));
  return {
    workflow,
    groups: shown.map(groupAnswer),
    suppressed: suppressed.filter(({ group }) => only === undefined || group === only).map(triggerBody),
    ignored: ignored.filter(({ assetKey }) => only === undefined || assets.has(assetKey)).map(eventBody),
  };
};
