import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ASSET_FORMATS,
  type AssetKey,
  assetName,
  defaultAlias,
  formatAssetKey,
  parseAssetKey,
} from '../../../src/core/asset/key.ts';
import { nearest } from '../../../src/core/nearest.ts';

const canonical = (text: string): string => {
  const key = parseAssetKey(text);
  return key.ok ? key.value : `refused: ${key.problem.detail}`;
};

describe('parseAssetKey', () => {
  it.each([
    ['paimon://ods_db/ods_order_latest', 'paimon://ods_db/ods_order_latest'],
    ['paimon://default/ods_db/ods_order_latest@main', 'paimon://ods_db/ods_order_latest'],
    ['paimon://lake/ods_db/t@dev', 'paimon://lake/ods_db/t@dev'],
    ['iceberg://Ref/FX', 'iceberg://Ref/FX'],
    ['custom://db/a%2fb', 'custom://db/a%2Fb'],
    ['delta://db/%74able', 'delta://db/table'],
    ['hudi://db/a%20b%40c', 'hudi://db/a%20b%40c'],
    ['paimon://库/表', 'paimon://库/表'],
    ['paimon://db/t@%6dain', 'paimon://db/t'],
  ])('%s is %s', (text, key) => expect(canonical(text)).toBe(key));

  it.each([
    ['ods_db/orders', /has no format/],
    ['piamon://db/t', /did you mean "paimon"/],
    ['parquet://db/t', /use one of paimon, iceberg/],
    ['Paimon://db/t', /did you mean "paimon"/],
    ['paimon://orders', /names no table/],
    ['paimon://a/b/c/d', /more than three parts.*%2F/],
    ['paimon:///t', /empty database/],
    ['paimon://db/', /empty table/],
    ['paimon://db/t@', /empty branch/],
    ['paimon:///db/t', /empty catalog/],
    ['paimon://db/t@a@b', /more than one "@".*%40/],
    ['paimon://db/a b', /has " " in its table: write it as %20/],
    ['paimon://db/a?b', /write it as %3F/],
    ['paimon://db/a#b', /write it as %23/],
    ['paimon://db/50%', /write a percent sign as %25/],
    ['paimon://db/%ff', /encodes nothing/],
    ['paimon://db/a%00b', /cannot be printed/],
    [`paimon://db/${'x'.repeat(520)}`, /at most 512/],
    ['', /has no format/],
  ])('refuses %j', (text, why) => {
    const key = parseAssetKey(text);
    expect(key.ok).toBe(false);
    if (key.ok) return;
    expect(key.problem.code).toBe('BAD_ASSET_KEY');
    expect(key.problem.detail).toMatch(why);
  });

  it('gives back every name, and is its own canonical form', () => {
    const name = fc
      .string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
      .filter((part) => !/[\p{Cc}\p{Cs}]/u.test(part));
    const names = fc.record({
      format: fc.constantFrom(...ASSET_FORMATS),
      catalog: fc.oneof(fc.constant('default'), name),
      database: name,
      table: name,
      branch: fc.oneof(
        fc.constant(null),
        name.filter((part) => part !== 'main'),
      ),
    });
    fc.assert(
      fc.property(names, (parts) => {
        const key = formatAssetKey(parts);
        fc.pre(key.length <= 512);
        expect(assetName(key)).toEqual(parts);
        expect(canonical(key)).toBe(key);
      }),
    );
  });
});

describe('nearest', () => {
  it('finds the slip and keeps quiet otherwise', () => {
    expect(nearest('qualtyStatus', ['qualityStatus', 'schemaStatus'])).toBe('qualityStatus');
    expect(nearest('taecg', ['operations'])).toBeUndefined();
    expect(nearest('alais', ['all', 'alias'])).toBe('alias');
  });
});

describe('defaultAlias', () => {
  it.each([
    ['paimon://ods_db/orders', 'orders'],
    ['paimon://ods_db/order-lines.v2', 'order_lines_v2'],
    ['paimon://ods_db/2026', '_2026'],
    ['paimon://库/表', '_'],
  ])('of %s is %s', (key, alias) => expect(defaultAlias(key as AssetKey)).toBe(alias));
});
