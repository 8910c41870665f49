import { describe, expect, it } from 'vitest';
import type { Commit } from '../../../src/core/asset/version.ts';
import {
  AssetMemory,
  commitOf,
  conditionOf,
  GroupMemory,
  groupOf,
  keyOf,
  ORDERS,
  schemaOf,
  statedOf,
} from './memory.ts';

/**
 * The trade chain of the RFC over two business days, as a real Paimon engine wrote it (recorded/paimon/gmv, steps.jsonl): ids, kinds, times
 * and counts of its commits, by hand. The group of DWD: orders that passed their check and fit the schema, AND payments.
 */
const PAYMENTS = keyOf('paimon://ods_db/ods_payment_latest');
const DWS = keyOf('paimon://dw_db/dws_gmv_daily');

const at = (clock: string): bigint => BigInt(Date.parse(`2026-11-30T${clock}Z`));

const COLUMNS = {
  payment_id: 'BIGINT',
  order_id: 'BIGINT',
  pay_channel: 'STRING',
  pay_amount: 'DECIMAL(10,2)',
  dt: 'STRING',
};
const PAYMENT_SCHEMAS = [
  schemaOf('0', COLUMNS),
  schemaOf('1', { ...COLUMNS, coupon_id: 'STRING' }),
  schemaOf('2', { ...COLUMNS, pay_amount: 'STRING', coupon_id: 'STRING' }),
];

const setup = () => {
  const orders = new AssetMemory({ key: ORDERS });
  const payments = new AssetMemory({ key: PAYMENTS });
  const dws = new AssetMemory({ key: DWS });
  const base = schemaOf('0', { id: 'BIGINT' });
  const schema = (id: string) => PAYMENT_SCHEMAS.find((one) => one.schemaId === id) ?? base;
  orders.poll({ schema: base, newSchemas: [base] });
  payments.poll({ schema: schema('0'), newSchemas: [schema('0')] });
  dws.poll({ schema: base, newSchemas: [base] });
  const conditions = [
    conditionOf(ORDERS, { alias: 'orders', qualityStatus: 'PASSED', schemaStatus: 'COMPATIBLE' }),
    conditionOf(PAYMENTS, { alias: 'payments', schemaStatus: 'COMPATIBLE' }),
  ];
  const dwd = new GroupMemory(groupOf(conditions), [orders, payments]);
  const ads = new GroupMemory(groupOf([conditionOf(DWS, { alias: 'dws' })]), [dws]);
  const commit = (memory: AssetMemory, id: string, clock: string, patch: Partial<Commit>) =>
    memory.poll({ commits: [commitOf(id, at(clock), patch)] });
  const alter = (id: string) => payments.poll({ schema: schema(id), newSchemas: [schema(id)] });
  const check = (id: string, result: 'PASSED' | 'FAILED', clock: string) =>
    orders.push(statedOf(`QUALITY_CHECK_${result}`, { snapshotId: id, checkName: 'amounts', commitTime: at(clock) }));
  return { orders, payments, dws, dwd, ads, commit, alter, check };
};

const pins = (orders: string, payments: string) => ({ ods_order_latest: orders, ods_payment_latest: payments });

describe('the GMV chain', () => {
  it('day one: late payments, a failing check, compaction, empty commit', () => {
    const { orders, payments, dwd, commit, check } = setup();
    commit(orders, '1', '09:38:23.910', { addedRecords: 3n, totalRecords: 3n });
    commit(orders, '2', '09:38:29.674', { addedRecords: 4n, totalRecords: 7n });
    check('2', 'PASSED', '09:38:31');
    expect(dwd.blocked()).toEqual(['BLOCKED_BY_SNAPSHOT | a version with schema COMPATIBLE | no version yet']);
    commit(payments, '1', '09:38:35.749', { addedRecords: 3n, totalRecords: 3n });
    expect(dwd.fire()).toEqual(pins('2', '1'));
    expect(dwd.fire()).toBeNull();

    commit(orders, '3', '09:39:18.784', {
      operation: 'COMPACT',
      dataChange: false,
      addedRecords: -3n,
      totalRecords: 4n,
    });
    check('3', 'PASSED', '09:39:20');
    expect(dwd.fire()).toBeNull();
    commit(orders, '4', '09:39:25.415', { addedRecords: 2n, totalRecords: 6n });
    check('4', 'FAILED', '09:39:27');
    commit(payments, '2', '09:39:35.494', { addedRecords: 2n, totalRecords: 5n });
    expect(dwd.blocked()).toEqual([
      'BLOCKED_BY_QUALITY | quality PASSED for a version newer than 2 | newest is 4 (APPEND, 2026-11-30T09:39:25.415Z): quality FAILED',
    ]);
    check('4', 'PASSED', '09:39:40');
    expect(dwd.fire()).toEqual(pins('4', '2'));

    commit(payments, '3', '09:40:29.278', { dataChange: false, addedRecords: 0n, totalRecords: 5n });
    expect(dwd.fire()).toBeNull();
    expect(dwd.blocked()[1]).toMatch(/newest is 3 \(APPEND, .*\): no new data/);
  });

  it('day two: a nullable column passes by itself, an incompatible type waits for approval', () => {
    const { orders, payments, dwd, commit, alter, check } = setup();
    commit(orders, '4', '09:39:25.415', {});
    commit(payments, '2', '09:39:35.494', {});
    check('4', 'PASSED', '09:39:40');
    expect(dwd.fire()).toEqual(pins('4', '2'));

    alter('1');
    commit(orders, '5', '09:40:38.423', { addedRecords: 3n });
    commit(orders, '6', '09:40:45.615', { addedRecords: 1n });
    check('6', 'PASSED', '09:40:50');
    commit(payments, '4', '09:40:57.130', { schemaId: '1', addedRecords: 2n });
    expect(dwd.fire()).toEqual(pins('6', '4'));

    commit(payments, '5', '09:41:51.029', { schemaId: '1', addedRecords: 1n });
    expect(dwd.fire()).toBeNull();
    alter('2');
    commit(orders, '7', '09:43:15.308', { addedRecords: 1n });
    check('7', 'PASSED', '09:43:20');
    // The correction of step 25 has not been consumed and was written under the accepted schema.
    expect(dwd.fire()).toEqual(pins('7', '5'));
    commit(payments, '6', '09:43:35.636', { schemaId: '2', addedRecords: 1n });
    commit(orders, '8', '09:43:40', {});
    check('8', 'PASSED', '09:43:41');
    expect(dwd.blocked()).toEqual([
      'BLOCKED_BY_SCHEMA | schema COMPATIBLE for a version newer than 5 | newest is 6 (APPEND, 2026-11-30T09:43:35.636Z): schema 2 PENDING_APPROVAL',
    ]);
    payments.push(statedOf('SCHEMA_CHANGE_APPROVED', { schemaId: '2', sourceType: 'USER' }));
    expect(dwd.fire()).toEqual(pins('8', '6'));
  });

  it('ANALYZE starts nothing; a commit and its compaction in one poll start one run', () => {
    const { dws, ads, commit } = setup();
    commit(dws, '2', '09:39:59.199', {});
    expect(ads.fire()).toEqual({ dws_gmv_daily: '2' });
    const analyze = { operation: 'ANALYZE', dataChange: false, addedRecords: 0n };
    dws.poll({ commits: [commitOf('3', at('09:40:28.723'), analyze), commitOf('4', at('09:40:28.780'), analyze)] });
    expect(ads.fire()).toBeNull();
    commit(dws, '5', '09:41:20.841', {});
    expect(ads.fire()).toEqual({ dws_gmv_daily: '5' });
    commit(dws, '6', '09:42:25.533', {});
    expect(ads.fire()).toEqual({ dws_gmv_daily: '6' });
    const compact = { operation: 'COMPACT', dataChange: false, addedRecords: -3n };
    dws.poll({ commits: [commitOf('7', at('09:44:48.688')), commitOf('8', at('09:44:49.005'), compact)] });
    expect(ads.fire()).toEqual({ dws_gmv_daily: '7' });
    expect(ads.fire()).toBeNull();
  });
});
