import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { selectAll } from '../support/postgres-sync.ts';
import type { Place } from '../support/server.ts';

/** What the database and the tasks' own effects say once all is over: the auditor of the crash tests. */

export interface TaskRow {
  readonly run: number;
  readonly task: string;
  readonly attempt: number;
  readonly state: number;
  /** 1: counts for the run; 0: replaced by a later attempt. */
  readonly valid: number;
  readonly started: boolean;
}

export interface Ledger {
  readonly triggerKeys: readonly string[];
  /** Run id → the pins of the trigger record that made it. */
  readonly triggers: readonly { readonly run: number; readonly pins: Readonly<Record<string, string>> }[];
  readonly runs: readonly { readonly id: number; readonly state: number }[];
  readonly tasks: readonly TaskRow[];
  readonly commands: number;
  readonly queued: number;
  /** What each group has consumed of each asset: key → snapshot id. */
  readonly consumed: Readonly<Record<string, string | null>>;
  readonly events: readonly string[];
}

export type Rows = readonly Readonly<Record<string, string | number | null>>[];

const QUERIES = {
  history: 'SELECT * FROM t_ds_asset_trigger_history ORDER BY id',
  runs: 'SELECT id, state FROM t_ds_workflow_instance ORDER BY id',
  tasks: 'SELECT * FROM t_ds_task_instance ORDER BY id',
  commands: 'SELECT count(*) AS n FROM t_ds_command',
  queued: 'SELECT (SELECT count(*) FROM t_ds_asset_evaluation_queue) + (SELECT count(*) FROM t_ds_asset_change) AS n',
  consumed: `SELECT d.asset_key, c.snapshot_id FROM t_ds_asset_dependency d
    JOIN t_ds_asset_dependency_consumed c ON c.dependency_id = d.id ORDER BY d.asset_key`,
  events: 'SELECT dedup_key FROM t_ds_asset_event ORDER BY id',
};

/** The rows of each query, by name: of a server's file, or of its PostgreSQL database, there all as they are at one moment. */
export function ask<N extends string>(
  { data, databaseUrl }: Pick<Place, 'data' | 'databaseUrl'>,
  queries: Readonly<Record<N, string>>,
): Readonly<Record<N, Rows>> {
  if (databaseUrl !== null) return selectAll(databaseUrl, queries);
  const db = new DatabaseSync(join(data, 'sluice.db'), { readOnly: true });
  try {
    const answers = Object.entries<string>(queries).map(([name, sql]) => [name, db.prepare(sql).all()]);
    return Object.fromEntries(answers) as Readonly<Record<N, Rows>>;
  } finally {
    db.close();
  }
}

export function readLedger(place: Place): Ledger {
  const { history, runs, tasks, commands, queued, consumed, events } = ask(place, QUERIES);
  return {
    triggerKeys: history.map((row) => String(row['trigger_key'])),
    triggers: history.map((row) => ({ run: Number(row['workflow_instance_id']), pins: pinsOf(row['pins_json']) })),
    runs: runs.map(({ id, state }) => ({ id: Number(id), state: Number(state) })),
    tasks: tasks.map(taskRow),
    commands: count(commands),
    queued: count(queued),
    consumed: Object.fromEntries(
      consumed.map((row) => [String(row['asset_key']), row['snapshot_id'] as string | null]),
    ),
    events: events.map((row) => String(row['dedup_key'])),
  };
}

const count = (rows: Rows): number => Number(rows[0]?.['n']);

const taskRow = (row: Rows[number]): TaskRow => ({
  run: Number(row['workflow_instance_id']),
  task: String(row['name']),
  attempt: Number(row['attempt']),
  state: Number(row['state']),
  valid: Number(row['flag']),
  started: row['start_time'] !== null,
});

function pinsOf(text: unknown): Readonly<Record<string, string>> {
  const pins = JSON.parse(String(text)) as Readonly<Record<string, { readonly snapshotId: string }>>;
  return Object.fromEntries(Object.entries(pins).map(([key, { snapshotId }]) => [key, snapshotId]));
}

/** One execution of a task's script, by its own account. */
export interface Effect {
  readonly run: number;
  readonly task: string;
  readonly attempt: number;
  readonly snapshot: string;
}

/** A script that notes its beginning, and `OVERLAP` if the same task was already running, then does `body`. */
export const notingScript = (folder: string, body = ''): string =>
  [
    `mkdir "${folder}/$SLUICE_TASK.busy" 2>/dev/null || echo "OVERLAP $SLUICE_TASK" >>"${folder}/effects"`,
    `trap 'rmdir "${folder}/$SLUICE_TASK.busy"' EXIT`,
    `echo "$SLUICE_RUN_ID $SLUICE_TASK $SLUICE_ATTEMPT $SLUICE_ASSET_ORDERS_SNAPSHOT_ID" >>"${folder}/effects"`,
    body,
  ].join('\n');

/** What the scripts noted. Throws if one task ran twice at the same time. */
export function readEffects({ folder }: Place): readonly Effect[] {
  const file = join(folder, 'effects');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const overlap = lines.find((line) => line.startsWith('OVERLAP'));
  if (overlap !== undefined) throw new Error(`A task ran twice at the same time: ${overlap}.`);
  return lines.map((line) => {
    const [run, task = '', attempt, snapshot = ''] = line.split(' ');
    return { run: Number(run), task, attempt: Number(attempt), snapshot };
  });
}
