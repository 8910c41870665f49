import type { Chronicle } from './chronicle.ts';
import type { Facts } from './facts.ts';
import type { PlannedWorkflow } from './plan.ts';

/** All that the auditor looks at: what was to happen, what the storm did, and what came of it. A small one can be made by hand. */
export interface Story {
  readonly workflows: readonly PlannedWorkflow[];
  readonly chronicle: Chronicle;
  readonly facts: Facts;
}
