import type { Asset } from '../asset/state.ts';
import type { TaskDefinition, WorkflowDefinition } from '../workflow/definition.ts';

/** A workflow as a file declares it: names instead of codes, defaults filled in. */
export interface WorkflowDeclaration
  extends Omit<WorkflowDefinition, 'code' | 'version' | 'projectCode' | 'projectName' | 'tasks'> {
  readonly tasks: readonly Omit<TaskDefinition, 'code'>[];
}

/** One project's declared work (contract.md, 4). Locations are absolute. What a file does not name is left as it is. */
export interface ProjectDeclaration {
  readonly project: string;
  readonly assets: readonly Asset[];
  readonly workflows: readonly WorkflowDeclaration[];
}

/** One line of an apply's plan. */
export interface PlanLine {
  readonly kind: 'ASSET' | 'WORKFLOW' | 'GROUP';
  /** Asset key, workflow name, or workflow/group. */
  readonly name: string;
  readonly action: 'CREATE' | 'UPDATE' | 'UNCHANGED' | 'REMOVE';
  /** What differs, and what it means: "keeps what it consumed", "begins after snapshot 5". */
  readonly details: readonly string[];
}

export interface ApplyPlan {
  readonly project: string;
  readonly dryRun: boolean;
  readonly lines: readonly PlanLine[];
  readonly warnings: readonly string[];
}
