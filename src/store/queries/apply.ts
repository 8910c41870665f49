import type { AssetKey } from '../../core/asset/key.ts';
import type {
  ApplyPlan,
  PlanLine,
  ProjectDeclaration,
  WorkflowDeclaration,
} from '../../core/declaration/declaration.ts';
import { SluiceError } from '../../core/errors.ts';
import { buildGraph } from '../../core/workflow/graph.ts';
import { waitConditions, waitProblems } from '../../core/workflow/task-wait.ts';
import type { Tx } from '../engine.ts';
import type { ApplyOptions } from '../store.ts';
import { saveAsset } from './assets/apply.ts';
import { saveGroups } from './groups/apply.ts';
import { saveWorkflow } from './workflows/apply.ts';
import { findAssetRow } from './assets/load.ts';
import { ensureProject } from './workflows/projects.ts';

/** Writes what is declared and says what that changed. Throws as DefinitionStore.apply does. */
export const applyDeclaration = async (
  tx: Tx,
  declaration: ProjectDeclaration,
  { strict, expect }: Omit<ApplyOptions, 'dryRun'>,
): Promise<Omit<ApplyPlan, 'dryRun'>> => {
  for (const workflow of declaration.workflows) {
    refuseBroken(workflow);
    refuseBrokenWaits(workflow);
  }
  refuseDoubles(declaration);
  // People apply seldom: one at a time, so that two who make the same thing at once make it once.
  await tx.dialect.oneAtATime(tx.db, 'apply');
  const project = await ensureProject(tx, declaration.project);
  const lines: PlanLine[] = [];
  for (const asset of declaration.assets) lines.push(await saveAsset(tx, project, asset));
  const warnings: string[] = [];
  for (const workflow of declaration.workflows) {
    warnings.push(...(await unknownAssets(tx, workflow, strict)));
    const { code, line } = await saveWorkflow(tx, project, workflow, expect?.get(workflow.name) ?? null);
    lines.push(line, ...(await saveGroups(tx, { code, name: workflow.name }, workflow.groups)));
  }
  if (lines.some((line) => line.action !== 'UNCHANGED')) tx.hint('CHANGED');
  return { project: project.name, lines, warnings };
};

/** Whoever read the file has checked this too; what is saved here must be sound whoever calls. */
const refuseBroken = (workflow: WorkflowDeclaration): void => {
  const graph = buildGraph(workflow.tasks);
  if (!graph.ok) throw new SluiceError(graph.problem.code, `Workflow ${workflow.name}: ${graph.problem.detail}`);
  const names = new Set<string>();
  for (const group of workflow.groups) {
    if (names.has(group.name))
      throw new SluiceError('BAD_FILE', `Workflow ${workflow.name} has two groups ${group.name}: rename one.`);
    names.add(group.name);
    if (!group.conditions.some((condition) => condition.snapshotRequired))
      throw new SluiceError(
        'GROUP_NEVER_WAITS',
        `Group ${group.name} of workflow ${workflow.name} waits for no new version, so it would fire for ever: leave snapshotRequired true in at least one condition.`,
      );
    refuseDoubleAsset(
      workflow.name,
      group.name,
      group.conditions.map((condition) => condition.assetKey),
    );
  }
};

const refuseBrokenWaits = (workflow: WorkflowDeclaration): void => {
  for (const { wait } of workflow.tasks)
    for (const group of wait?.groups ?? [])
      refuseDoubleAsset(
        workflow.name,
        group.name,
        group.conditions.map((condition) => condition.assetKey),
      );
  const [problem] = waitProblems(workflow);
  if (problem === undefined) return;
  const { task, group, detail } = problem;
  throw new SluiceError('BAD_FILE', `Task ${task} of workflow ${workflow.name}, group ${group}: ${detail}`);
};

const refuseDoubles = ({ assets, workflows }: ProjectDeclaration): void => {
  const names = [
    ...assets.map((asset) => `asset ${asset.key}`),
    ...workflows.map((workflow) => `workflow ${workflow.name}`),
  ];
  const double = names.find((name, i) => names.indexOf(name) !== i);
  if (double !== undefined) throw new SluiceError('BAD_FILE', `The ${double} is declared twice: keep one of the two.`);
};

const refuseDoubleAsset = (workflow: string, group: string, keys: readonly AssetKey[]): void => {
  const double = keys.find((key, i) => keys.indexOf(key) !== i);
  if (double !== undefined)
    throw new SluiceError(
      'BAD_FILE',
      `Group ${group} of workflow ${workflow} names ${double} twice: put both into one condition.`,
    );
};

const unknownAssets = async (tx: Tx, workflow: WorkflowDeclaration, strict: boolean): Promise<readonly string[]> => {
  const warnings: string[] = [];
  for (const [key, where] of namedAssets(workflow)) {
    if ((await findAssetRow(tx, key)) !== undefined) continue;
    const sentence = `${where} names ${key}, which is not registered: declare it under assets.`;
    if (strict) throw new SluiceError('UNKNOWN_ASSET', sentence);
    warnings.push(sentence);
  }
  return warnings;
};

/** Every asset that the workflow reads, and where it is first named. */
const namedAssets = (workflow: WorkflowDeclaration): ReadonlyMap<AssetKey, string> => {
  const named: [AssetKey, string][] = [
    ...workflow.groups.flatMap((group) =>
      group.conditions.map(
        ({ assetKey }) => [assetKey, `Group ${group.name} of workflow ${workflow.name}`] as [AssetKey, string],
      ),
    ),
    ...workflow.inputs.map((key) => [key, `Workflow ${workflow.name}`] as [AssetKey, string]),
    ...workflow.tasks.flatMap((task) =>
      [...task.inputs, ...waitConditions(task).map(({ assetKey }) => assetKey)].map(
        (key) => [key, `Task ${task.name} of workflow ${workflow.name}`] as [AssetKey, string],
      ),
    ),
  ];
  return new Map(named.reverse());
};
