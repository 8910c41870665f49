/**
 * Which recorded commit a writer made, by what it read. The recording (demo/gmv, Flink 2.0.2 on Paimon 2.0.0) holds five commits of each
 * of three writers, each written from pinned versions of its inputs: a task that is given other pins finds no commit and fails.
 */
export interface RecordedWrite {
  readonly writer: 'dwd' | 'dws' | 'ads';
  /** Alias of the pin → snapshot id that the writer's SQL read. */
  readonly reads: Readonly<Record<string, string>>;
  readonly step: number;
}

const RECORDED_WRITES: readonly RecordedWrite[] = [
  { writer: 'dwd', reads: { ods_order_latest: '2', ods_payment_latest: '1' }, step: 5 },
  { writer: 'dwd', reads: { ods_order_latest: '4', ods_payment_latest: '2' }, step: 11 },
  { writer: 'dwd', reads: { ods_order_latest: '6', ods_payment_latest: '4' }, step: 22 },
  { writer: 'dwd', reads: { ods_order_latest: '4', ods_payment_latest: '5' }, step: 26 },
  { writer: 'dwd', reads: { ods_order_latest: '7', ods_payment_latest: '6' }, step: 32 },
  { writer: 'dws', reads: { dwd_trade_event_fact: '1' }, step: 6 },
  { writer: 'dws', reads: { dwd_trade_event_fact: '2' }, step: 12 },
  { writer: 'dws', reads: { dwd_trade_event_fact: '3' }, step: 23 },
  { writer: 'dws', reads: { dwd_trade_event_fact: '4' }, step: 27 },
  { writer: 'dws', reads: { dwd_trade_event_fact: '5' }, step: 33 },
  { writer: 'ads', reads: { dws_gmv_daily: '1' }, step: 7 },
  { writer: 'ads', reads: { dws_gmv_daily: '2' }, step: 13 },
  { writer: 'ads', reads: { dws_gmv_daily: '5' }, step: 24 },
  { writer: 'ads', reads: { dws_gmv_daily: '6' }, step: 28 },
  // The writer read snapshot 8, the compaction right after 7: the same rows, and 7 is what Sluice pins.
  { writer: 'ads', reads: { dws_gmv_daily: '7' }, step: 34 },
];

export const findWrite = (writer: string, pinOf: (alias: string) => string | undefined): RecordedWrite | undefined =>
  RECORDED_WRITES.find(
    (one) => one.writer === writer && Object.entries(one.reads).every(([alias, id]) => pinOf(alias) === id),
  );
