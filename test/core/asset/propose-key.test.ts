import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proposeKeys } from '../../../src/core/asset/propose-key.ts';

const keysOf = (...paths: string[]) => proposeKeys(paths.map((path) => ({ format: 'paimon', path: path.split('/') })));

describe('proposeKeys', () => {
  test.each([
    ['wh/ods.db/orders', 'paimon://ods/orders'],
    ['wh/ods/orders', 'paimon://ods/orders'],
    ['wh/a/b/ods.DB/orders', 'paimon://ods/orders'],
    ['orders', 'paimon://default/orders'],
    ['wh/.db/orders', 'paimon://.db/orders'],
    ['wh/my db.db/or@ders', 'paimon://my%20db/or%40ders'],
    ['wh/lake/orders-0123456789abcdef0123456789ABCDEF', 'paimon://lake/orders'],
    ['wh/lake/orders_6f1c7c2e-3f0b-4a44-9b57-0d6f4b7a2f11', 'paimon://lake/orders'],
    ['wh/lake/0123456789abcdef0123456789abcdef', 'paimon://lake/0123456789abcdef0123456789abcdef'],
  ])('%s is %s', (path, key) => expect(keysOf(path)).toEqual([key]));

  test('where one key would fit several tables, all of them get longer ones', () => {
    expect(keysOf('wh/eu/ods.db/orders', 'wh/us/ods.db/orders', 'wh/us/ods.db/users')).toEqual([
      'paimon://eu/ods/orders',
      'paimon://us/ods/orders',
      'paimon://ods/users',
    ]);
    const unique = 'wh/lake/orders-0123456789abcdef0123456789abcdef';
    expect(keysOf(unique, 'wh/lake/orders')).toEqual([
      'paimon://lake/orders-0123456789abcdef0123456789abcdef',
      'paimon://lake/orders',
    ]);
    expect(keysOf('wh/ods/t', 'wh/ods.db/t')).toEqual(['paimon://wh/ods/t', 'paimon://wh/ods.db/t']);
  });

  test('one path in two formats is no clash', () => {
    const path = ['wh', 'db', 't'];
    expect(proposeKeys(['delta', 'hudi'].map((format) => ({ format, path })))).toEqual(['delta://db/t', 'hudi://db/t']);
  });

  test('names that cannot stand in a key, or make it too long, get none', () => {
    expect(keysOf('wh/ods/a\u0007b', `wh/ods/${'x'.repeat(600)}`, 'wh/ods/t')).toEqual([null, null, 'paimon://ods/t']);
  });

  test('no two tables ever share a key', () => {
    const name = fc.constantFrom('a', 'b', 'a.db', 'default', 'a-0123456789abcdef0123456789abcdef');
    const paths = fc.uniqueArray(fc.array(name, { minLength: 1, maxLength: 5 }), {
      selector: (path) => path.join('/'),
    });
    fc.assert(
      fc.property(paths, (all) => {
        const keys = proposeKeys(all.map((path) => ({ format: 'delta', path })));
        expect(keys).toHaveLength(all.length);
        const given = keys.filter((key) => key !== null);
        expect(new Set(given).size).toBe(given.length);
      }),
    );
  });
});
