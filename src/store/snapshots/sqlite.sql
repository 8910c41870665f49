-- Written by `npm run generate` from src/store/migrations: edit those.

CREATE TABLE t_ds_version (
  version INTEGER NOT NULL,
  name TEXT NOT NULL,
  apply_time INTEGER NOT NULL,
  PRIMARY KEY (version)
) STRICT;

CREATE TABLE t_ds_master (
  shard_id INTEGER NOT NULL,
  owner TEXT NOT NULL,
  generation INTEGER NOT NULL,
  claim_time INTEGER NOT NULL,
  PRIMARY KEY (shard_id)
) STRICT;

CREATE TABLE t_ds_code_sequence (
  name TEXT NOT NULL,
  next_code INTEGER NOT NULL,
  PRIMARY KEY (name)
) STRICT;

CREATE TABLE t_ds_project (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  code INTEGER NOT NULL,
  name TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  UNIQUE (code),
  UNIQUE (name)
) STRICT;

CREATE TABLE t_ds_workflow_definition (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  code INTEGER NOT NULL,
  version INTEGER NOT NULL,
  name TEXT NOT NULL,
  project_code INTEGER NOT NULL,
  release_state INTEGER NOT NULL,
  flag INTEGER NOT NULL CHECK (flag IN (0, 1)),
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  UNIQUE (code),
  UNIQUE (project_code, name)
) STRICT;

CREATE INDEX t_ds_workflow_definition_1 ON t_ds_workflow_definition (name);

CREATE TABLE t_ds_workflow_definition_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  code INTEGER NOT NULL,
  version INTEGER NOT NULL,
  name TEXT NOT NULL,
  project_code INTEGER NOT NULL,
  description TEXT NOT NULL,
  timezone_id TEXT NOT NULL,
  global_params TEXT NOT NULL,
  failure_strategy INTEGER NOT NULL,
  inputs_json TEXT NOT NULL,
  groups_json TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  UNIQUE (code, version)
) STRICT;

CREATE TABLE t_ds_task_definition (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  code INTEGER NOT NULL,
  version INTEGER NOT NULL,
  name TEXT NOT NULL,
  project_code INTEGER NOT NULL,
  workflow_definition_code INTEGER NOT NULL,
  task_type TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  UNIQUE (code),
  UNIQUE (workflow_definition_code, name)
) STRICT;

CREATE TABLE t_ds_task_definition_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  code INTEGER NOT NULL,
  version INTEGER NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  project_code INTEGER NOT NULL,
  workflow_definition_code INTEGER NOT NULL,
  task_type TEXT NOT NULL,
  task_params TEXT NOT NULL,
  local_params TEXT NOT NULL,
  flag INTEGER NOT NULL CHECK (flag IN (0, 1)),
  fail_retry_times INTEGER NOT NULL,
  fail_retry_interval_seconds INTEGER NOT NULL,
  timeout_seconds INTEGER,
  inputs_json TEXT NOT NULL,
  outputs_json TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  UNIQUE (code, version)
) STRICT;

CREATE INDEX t_ds_task_definition_log_1 ON t_ds_task_definition_log (workflow_definition_code, name, version);

CREATE TABLE t_ds_workflow_task_relation (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workflow_definition_code INTEGER NOT NULL,
  workflow_definition_version INTEGER NOT NULL,
  pre_task_code INTEGER NOT NULL,
  pre_task_version INTEGER NOT NULL,
  post_task_code INTEGER NOT NULL,
  post_task_version INTEGER NOT NULL,
  position INTEGER NOT NULL,
  UNIQUE (workflow_definition_code, workflow_definition_version, pre_task_code, post_task_code)
) STRICT;

CREATE TABLE t_ds_command (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  command_type INTEGER NOT NULL,
  workflow_definition_code INTEGER NOT NULL,
  workflow_definition_version INTEGER NOT NULL,
  workflow_instance_id INTEGER NOT NULL,
  workflow_instance_priority INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  UNIQUE (workflow_instance_id)
) STRICT;

CREATE INDEX t_ds_command_1 ON t_ds_command (workflow_instance_priority, id);

CREATE TABLE t_ds_workflow_instance (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workflow_definition_code INTEGER NOT NULL,
  workflow_definition_version INTEGER NOT NULL,
  project_code INTEGER NOT NULL,
  state INTEGER NOT NULL,
  state_history TEXT NOT NULL,
  state_reason TEXT,
  command_type INTEGER NOT NULL,
  start_tasks_json TEXT NOT NULL,
  task_depend_type INTEGER NOT NULL,
  failure_strategy INTEGER NOT NULL,
  start_params TEXT NOT NULL,
  pins_json TEXT NOT NULL,
  trigger_group TEXT,
  trigger_group_id INTEGER,
  trigger_key TEXT,
  idempotency_key TEXT,
  idempotency_hash TEXT,
  schedule_time INTEGER,
  start_time INTEGER NOT NULL,
  end_time INTEGER,
  run_times INTEGER NOT NULL,
  workflow_instance_priority INTEGER NOT NULL,
  UNIQUE (idempotency_hash)
) STRICT;

CREATE INDEX t_ds_workflow_instance_1 ON t_ds_workflow_instance (workflow_definition_code, id);

CREATE INDEX t_ds_workflow_instance_2 ON t_ds_workflow_instance (state, id);

CREATE INDEX t_ds_workflow_instance_3 ON t_ds_workflow_instance (trigger_group_id, state, id);

CREATE INDEX t_ds_workflow_instance_4 ON t_ds_workflow_instance (project_code, id);

CREATE TABLE t_ds_task_instance (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workflow_instance_id INTEGER NOT NULL REFERENCES t_ds_workflow_instance (id) ON DELETE CASCADE,
  task_code INTEGER NOT NULL,
  name TEXT NOT NULL,
  task_type TEXT NOT NULL,
  state INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  retry_times INTEGER NOT NULL,
  flag INTEGER NOT NULL CHECK (flag IN (0, 1)),
  fence INTEGER NOT NULL,
  not_before INTEGER,
  submit_time INTEGER NOT NULL,
  start_time INTEGER,
  end_time INTEGER,
  deadline INTEGER,
  exit_code INTEGER,
  reason TEXT,
  kill_reason TEXT,
  host TEXT,
  pid INTEGER,
  workflow_instance_priority INTEGER NOT NULL,
  UNIQUE (workflow_instance_id, task_code, attempt)
) STRICT;

CREATE INDEX t_ds_task_instance_1 ON t_ds_task_instance (state, workflow_instance_priority, id);

CREATE TABLE t_ds_asset (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  asset_key TEXT NOT NULL,
  asset_hash TEXT NOT NULL,
  project_code INTEGER NOT NULL,
  storage_format TEXT NOT NULL,
  catalog_name TEXT NOT NULL,
  database_name TEXT NOT NULL,
  table_name TEXT NOT NULL,
  branch_name TEXT,
  location TEXT,
  description TEXT NOT NULL,
  push_mode TEXT NOT NULL,
  on_gap TEXT NOT NULL,
  on_rollback TEXT NOT NULL,
  on_recreate TEXT NOT NULL,
  schema_policy TEXT NOT NULL,
  required_checks_json TEXT NOT NULL,
  poll_interval_ms INTEGER,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  UNIQUE (asset_hash)
) STRICT;

CREATE INDEX t_ds_asset_1 ON t_ds_asset (project_code);

CREATE TABLE t_ds_asset_state (
  asset_id INTEGER NOT NULL REFERENCES t_ds_asset (id) ON DELETE CASCADE,
  asset_key TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  last_ordinal INTEGER NOT NULL,
  latest_snapshot_id TEXT,
  latest_epoch INTEGER,
  latest_ordinal INTEGER,
  latest_data_snapshot_id TEXT,
  latest_data_epoch INTEGER,
  latest_data_ordinal INTEGER,
  latest_watermark INTEGER,
  latest_tag TEXT,
  quality_status TEXT NOT NULL,
  schema_status TEXT NOT NULL,
  latest_schema_id TEXT,
  accepted_schema_id TEXT,
  backfill_status TEXT NOT NULL,
  backfill_since INTEGER,
  backfill_until INTEGER,
  cdc_status TEXT NOT NULL,
  health TEXT NOT NULL,
  health_reason TEXT,
  health_since INTEGER NOT NULL,
  table_id TEXT,
  version INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  PRIMARY KEY (asset_id)
) STRICT;

CREATE TABLE t_ds_asset_version (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  asset_id INTEGER NOT NULL REFERENCES t_ds_asset (id) ON DELETE CASCADE,
  epoch INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  snapshot_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  data_change INTEGER NOT NULL CHECK (data_change IN (0, 1)),
  pending_data INTEGER CHECK (pending_data IN (0, 1)),
  commit_time INTEGER NOT NULL,
  watermark INTEGER,
  schema_id TEXT,
  added_records INTEGER,
  total_records INTEGER,
  partitions_json TEXT,
  read_as TEXT,
  action TEXT,
  backfill INTEGER CHECK (backfill IN (0, 1)),
  sequence_number INTEGER,
  status TEXT NOT NULL,
  origin TEXT NOT NULL,
  record_time INTEGER NOT NULL,
  UNIQUE (asset_id, epoch, snapshot_id),
  UNIQUE (asset_id, ordinal)
) STRICT;

CREATE TABLE t_ds_asset_schema (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  asset_id INTEGER NOT NULL REFERENCES t_ds_asset (id) ON DELETE CASCADE,
  epoch INTEGER NOT NULL,
  schema_id TEXT NOT NULL,
  status TEXT NOT NULL,
  decided_by TEXT NOT NULL,
  changes_json TEXT NOT NULL,
  schema_json TEXT,
  seen_time INTEGER NOT NULL,
  UNIQUE (asset_id, epoch, schema_id)
) STRICT;

CREATE TABLE t_ds_asset_tag (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  asset_id INTEGER NOT NULL REFERENCES t_ds_asset (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  snapshot_id TEXT NOT NULL,
  occurrence INTEGER NOT NULL,
  tag_time INTEGER NOT NULL,
  deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)),
  UNIQUE (asset_id, tag)
) STRICT;

CREATE TABLE t_ds_asset_quality (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  asset_id INTEGER NOT NULL REFERENCES t_ds_asset (id) ON DELETE CASCADE,
  epoch INTEGER NOT NULL,
  snapshot_id TEXT,
  check_name TEXT NOT NULL,
  status TEXT NOT NULL,
  check_time INTEGER NOT NULL,
  started_at INTEGER,
  check_run_id TEXT,
  waiting INTEGER NOT NULL CHECK (waiting IN (0, 1)),
  UNIQUE (asset_id, epoch, snapshot_id, check_name)
) STRICT;

CREATE INDEX t_ds_asset_quality_1 ON t_ds_asset_quality (asset_id, waiting);

CREATE TABLE t_ds_asset_event (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  dedup_key TEXT NOT NULL,
  dedup_hash TEXT NOT NULL,
  duplicate_count INTEGER NOT NULL,
  asset_id INTEGER NOT NULL REFERENCES t_ds_asset (id) ON DELETE CASCADE,
  asset_key TEXT NOT NULL,
  project_code INTEGER NOT NULL,
  event_type TEXT NOT NULL,
  source_type TEXT NOT NULL,
  event_id TEXT,
  epoch INTEGER NOT NULL,
  ordinal INTEGER,
  status TEXT NOT NULL,
  hint_polls INTEGER NOT NULL,
  sentence TEXT NOT NULL,
  snapshot_id TEXT,
  schema_id TEXT,
  watermark INTEGER,
  commit_kind TEXT,
  commit_time INTEGER,
  delta_record_count INTEGER,
  partition_key TEXT,
  sequence_number INTEGER,
  data_change INTEGER CHECK (data_change IN (0, 1)),
  table_id TEXT,
  check_name TEXT,
  check_run_id TEXT,
  started_at INTEGER,
  tag TEXT,
  backfill INTEGER CHECK (backfill IN (0, 1)),
  payload TEXT,
  receive_time INTEGER NOT NULL,
  UNIQUE (dedup_hash)
) STRICT;

CREATE INDEX t_ds_asset_event_1 ON t_ds_asset_event (asset_id, id);

CREATE INDEX t_ds_asset_event_2 ON t_ds_asset_event (event_type, id);

CREATE INDEX t_ds_asset_event_3 ON t_ds_asset_event (asset_id, event_type, ordinal);

CREATE INDEX t_ds_asset_event_4 ON t_ds_asset_event (status, asset_id);

CREATE INDEX t_ds_asset_event_5 ON t_ds_asset_event (project_code, id);

CREATE TABLE t_ds_asset_event_consumer_offset (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  source_type TEXT NOT NULL,
  consumer_group TEXT NOT NULL,
  asset_id INTEGER NOT NULL REFERENCES t_ds_asset (id) ON DELETE CASCADE,
  asset_key TEXT NOT NULL,
  cursor_json TEXT,
  last_snapshot_id TEXT,
  last_scan_time INTEGER,
  first_read_time INTEGER,
  failures INTEGER NOT NULL,
  waiting INTEGER NOT NULL CHECK (waiting IN (0, 1)),
  revision INTEGER NOT NULL,
  UNIQUE (asset_id, source_type, consumer_group)
) STRICT;

CREATE TABLE t_ds_asset_dependency_group (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workflow_definition_code INTEGER NOT NULL,
  task_definition_code INTEGER NOT NULL,
  dependency_group TEXT NOT NULL,
  position INTEGER NOT NULL,
  settings_json TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  paused INTEGER NOT NULL CHECK (paused IN (0, 1)),
  revision INTEGER NOT NULL,
  ready INTEGER NOT NULL CHECK (ready IN (0, 1)),
  leaves_json TEXT NOT NULL,
  last_fire_time INTEGER,
  last_instance_id INTEGER,
  last_trigger_key TEXT,
  last_pins_json TEXT,
  last_leaves_json TEXT,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  UNIQUE (workflow_definition_code, task_definition_code, dependency_group)
) STRICT;

CREATE TABLE t_ds_asset_dependency (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  group_id INTEGER NOT NULL REFERENCES t_ds_asset_dependency_group (id) ON DELETE CASCADE,
  workflow_definition_code INTEGER NOT NULL,
  task_definition_code INTEGER,
  dependency_group TEXT NOT NULL,
  asset_key TEXT NOT NULL,
  asset_hash TEXT NOT NULL,
  position INTEGER NOT NULL,
  condition_json TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  UNIQUE (group_id, asset_hash)
) STRICT;

CREATE INDEX t_ds_asset_dependency_1 ON t_ds_asset_dependency (asset_hash, group_id);

CREATE INDEX t_ds_asset_dependency_2 ON t_ds_asset_dependency (workflow_definition_code);

CREATE TABLE t_ds_asset_dependency_consumed (
  dependency_id INTEGER NOT NULL REFERENCES t_ds_asset_dependency (id) ON DELETE CASCADE,
  epoch INTEGER,
  ordinal INTEGER,
  snapshot_id TEXT,
  schema_id TEXT,
  baseline_known INTEGER NOT NULL CHECK (baseline_known IN (0, 1)),
  begin_time INTEGER NOT NULL,
  begin_snapshot_id TEXT,
  update_time INTEGER NOT NULL,
  PRIMARY KEY (dependency_id)
) STRICT;

CREATE TABLE t_ds_asset_evaluation_queue (
  group_id INTEGER NOT NULL REFERENCES t_ds_asset_dependency_group (id) ON DELETE CASCADE,
  due_time INTEGER NOT NULL,
  PRIMARY KEY (group_id)
) STRICT;

CREATE INDEX t_ds_asset_evaluation_queue_1 ON t_ds_asset_evaluation_queue (due_time);

CREATE TABLE t_ds_asset_leaf_history (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  group_id INTEGER NOT NULL REFERENCES t_ds_asset_dependency_group (id) ON DELETE CASCADE,
  asset_key TEXT,
  alias TEXT,
  met INTEGER NOT NULL CHECK (met IN (0, 1)),
  code TEXT,
  needed TEXT NOT NULL,
  actual TEXT NOT NULL,
  since INTEGER NOT NULL
) STRICT;

CREATE INDEX t_ds_asset_leaf_history_1 ON t_ds_asset_leaf_history (group_id, id);

CREATE TABLE t_ds_asset_trigger_history (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  trigger_key TEXT NOT NULL,
  workflow_definition_code INTEGER NOT NULL,
  workflow_instance_id INTEGER,
  task_definition_code INTEGER,
  task_instance_id INTEGER,
  dependency_group TEXT NOT NULL,
  trigger_status TEXT NOT NULL,
  reason TEXT,
  pins_json TEXT NOT NULL,
  leaves_json TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  UNIQUE (trigger_key)
) STRICT;

CREATE INDEX t_ds_asset_trigger_history_1 ON t_ds_asset_trigger_history (workflow_definition_code, id);

CREATE TABLE t_ds_task_dependency_consumed (
  task_definition_code INTEGER NOT NULL,
  asset_hash TEXT NOT NULL,
  asset_key TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  snapshot_id TEXT NOT NULL,
  schema_id TEXT,
  workflow_instance_id INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  PRIMARY KEY (task_definition_code, asset_hash)
) STRICT;

ALTER TABLE t_ds_task_definition_log ADD COLUMN wait_json TEXT;

ALTER TABLE t_ds_workflow_instance ADD COLUMN begin_ordinals_json TEXT;

ALTER TABLE t_ds_task_instance ADD COLUMN waiting INTEGER NOT NULL DEFAULT 0 CHECK (waiting IN (0, 1));

ALTER TABLE t_ds_task_instance ADD COLUMN pins_json TEXT;

ALTER TABLE t_ds_task_instance ADD COLUMN pins_void INTEGER NOT NULL DEFAULT 0 CHECK (pins_void IN (0, 1));

CREATE INDEX t_ds_task_instance_v3_1 ON t_ds_task_instance (state, waiting, workflow_instance_priority, id);

CREATE INDEX t_ds_task_instance_v3_2 ON t_ds_task_instance (waiting, deadline);

ALTER TABLE t_ds_asset_dependency_group ADD COLUMN task_instance_id INTEGER;

CREATE INDEX t_ds_asset_dependency_group_v3_1 ON t_ds_asset_dependency_group (task_instance_id);

CREATE INDEX t_ds_asset_trigger_history_v3_1 ON t_ds_asset_trigger_history (task_definition_code, id);

CREATE TABLE t_ds_idempotency (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key_hash TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  status INTEGER,
  answer TEXT,
  create_time INTEGER NOT NULL,
  UNIQUE (key_hash)
) STRICT;

CREATE INDEX t_ds_idempotency_1 ON t_ds_idempotency (create_time);

ALTER TABLE t_ds_asset_event_consumer_offset ADD COLUMN asks INTEGER;

CREATE INDEX t_ds_asset_event_consumer_offset_v4_1 ON t_ds_asset_event_consumer_offset (waiting);

ALTER TABLE t_ds_asset_trigger_history ADD COLUMN suppressed_count INTEGER;

ALTER TABLE t_ds_asset_trigger_history ADD COLUMN suppressed_time INTEGER;

ALTER TABLE t_ds_task_instance ADD COLUMN var_pool TEXT;

CREATE TABLE t_ds_asset_change (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  asset_hash TEXT NOT NULL,
  change_time INTEGER NOT NULL
) STRICT;

DROP INDEX t_ds_asset_event_3;

DROP INDEX t_ds_asset_event_4;

CREATE INDEX t_ds_asset_event_v6_p1 ON t_ds_asset_event (asset_id, id) WHERE event_type = 'HISTORY_GAP';

CREATE INDEX t_ds_asset_event_v6_p2 ON t_ds_asset_event (asset_id, id) WHERE status IN ('HINT', 'IGNORED_STALE', 'UNCONFIRMED');

DROP INDEX t_ds_asset_event_2;

CREATE INDEX t_ds_asset_event_v7_p1 ON t_ds_asset_event (event_type, id) WHERE event_type <> 'SNAPSHOT_COMMITTED';

ALTER TABLE t_ds_project ADD COLUMN paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1));

