import type { EpochMs } from '../../core/time.ts';
import { big, num } from '../codecs.ts';
import type { Tx } from '../engine.ts';
import type { IdempotencyStore } from '../store.ts';

/** How long a key is remembered. */
const KEPT_MS: EpochMs = 86_400_000n;

type Claim = Awaited<ReturnType<IdempotencyStore['claim']>>;

/** Keys that are too old go whenever a new one comes. */
export const claimKey = async (tx: Tx, key: string, request: string): Promise<Claim> => {
  await tx.db
    .deleteFrom('t_ds_idempotency')
    .where('create_time', '<', tx.now - KEPT_MS)
    .execute();
  const row = { key_hash: tx.sha256(key), request_hash: tx.sha256(request), create_time: tx.now };
  if ((await tx.dialect.insertIgnore(tx.db, 't_ds_idempotency', [row])) > 0) return { kind: 'NEW', answer: null };
  const known = await tx.db
    .selectFrom('t_ds_idempotency')
    .selectAll()
    .where('key_hash', '=', row.key_hash)
    .executeTakeFirst();
  if (known === undefined) return { kind: 'NEW', answer: null };
  if (known.request_hash !== row.request_hash) return { kind: 'OTHER', answer: null };
  const { status, answer } = known;
  return { kind: 'SAME', answer: status === null || answer === null ? null : { status: num(status), body: answer } };
};

export const keepAnswer = async (
  tx: Tx,
  key: string,
  answer: { readonly status: number; readonly body: string },
): Promise<void> => {
  await tx.db
    .updateTable('t_ds_idempotency')
    .set({ status: big(answer.status), answer: answer.body })
    .where('key_hash', '=', tx.sha256(key))
    .execute();
};

export const freeKey = async (tx: Tx, key: string): Promise<void> => {
  const hash = tx.sha256(key);
  await tx.db.deleteFrom('t_ds_idempotency').where('key_hash', '=', hash).where('status', 'is', null).execute();
};
