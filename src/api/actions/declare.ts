import type { AssetKey } from '../../core/asset/key.ts';
import type { ApplyPlan, ProjectDeclaration } from '../../core/declaration/declaration.ts';
import { waitConditions } from '../../core/workflow/task-wait.ts';
import type { ApplyOptions, Store } from '../../store/store.ts';
import type { ApplyPlanBody } from '../contract/apply.ts';
import type { ApiDeps } from '../deps.ts';

/** How long an apply waits for tables that were never read, so that its groups begin after what is there (semantics.md 3). */
const FIRST_LOOK_MS = 5_000;

/**
 * Applies a declaration. Tables that no scan has read yet are scanned first, so that the groups begin after what is there already. A scan
 * needs the assets to be registered: so they are applied alone before, once a dry run has shown that the whole can be applied.
 */
export const applyDeclaration = async (
  deps: Pick<ApiDeps, 'store' | 'scanNow'>,
  declaration: ProjectDeclaration,
  options: ApplyOptions,
): Promise<ApplyPlanBody> => {
  const { definitions } = deps.store;
  const plan = await definitions.apply(declaration, { ...options, dryRun: true });
  if (options.dryRun) return planBody(plan);
  if (declaration.workflows.length === 0) return planBody(await definitions.apply(declaration, options));
  await definitions.apply({ ...declaration, workflows: [] }, options);
  const unread = await neverRead(deps.store, declaration);
  if (unread.length > 0) await deps.scanNow(unread, FIRST_LOOK_MS);
  const done = await definitions.apply(declaration, options);
  const assets = plan.lines.filter(({ kind }) => kind === 'ASSET');
  return planBody({ ...done, lines: [...assets, ...done.lines.filter(({ kind }) => kind !== 'ASSET')] });
};

/** Assets that the declared groups wait for, that have a location and that no scan has read. */
const neverRead = async (store: Store, declaration: ProjectDeclaration): Promise<readonly AssetKey[]> => {
  const named = declaration.workflows
    .flatMap(({ groups, tasks }) => [
      ...groups.flatMap(({ conditions }) => conditions),
      ...tasks.flatMap(waitConditions),
    ])
    .map(({ assetKey }) => assetKey);
  const targets = named.length === 0 ? [] : await store.assets.scanTargets([...new Set(named)]);
  return targets.filter(({ cursor }) => cursor === null).map(({ asset }) => asset.key);
};

const planBody = (plan: ApplyPlan): ApplyPlanBody => ({
  project: plan.project,
  dryRun: plan.dryRun,
  lines: plan.lines.map((line) => ({ ...line, details: [...line.details] })),
  warnings: [...plan.warnings],
});
