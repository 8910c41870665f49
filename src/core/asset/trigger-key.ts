import type { Pins } from './version.ts';

/** What a trigger key is made of (semantics.md, 4). */
export interface TriggerKeyParts {
  readonly workflowCode: number;
  /** Set for a waiting task: its definition and its instance. */
  readonly task: { readonly code: number; readonly instanceId: number } | null;
  readonly group: string;
  readonly pins: Pins;
}

const MAX_LENGTH = 200;

// By code unit, never by locale: every master must write the same key.
const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const prefixOf = ({ workflowCode, task }: TriggerKeyParts): string =>
  task === null
    ? `workflow_${workflowCode}`
    : `workflow_${workflowCode}_taskdef_${task.code}_instance_${task.instanceId}`;

// Asset keys are percent-encoded already; a pushed id may hold anything.
const escapeKey = (key: string): string => key.replaceAll('+', '%2B').replaceAll('=', '%3D');
const escapeId = (id: string): string => escapeKey(id.replaceAll('%', '%25'));

/**
 * The whole key written out: `workflow_<code>[_taskdef_<code>_instance_<id>]_group_<name>_<asset=epoch:snapshotId+…>`, pins sorted by
 * asset. A plus or an equals sign inside a name or an id is percent-encoded, so that two different pin sets never read the same. A plus, and not
 * a comma, joins them because `${trigger.key}` must be fit for a script (isSafeInScript), and Airflow takes it in a `dag_run_id`.
 */
export const triggerKeyText = (parts: TriggerKeyParts): string => {
  const pins = [...parts.pins].map(([key, pin]) => `${escapeKey(key)}=${pin.epoch}:${escapeId(pin.snapshotId)}`);
  return `${prefixOf(parts)}_group_${parts.group}_${pins.sort(byText).join('+')}`;
};

/** The key as it is stored: written out when it has at most 200 characters, else `sha256_<hex>` of that text. `sha256` gives lower-case hex. */
export const triggerKey = (parts: TriggerKeyParts, sha256: (text: string) => string): string => {
  const text = triggerKeyText(parts);
  return text.length <= MAX_LENGTH ? text : `sha256_${sha256(text)}`;
};
