import Type from 'typebox';
import type { ProjectDeclaration } from '../../core/declaration/declaration.ts';
import { parseDeclaration } from '../../core/declaration/parse.ts';
import { pathText } from '../../core/declaration/read.ts';
import { type ApplyPlanBody, ApplyInput, ApplyPlanBody as PlanSchema } from '../contract/apply.ts';
import { ApplyFile } from '../contract/apply-file.ts';
import { ProjectParam } from '../contract/common.ts';
import { applyDeclaration } from '../actions/declare.ts';
import { DeclarationError } from '../http/problems.ts';
import { projectNameFor } from '../actions/find.ts';
import type { Routes } from '../app.ts';
import type { ApiDeps } from '../deps.ts';

const ApplyWithFile = Type.Object({ ...ApplyInput.properties, declaration: ApplyFile });
const BODY_LIMIT = 5 * 1024 * 1024;

/** Applies what a file declares. */
export const applyRoutes: Routes = (app, deps) => {
  app.post(
    '/projects/:projectCode/apply',
    {
      bodyLimit: BODY_LIMIT,
      config: { permission: 'admin', repeats: 'ANSWERED', checksTexts: true, documentedBody: ApplyWithFile },
      schema: {
        operationId: 'applyDeclaration',
        tags: ['projects'],
        summary: 'Creates or updates what a file declares; with dryRun only says what it would do.',
        params: Type.Object(ProjectParam),
        body: ApplyInput,
        response: { 200: PlanSchema },
      },
    },
    async ({ params, body }): Promise<ApplyPlanBody> => {
      const project = await projectNameFor(deps.store, params.projectCode);
      const declaration = read(body.declaration, project, deps);
      return applyDeclaration(deps, declaration, { dryRun: body.dryRun ?? false, strict: body.strict ?? false });
    },
  );
};

const read = (raw: unknown, project: string, deps: ApiDeps): ProjectDeclaration => {
  const result = parseDeclaration(raw, deps.declarations);
  if (!result.ok) {
    const [first] = result.problems;
    const more = result.problems.length > 1 ? ` (and ${result.problems.length - 1} more, see problems)` : '';
    const said = first === undefined ? 'Correct the declaration.' : `${pathText(first.path)}: ${first.detail}${more}`;
    throw new DeclarationError(first?.code ?? 'BAD_FILE', said, result.problems);
  }
  if (result.value.project === project) return result.value;
  const detail = `Send this to the project "${result.value.project}" that it declares, not to "${project}".`;
  throw new DeclarationError('BAD_FILE', detail, [{ path: ['project'], code: 'BAD_FILE', detail }]);
};
