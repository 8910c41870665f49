/**
 * The two business days of the recording, as the writers and people outside of Sluice live them. DWD, DWS and ADS commits are not here:
 * their tasks lay them when Sluice starts them.
 */
const ORDERS = 'paimon://ods_db/ods_order_latest';
const PAYMENTS = 'paimon://ods_db/ods_payment_latest';
const DWS = 'paimon://dw_db/dws_gmv_daily';

export type Act =
  /** A writer outside of Sluice commits: lay the recorded step, wait until Sluice has seen `snapshot` (or the schema, or the tag). */
  | {
      readonly act: 'COMMIT';
      readonly step: number;
      readonly says: string;
      readonly asset: string;
      readonly seen: Seen;
    }
  | { readonly act: 'QUALITY'; readonly passed: boolean; readonly snapshotId: string; readonly says: string }
  | { readonly act: 'APPROVE'; readonly schemaId: string; readonly says: string }
  /** A person starts a run by hand. */
  | { readonly act: 'RUN'; readonly args: readonly string[]; readonly says: string }
  /** The chain must run by itself and produce this. */
  | { readonly act: 'CHAIN'; readonly gmv: string }
  /** Nothing may start; `blockedBy`, if given, must be what `why dwd` says. */
  | { readonly act: 'NOTHING'; readonly because: string; readonly blockedBy?: readonly string[] };

export type Seen = { readonly snapshotId: string } | { readonly eventType: string };

const orders = (step: number, snapshotId: string, says: string): Act => ({
  act: 'COMMIT',
  step,
  says,
  asset: ORDERS,
  seen: { snapshotId },
});
const payments = (step: number, snapshotId: string, says: string): Act => ({
  act: 'COMMIT',
  step,
  says,
  asset: PAYMENTS,
  seen: { snapshotId },
});
const passed = (snapshotId: string): Act => ({
  act: 'QUALITY',
  passed: true,
  snapshotId,
  says: `the quality check of orders snapshot ${snapshotId} passes`,
});

export const STORY: readonly Act[] = [
  orders(2, '1', 'three new orders'),
  passed('1'),
  { act: 'NOTHING', because: 'payments have nothing yet', blockedBy: ['BLOCKED_BY_SNAPSHOT'] },
  orders(3, '2', 'two paid, one cancelled, one new'),
  passed('2'),
  payments(4, '1', 'the late payments arrive'),
  { act: 'CHAIN', gmv: '517.40' },
  orders(8, '3', 'full compaction of orders'),
  {
    act: 'NOTHING',
    because: 'a compaction brings no new rows',
    blockedBy: ['BLOCKED_BY_SNAPSHOT', 'BLOCKED_BY_SNAPSHOT'],
  },
  orders(9, '4', 'one refunded, one late order'),
  payments(10, '2', 'the refund and the late payment'),
  { act: 'QUALITY', passed: false, snapshotId: '4', says: 'the quality check of orders snapshot 4 fails' },
  { act: 'NOTHING', because: 'orders snapshot 4 has not passed', blockedBy: ['BLOCKED_BY_QUALITY'] },
  { act: 'QUALITY', passed: true, snapshotId: '4', says: 'somebody repaired it: the check is run again and passes' },
  { act: 'CHAIN', gmv: '883.40' },
  {
    act: 'COMMIT',
    step: 14,
    says: 'orders tagged 2026-11-29: the day is closed',
    asset: ORDERS,
    seen: { eventType: 'TAG_CREATED' },
  },
  { act: 'COMMIT', step: 15, says: 'payments tagged 2026-11-29', asset: PAYMENTS, seen: { eventType: 'TAG_CREATED' } },
  { act: 'COMMIT', step: 16, says: 'ANALYZE TABLE on DWS: statistics only', asset: DWS, seen: { snapshotId: '4' } },
  payments(17, '3', 'an ingestion run that found nothing and committed all the same'),
  {
    act: 'COMMIT',
    step: 18,
    says: 'payments gain a nullable column',
    asset: PAYMENTS,
    seen: { eventType: 'SCHEMA_CHANGED' },
  },
  {
    act: 'NOTHING',
    because: 'tags, statistics, an empty commit and a compatible schema are no new data',
    blockedBy: ['BLOCKED_BY_SNAPSHOT', 'BLOCKED_BY_SNAPSHOT'],
  },
  orders(19, '5', 'the next day: new orders, one of them a test'),
  orders(20, '6', 'the test order is deleted: rows changed, so this counts'),
  passed('6'),
  payments(21, '4', 'payments of the next day, the first under the new schema'),
  { act: 'CHAIN', gmv: '1328.00' },
  payments(25, '5', 'a payment of 2026-11-29 is corrected'),
  { act: 'NOTHING', because: 'orders have not moved', blockedBy: ['BLOCKED_BY_SNAPSHOT'] },
  {
    act: 'RUN',
    args: ['run', 'dwd', '--pin', `${ORDERS}=tag:2026-11-29`, '--consume'],
    says: 'a person restates 2026-11-29 with orders as tagged that day',
  },
  { act: 'CHAIN', gmv: '873.40' },
  {
    act: 'COMMIT',
    step: 29,
    says: 'payments.pay_amount becomes STRING: incompatible',
    asset: PAYMENTS,
    seen: { eventType: 'SCHEMA_CHANGED' },
  },
  orders(30, '7', 'one more order'),
  passed('7'),
  payments(31, '6', 'the first payment under the incompatible schema'),
  { act: 'NOTHING', because: 'schema 2 of payments waits for approval', blockedBy: ['BLOCKED_BY_SCHEMA'] },
  { act: 'APPROVE', schemaId: '2', says: 'a person approves schema 2 of payments' },
  { act: 'CHAIN', gmv: '1487.00' },
  {
    act: 'COMMIT',
    step: 35,
    says: 'payments drop a column: incompatible again',
    asset: PAYMENTS,
    seen: { eventType: 'SCHEMA_CHANGED' },
  },
  { act: 'NOTHING', because: 'there is no new data', blockedBy: ['BLOCKED_BY_SNAPSHOT', 'BLOCKED_BY_SNAPSHOT'] },
];

export { ORDERS, PAYMENTS };
