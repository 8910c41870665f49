import Type, { type Static } from 'typebox';

/** `declaration` is the file of contract.md 4 as plain JSON; everything that is wrong with it comes back in `problems`. */
export const ApplyInput = Type.Object(
  {
    declaration: Type.Unknown(),
    dryRun: Type.Optional(Type.Boolean()),
    strict: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

export const PlanLineBody = Type.Object({
  kind: Type.Enum(['ASSET', 'WORKFLOW', 'GROUP']),
  name: Type.String(),
  action: Type.Enum(['CREATE', 'UPDATE', 'UNCHANGED', 'REMOVE']),
  details: Type.Array(Type.String()),
});
export type PlanLineBody = Static<typeof PlanLineBody>;

export const ApplyPlanBody = Type.Object({
  project: Type.String(),
  dryRun: Type.Boolean(),
  lines: Type.Array(PlanLineBody),
  warnings: Type.Array(Type.String()),
});
export type ApplyPlanBody = Static<typeof ApplyPlanBody>;
