import type { ApplyPlan, ProjectDeclaration } from '../../core/declaration/declaration.ts';
import type { EpochMs } from '../../core/time.ts';
import type { WorkflowDefinition } from '../../core/workflow/definition.ts';
import type { Page, PageRequest } from './common.ts';

export interface DefinitionStore {
  /**
   * Creates or updates what is declared, all or nothing; a workflow that did not change gets no new version. Fixes the baseline of each
   * new group member (semantics.md, 3) and keeps what groups of the same name (or renamedFrom) consumed. dryRun writes nothing.
   * Throws SluiceError BAD_FILE, WORKFLOW_CYCLE, GROUP_NEVER_WAITS, UNKNOWN_ASSET (strict only; otherwise a warning), CONFLICT where a
   * workflow is not at the version expected of it.
   */
  apply(declaration: ProjectDeclaration, options: ApplyOptions): Promise<ApplyPlan>;
  /** By name. */
  projects(): Promise<readonly Project[]>;
  /** No group of the project's workflows fires until it is resumed; what arrives is kept. Once more changes nothing. Throws NOT_FOUND. */
  pauseProject(nameOrCode: string): Promise<Project>;
  /** Groups that are paused themselves, or whose workflow is offline, keep what arrived, whatever `how` says. Throws NOT_FOUND, CONFLICT where it is not paused. */
  resumeProject(nameOrCode: string, how: Resume): Promise<Project>;
  /** By name or code; project null: the only one that has it. Throws NOT_FOUND. */
  workflow(project: string | null, nameOrCode: string): Promise<WorkflowDefinition>;
  workflows(project: string | null): Promise<readonly WorkflowDefinition[]>;
  /** Newest first. Throws NOT_FOUND. */
  versions(code: number, page: PageRequest): Promise<Page<WorkflowVersion>>;
  /** The workflow as one of its versions had it. Throws NOT_FOUND. */
  version(code: number, version: number): Promise<WorkflowDefinition>;
  /** Offline, its groups do not fire; what arrives is kept, and `how` (CATCH_UP if not given) says what becomes of it online (groups that are paused themselves keep it). Throws NOT_FOUND, CONFLICT for SKIP where it is online already. */
  release(code: number, state: WorkflowDefinition['releaseState'], how?: Resume): Promise<WorkflowDefinition>;
  /** The workflow, its groups and what they consumed go; its runs stay. Throws NOT_FOUND, CONFLICT while it is online or a run is unfinished. */
  remove(code: number): Promise<void>;
}

export interface Project {
  readonly code: number;
  readonly name: string;
  /** By a person: its groups start no run. Runs that are under way go on, and people may start others. */
  readonly paused: boolean;
}

export interface ApplyOptions {
  readonly dryRun: boolean;
  readonly strict: boolean;
  /** By workflow name: the version on which the declaration is built, 0 for one that must not be there yet. */
  readonly expect?: ReadonlyMap<string, number>;
}

export interface WorkflowVersion {
  readonly version: number;
  readonly description: string;
  readonly createTime: EpochMs;
}

/** What becomes of what arrived while a group could not fire. CATCH_UP: one run for all of it; SKIP: it counts as consumed. */
export type Resume = 'CATCH_UP' | 'SKIP';
