import type { AssetKey } from '../asset/key.ts';
import type { DependencyGroup } from '../asset/group.ts';

/** A parameter: DolphinScheduler's Property, of which only the type that is a text is left. */
export interface Parameter {
  readonly prop: string;
  readonly direct: 'IN' | 'OUT';
  readonly value: string;
}

/**
 * What a task waits for once the tasks before it have succeeded (semantics.md, 5): any one of its groups releases it. It holds no slot
 * while it waits.
 */
export interface TaskWait {
  /** OR between them; at least one. */
  readonly groups: readonly DependencyGroup[];
  /**
   * What counts as new for conditions with snapshotRequired and without minSnapshotId. LAST_SUCCESS: newer than what this task consumed in
   * the workflow's last successful run; RUN_START: recorded after this run began; NONE: any version that meets the conditions.
   */
  readonly baseline: 'LAST_SUCCESS' | 'RUN_START' | 'NONE';
  /** From the instant in which it begins to wait; null: for ever. */
  readonly timeoutSeconds: number | null;
  /** FAIL: the attempt fails; SUCCEED: it goes on without pins; WARN: it says so once and goes on waiting. */
  readonly onTimeout: 'FAIL' | 'SUCCEED' | 'WARN';
  /** The longest time until it is evaluated whether anything happened or not; null: only what happens evaluates it. */
  readonly checkIntervalSeconds: number | null;
}

/** A task as a workflow version declares it. `code` is a number below 2^53, unique over all projects and stable over versions. */
export interface TaskDefinition {
  readonly code: number;
  readonly name: string;
  readonly description: string;
  /** `SHELL`, `NOOP` …: a task plugin's name. */
  readonly type: string;
  /** The plugin's own parameters, checked by its schema (SHELL: rawScript). */
  readonly params: Readonly<Record<string, unknown>>;
  readonly localParams: readonly Parameter[];
  /** Names of the tasks that must have succeeded. */
  readonly dependsOn: readonly string[];
  /** NO: the task is not run and its successors go on (DolphinScheduler's flag). */
  readonly flag: 'YES' | 'NO';
  readonly failRetryTimes: number;
  readonly failRetryIntervalSeconds: number;
  /** null: no limit. The attempt's processes are killed at the limit and the attempt FAILED. */
  readonly timeoutSeconds: number | null;
  readonly inputs: readonly AssetKey[];
  readonly outputs: readonly AssetKey[];
  /** null: it starts as soon as the tasks before it have succeeded. */
  readonly wait: TaskWait | null;
}

export interface WorkflowDefinition {
  readonly code: number;
  readonly version: number;
  readonly projectCode: number;
  readonly projectName: string;
  readonly name: string;
  readonly description: string;
  readonly releaseState: 'ONLINE' | 'OFFLINE';
  /** IANA name; what time expressions of its parameters use. */
  readonly timezone: string;
  readonly globalParams: readonly Parameter[];
  readonly failureStrategy: 'CONTINUE' | 'END';
  readonly inputs: readonly AssetKey[];
  /** Workflow-level groups: OR between them. */
  readonly groups: readonly DependencyGroup[];
  readonly tasks: readonly TaskDefinition[];
}
