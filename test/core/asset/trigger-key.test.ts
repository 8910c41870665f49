import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { triggerKey, triggerKeyText } from '../../../src/core/asset/trigger-key.ts';
import { isSafeInScript } from '../../../src/core/workflow/parameters/pin-values.ts';
import type { Pin } from '../../../src/core/asset/version.ts';
import { keyOf } from './memory.ts';

const pin = (snapshotId: string, epoch = 1): Pin => ({ snapshotId, epoch, ordinal: 1 });
const A = keyOf('paimon://db/a');
const B = keyOf('paimon://db/b');
const hash = (text: string) => `h${text.length}`;

describe('triggerKey', () => {
  it('is written out while it is short', () => {
    const pins = new Map([
      [B, pin('7', 2)],
      [A, pin('5')],
    ]);
    const parts = { workflowCode: 12, task: null, group: 'g', pins };
    expect(triggerKey(parts, hash)).toBe('workflow_12_group_g_paimon://db/a=1:5+paimon://db/b=2:7');
    const task = { ...parts, task: { code: 3, instanceId: 4 } };
    expect(triggerKey(task, hash)).toBe('workflow_12_taskdef_3_instance_4_group_g_paimon://db/a=1:5+paimon://db/b=2:7');
  });

  it('of plain names and ids is fit for a script, however many tables it names', () => {
    const pins = new Map([
      [keyOf('paimon://ods_db/ods_order_latest'), pin('1001')],
      [keyOf('iceberg://ref/fx-rates@dev'), pin('18446744073709551615', 3)],
    ]);
    const key = triggerKey({ workflowCode: 12, task: null, group: 'orders_and_fx', pins }, hash);
    expect(key).toBe(
      'workflow_12_group_orders_and_fx_iceberg://ref/fx-rates@dev=3:18446744073709551615+paimon://ods_db/ods_order_latest=1:1001',
    );
    expect(isSafeInScript(key)).toBe(true);
  });

  it('has at most 200 characters, else it is the hash of the same text', () => {
    const of = (length: number) => {
      const table = 'x'.repeat(
        length -
          triggerKeyText({
            workflowCode: 1,
            task: null,
            group: 'g',
            pins: new Map([[keyOf('paimon://d/x'), pin('5')]]),
          }).length +
          1,
      );
      return { workflowCode: 1, task: null, group: 'g', pins: new Map([[keyOf(`paimon://d/${table}`), pin('5')]]) };
    };
    expect(triggerKey(of(200), hash)).toHaveLength(200);
    expect(triggerKey(of(201), hash)).toBe('sha256_h201');
  });

  it('the same pins give the same key in whatever order they came; other pins another one', () => {
    const id = fc.oneof(fc.constantFrom('5', '5+paimon://db/b=1:5', '%2B', '+'), fc.string({ maxLength: 8 }));
    const assets = fc.uniqueArray(fc.constantFrom('a', 'b', 'b+c', 'c=1:5', 'd'), { minLength: 1 });
    const chosen = assets.chain((names) =>
      fc.tuple(
        ...names.map((name) =>
          fc.tuple(
            fc.constant(keyOf(`paimon://db/${name}`)),
            id.map((i) => pin(i)),
          ),
        ),
      ),
    );
    const text = (entries: readonly (readonly [ReturnType<typeof keyOf>, Pin])[]) =>
      triggerKeyText({ workflowCode: 1, task: null, group: 'g', pins: new Map(entries) });
    const content = (entries: readonly (readonly [string, Pin])[]) =>
      JSON.stringify(entries.map(([key, { snapshotId, epoch }]) => [key, snapshotId, epoch]).sort());
    fc.assert(
      fc.property(chosen, chosen, (one, two) => {
        expect(text(one.toReversed())).toBe(text(one));
        expect(text(one) === text(two)).toBe(content(one) === content(two));
      }),
    );
  });
});
