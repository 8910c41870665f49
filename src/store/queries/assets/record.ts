import { sql, type SqlBool } from 'kysely';
import type { Effects, PollTimes } from '../../../core/asset/ingest/effects.ts';
import { ingestPoll } from '../../../core/asset/ingest/poll.ts';
import type { AssetKey } from '../../../core/asset/key.ts';
import { settleHint, type PushedHint } from '../../../core/asset/ingest/hints.ts';
import type { Cursor, Poll } from '../../../core/asset/poll.ts';
import type { AssetHistory } from '../../../core/asset/state.ts';
import type { EpochMs } from '../../../core/time.ts';
import { big, flag, isSet, num, parse, text } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { Tx } from '../../engine.ts';
import type { RecordReceipt, ScanTarget } from '../../store.ts';
import { RARE_EVENTS } from '../../rare-events.ts';
import { writeChanges } from './effects.ts';
import { type Named, chunks, loadHistory, lockAsset } from './load.ts';
import { assetOf, eventOf } from './rows.ts';
import { fixBaselines } from '../groups/baselines.ts';
import { noteChanges } from '../groups/queue.ts';

export const targetOf = (asset: Row<'t_ds_asset'>, offset: Row<'t_ds_asset_event_consumer_offset'>): ScanTarget => ({
  asset: assetOf(asset),
  cursor: offset.cursor_json === null ? null : parse<Cursor>(offset.cursor_json),
  revision: num(offset.revision),
  failures: num(offset.failures),
  mustRecord: isSet(offset.waiting),
  scanRequests: num(offset.asks ?? 0n),
});

export const recordPoll = async (
  tx: Tx,
  key: AssetKey,
  revision: number,
  poll: Poll,
  times: PollTimes,
): Promise<RecordReceipt> => {
  const record = await lockAsset(tx, key);
  const { row, offset } = record;
  if (num(offset.revision) !== revision) return { kind: 'STALE', target: targetOf(row, offset), events: [] };
  const history = await loadHistory(tx, record, namedByPoll(poll, isSet(offset.waiting)));
  const effects = ingestPoll(history, poll, times);
  const change = { row, state: record.state, effects, versions: history.versions, awaitsVersion: true };
  const events = await writeChanges(tx, [change]);
  const waiting = isSet(offset.waiting) && (await stillWaiting(tx, { row, history, effects, poll, times }));
  const read = poll.outcome.kind !== 'UNREADABLE';
  const moved = movedOffset(offset, poll, times.recordedAt, waiting);
  await tx.db.updateTable('t_ds_asset_event_consumer_offset').set(moved).where('id', '=', offset.id).execute();
  if (read && offset.first_read_time === null && (await fixBaselines(tx, row))) await noteChanges(tx, [row.asset_hash]);
  return { kind: 'RECORDED', target: targetOf(row, { ...offset, ...moved }), events };
};

const movedOffset = (offset: Row<'t_ds_asset_event_consumer_offset'>, poll: Poll, at: EpochMs, waiting: boolean) => {
  const read = poll.outcome.kind !== 'UNREADABLE';
  return {
    cursor_json: poll.cursor === null ? offset.cursor_json : text(poll.cursor),
    last_snapshot_id: poll.head ?? offset.last_snapshot_id,
    last_scan_time: at,
    first_read_time: offset.first_read_time ?? (read ? at : null),
    failures: read ? 0n : offset.failures + 1n,
    waiting: flag(waiting),
    revision: offset.revision + 1n,
  };
};

const namedByPoll = (poll: Poll, waiting: boolean): Named => {
  const { outcome } = poll;
  const looksBack = waiting || outcome.kind === 'ROLLBACK' || outcome.kind === 'RECREATED';
  const to = outcome.kind === 'ROLLBACK' ? outcome.to : null;
  const restored = outcome.kind === 'ROLLBACK' ? outcome.restored?.snapshotId : null;
  const ids = [
    ...poll.commits.map((commit) => commit.snapshotId),
    ...poll.tagChanges.flatMap((change) => [change.snapshotId, change.before]),
    ...[poll.head, poll.dataHead, to, restored],
  ];
  return { snapshotIds: [...new Set(ids.filter((id) => typeof id === 'string'))], rollbackTo: to, looksBack };
};

interface Look {
  readonly row: Row<'t_ds_asset'>;
  readonly history: AssetHistory;
  readonly effects: Effects;
  readonly poll: Poll;
  readonly times: PollTimes;
}

/** Settles the pushes that this poll confirmed or gave up on; whether anything waits for yet another poll. */
const stillWaiting = async (tx: Tx, look: Look): Promise<boolean> => {
  const { row, history, effects, poll, times } = look;
  const hints = await hintsOf(tx, row.id);
  const shown = {
    state: effects.state,
    tags: [...effects.tags, ...history.tags.filter(({ tag }) => !effects.tags.some((other) => other.tag === tag))],
    schemas: [...effects.schemas, ...history.schemas],
    hasNews: effects.newVersions.length > 0,
    startedAt: poll.outcome.kind === 'UNREADABLE' ? null : times.startedAt,
  };
  let open = 0;
  for (const hint of hints) {
    const versionEpochs = await epochsOf(tx, row.id, hint.snapshot_id);
    const { status, polls, sentence } = settleHint(pushedHintOf(hint), { ...shown, versionEpochs });
    if (status === 'HINT') open += 1;
    if (status === hint.status && big(polls) === hint.hint_polls) continue;
    const settled = { status, hint_polls: big(polls), sentence };
    await tx.db.updateTable('t_ds_asset_event').set(settled).where('id', '=', hint.id).execute();
  }
  return open > 0 || (await hasWaitingVerdict(tx, row.id));
};

const hintsOf = (tx: Tx, assetId: bigint) =>
  tx.db
    .selectFrom('t_ds_asset_event')
    .selectAll()
    .where(sql<SqlBool>`${sql.raw(RARE_EVENTS.unused)}`)
    .where('status', '=', 'HINT')
    .where('asset_id', '=', assetId)
    .orderBy('id')
    .execute();

const pushedHintOf = (row: Row<'t_ds_asset_event'>): PushedHint => ({ ...eventOf(row), polls: num(row.hint_polls) });

/** The epochs in which a live version has this id. */
const epochsOf = async (tx: Tx, assetId: bigint, snapshotId: string | null): Promise<readonly number[]> => {
  if (snapshotId === null) return [];
  const query = tx.db.selectFrom('t_ds_asset_version').select('epoch').where('asset_id', '=', assetId);
  const rows = await query.where('snapshot_id', '=', snapshotId).where('status', '=', 'LIVE').execute();
  return rows.map((row) => num(row.epoch));
};

const hasWaitingVerdict = async (tx: Tx, assetId: bigint): Promise<boolean> => {
  const query = tx.db
    .selectFrom('t_ds_asset_quality')
    .select('id')
    .where('asset_id', '=', assetId)
    .where('waiting', '=', 1n)
    .where('snapshot_id', 'is', null);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
};

/** Assets whose time is written by one statement. */
const IDLE_CHUNK = 100;

export const recordIdle = async (
  tx: Tx,
  polls: readonly { readonly key: AssetKey; readonly at: EpochMs }[],
): Promise<void> => {
  for (const part of chunks(polls, IDLE_CHUNK)) {
    const hashes = part.map(({ key }) => tx.sha256(key));
    const rows = await tx.db
      .selectFrom('t_ds_asset')
      .select(['id', 'asset_key'])
      .where('asset_hash', 'in', hashes)
      .execute();
    const at = new Map<string, EpochMs>(part.map((poll) => [poll.key, poll.at]));
    const times = rows.flatMap((row) => ({ id: row.id, at: at.get(row.asset_key) ?? tx.now }));
    const [first, ...others] = times;
    if (first === undefined) continue;
    await tx.db
      .updateTable('t_ds_asset_event_consumer_offset')
      .set((e) => ({
        last_scan_time: others
          .reduce(
            (cases, { id, at: time }) => cases.when('asset_id', '=', id).then(time),
            e.case().when('asset_id', '=', first.id).then(first.at),
          )
          .else(e.ref('last_scan_time'))
          .end(),
      }))
      .where(
        'asset_id',
        'in',
        times.map((time) => time.id),
      )
      .execute();
  }
};
