import { RUN_STATES, RUN_STATE_CODES } from '../../../src/core/workflow/run-state.ts';
import { TASK_STATES, TASK_STATE_CODES } from '../../../src/core/workflow/task-state.ts';
import { ask, type Rows } from '../ledger.ts';
import type { Place } from '../../support/server.ts';
import { Ledger, type Line } from './lines.ts';
import { liveTasks } from './processes.ts';

/** What is there when the storm is over: the database, what tasks noted, and what still runs. */

type Pins = Readonly<Record<string, string>>;

export interface VersionFact {
  readonly assetKey: string;
  readonly epoch: number;
  readonly ordinal: number;
  readonly snapshotId: string;
  readonly data: boolean;
  readonly status: string;
  readonly recordedAt: number;
}

export interface EventFact {
  readonly assetKey: string;
  readonly type: string;
  readonly status: string;
  readonly snapshotId: string | null;
  readonly eventId: string | null;
}

export interface VerdictFact {
  readonly assetKey: string;
  readonly snapshotId: string | null;
  readonly check: string;
  readonly status: string;
  readonly waiting: boolean;
}

export interface TriggerFact {
  readonly id: number;
  readonly key: string;
  readonly workflow: string;
  readonly workflowCode: number;
  readonly group: string;
  readonly status: string;
  readonly runId: number | null;
  /** Set: it released this attempt of a waiting task. */
  readonly task: { readonly code: number; readonly instanceId: number } | null;
  readonly pins: Pins;
  readonly at: number;
}

export interface RunFact {
  readonly id: number;
  readonly workflow: string;
  readonly state: string;
  readonly group: string | null;
  readonly triggerKey: string | null;
  readonly idempotencyKey: string | null;
  readonly pins: Pins;
  readonly startedAt: number;
}

export interface AttemptFact {
  readonly id: number;
  readonly runId: number;
  readonly name: string;
  readonly attempt: number;
  readonly fence: number;
  readonly state: string;
  /** Counts for the run; else a later attempt has taken its place. */
  readonly valid: boolean;
  readonly exitCode: number | null;
  readonly reason: string | null;
  /** What released it, if it waited. */
  readonly pins: Pins | null;
}

export interface ConsumedFact {
  readonly workflow: string;
  readonly group: string;
  readonly assetKey: string;
  readonly snapshotId: string | null;
}

export interface HeadFact {
  readonly assetKey: string;
  readonly snapshotId: string | null;
  readonly dataSnapshotId: string | null;
}

/** What is left to do. */
export interface Left {
  readonly commands: number;
  readonly changes: number;
  readonly evaluations: number;
  readonly waitingGroups: number;
  readonly wantedScans: number;
}

export interface Facts {
  readonly versions: readonly VersionFact[];
  readonly heads: readonly HeadFact[];
  readonly events: readonly EventFact[];
  readonly verdicts: readonly VerdictFact[];
  readonly triggers: readonly TriggerFact[];
  readonly runs: readonly RunFact[];
  readonly attempts: readonly AttemptFact[];
  readonly consumed: readonly ConsumedFact[];
  readonly left: Left;
  readonly lines: readonly Line[];
  /** Processes of tasks that still run. */
  readonly processes: readonly number[];
}

const count = (from: string): string => `SELECT count(*) AS n FROM ${from}`;

const QUERIES = {
  versions: `SELECT a.asset_key, v.epoch, v.ordinal, v.snapshot_id, v.data_change, v.status, v.record_time
    FROM t_ds_asset_version v JOIN t_ds_asset a ON a.id = v.asset_id ORDER BY v.asset_id, v.ordinal`,
  heads: 'SELECT asset_key, latest_snapshot_id, latest_data_snapshot_id FROM t_ds_asset_state',
  events: 'SELECT asset_key, event_type, status, snapshot_id, event_id FROM t_ds_asset_event ORDER BY id',
  verdicts: `SELECT a.asset_key, q.snapshot_id, q.check_name, q.status, q.waiting
    FROM t_ds_asset_quality q JOIN t_ds_asset a ON a.id = q.asset_id ORDER BY q.id`,
  triggers: `SELECT h.id, h.trigger_key, w.name, w.code, h.dependency_group, h.trigger_status, h.workflow_instance_id,
    h.task_definition_code, h.task_instance_id, h.pins_json, h.create_time
    FROM t_ds_asset_trigger_history h JOIN t_ds_workflow_definition w ON w.code = h.workflow_definition_code ORDER BY h.id`,
  runs: `SELECT i.id, w.name, i.state, i.trigger_group, i.trigger_key, i.idempotency_key, i.pins_json, i.start_time
    FROM t_ds_workflow_instance i JOIN t_ds_workflow_definition w ON w.code = i.workflow_definition_code ORDER BY i.id`,
  attempts: `SELECT id, workflow_instance_id, name, attempt, fence, state, flag, exit_code, reason, pins_json
    FROM t_ds_task_instance ORDER BY id`,
  consumed: `SELECT w.name, d.dependency_group, d.asset_key, c.snapshot_id FROM t_ds_asset_dependency d
    JOIN t_ds_asset_dependency_consumed c ON c.dependency_id = d.id
    JOIN t_ds_asset_dependency_group g ON g.id = d.group_id
    JOIN t_ds_workflow_definition w ON w.code = d.workflow_definition_code
    WHERE g.task_instance_id IS NULL ORDER BY d.id`,
  commands: count('t_ds_command'),
  changes: count('t_ds_asset_change'),
  evaluations: count('t_ds_asset_evaluation_queue'),
  waitingGroups: count('t_ds_asset_dependency_group WHERE task_instance_id IS NOT NULL'),
  wantedScans: count('t_ds_asset_event_consumer_offset WHERE waiting = 1'),
};

type Row = Rows[number];
const num = (row: Row, name: string): number => Number(row[name]);
const text = (row: Row, name: string): string => String(row[name]);
const orNull = <T>(row: Row, name: string, take: (row: Row, name: string) => T): T | null =>
  row[name] === null || row[name] === undefined ? null : take(row, name);

const pinsOf = (row: Row, name: string): Pins => {
  const pins = JSON.parse(text(row, name)) as Readonly<Record<string, { readonly snapshotId: string }>>;
  return Object.fromEntries(Object.entries(pins).map(([key, { snapshotId }]) => [key, snapshotId]));
};

const nameOfCode = <S extends string>(names: readonly S[], codes: Readonly<Record<S, number>>, code: number): string =>
  names.find((name) => codes[name] === code) ?? `state ${code}`;

const runState = (code: number): string => nameOfCode(RUN_STATES, RUN_STATE_CODES, code);
const taskState = (code: number): string => nameOfCode(TASK_STATES, TASK_STATE_CODES, code);

const versionFact = (row: Row): VersionFact => ({
  assetKey: text(row, 'asset_key'),
  epoch: num(row, 'epoch'),
  ordinal: num(row, 'ordinal'),
  snapshotId: text(row, 'snapshot_id'),
  data: num(row, 'data_change') === 1,
  status: text(row, 'status'),
  recordedAt: num(row, 'record_time'),
});

const eventFact = (row: Row): EventFact => ({
  assetKey: text(row, 'asset_key'),
  type: text(row, 'event_type'),
  status: text(row, 'status'),
  snapshotId: orNull(row, 'snapshot_id', text),
  eventId: orNull(row, 'event_id', text),
});

const triggerFact = (row: Row): TriggerFact => {
  const code = orNull(row, 'task_definition_code', num);
  return {
    id: num(row, 'id'),
    key: text(row, 'trigger_key'),
    workflow: text(row, 'name'),
    workflowCode: num(row, 'code'),
    group: text(row, 'dependency_group'),
    status: text(row, 'trigger_status'),
    runId: orNull(row, 'workflow_instance_id', num),
    task: code === null ? null : { code, instanceId: num(row, 'task_instance_id') },
    pins: pinsOf(row, 'pins_json'),
    at: num(row, 'create_time'),
  };
};

const runFact = (row: Row): RunFact => ({
  id: num(row, 'id'),
  workflow: text(row, 'name'),
  state: runState(num(row, 'state')),
  group: orNull(row, 'trigger_group', text),
  triggerKey: orNull(row, 'trigger_key', text),
  idempotencyKey: orNull(row, 'idempotency_key', text),
  pins: pinsOf(row, 'pins_json'),
  startedAt: num(row, 'start_time'),
});

const attemptFact = (row: Row): AttemptFact => ({
  id: num(row, 'id'),
  runId: num(row, 'workflow_instance_id'),
  name: text(row, 'name'),
  attempt: num(row, 'attempt'),
  fence: num(row, 'fence'),
  state: taskState(num(row, 'state')),
  valid: num(row, 'flag') === 1,
  exitCode: orNull(row, 'exit_code', num),
  reason: orNull(row, 'reason', text),
  pins: orNull(row, 'pins_json', pinsOf),
});

type Here = Pick<Place, 'data' | 'databaseUrl'>;

export function readFacts(place: Here, ledger: string): Facts {
  const found = ask(place, QUERIES);
  const n = (name: keyof Left): number => Number(found[name][0]?.['n']);
  return {
    versions: found.versions.map(versionFact),
    heads: found.heads.map((row) => ({
      assetKey: text(row, 'asset_key'),
      snapshotId: orNull(row, 'latest_snapshot_id', text),
      dataSnapshotId: orNull(row, 'latest_data_snapshot_id', text),
    })),
    events: found.events.map(eventFact),
    verdicts: found.verdicts.map((row) => ({
      assetKey: text(row, 'asset_key'),
      snapshotId: orNull(row, 'snapshot_id', text),
      check: text(row, 'check_name'),
      status: text(row, 'status'),
      waiting: num(row, 'waiting') === 1,
    })),
    triggers: found.triggers.map(triggerFact),
    runs: found.runs.map(runFact),
    attempts: found.attempts.map(attemptFact),
    consumed: found.consumed.map((row) => ({
      workflow: text(row, 'name'),
      group: text(row, 'dependency_group'),
      assetKey: text(row, 'asset_key'),
      snapshotId: orNull(row, 'snapshot_id', text),
    })),
    left: {
      commands: n('commands'),
      changes: n('changes'),
      evaluations: n('evaluations'),
      waitingGroups: n('waitingGroups'),
      wantedScans: n('wantedScans'),
    },
    lines: new Ledger(ledger).lines(),
    processes: liveTasks(place.data),
  };
}

const codes = (...states: readonly (keyof typeof RUN_STATE_CODES)[]): string =>
  states.map((state) => RUN_STATE_CODES[state]).join(', ');

const COUNTS = {
  versions: count('t_ds_asset_version'),
  fires: count('t_ds_asset_trigger_history WHERE task_instance_id IS NULL'),
  releases: count('t_ds_asset_trigger_history WHERE task_instance_id IS NOT NULL'),
  runs: count('t_ds_workflow_instance'),
  ended: count(`t_ds_workflow_instance WHERE state IN (${codes('SUCCESS', 'FAILURE')})`),
  attempts: count('t_ds_task_instance'),
  commands: QUERIES.commands,
  changes: QUERIES.changes,
  evaluations: QUERIES.evaluations,
  wantedScans: QUERIES.wantedScans,
};

export type Counts = Readonly<Record<keyof typeof COUNTS, number>>;

/** How far the server is, for people and for whoever waits until it has done everything. */
export function readCounts(place: Here): Counts {
  const found = ask(place, COUNTS);
  return Object.fromEntries(Object.entries(found).map(([name, rows]) => [name, Number(rows[0]?.['n'])])) as Counts;
}
