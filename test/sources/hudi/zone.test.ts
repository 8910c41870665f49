import { describe, expect, test } from 'vitest';
import { parseProperties, type TableConfig } from '../../../src/sources/hudi/properties.ts';
import { findZone, instantOf, readHeader, resolveTime } from '../../../src/sources/hudi/zone.ts';

const config = (...lines: readonly string[]): TableConfig => {
  const parsed = parseProperties(Buffer.from([...lines, 'hoodie.table.name=t'].join('\n')));
  if (parsed === null) throw new Error('no properties');
  return parsed;
};
const shanghai = config('#Properties saved on 2026-11-30T10:35:33.883638870Z', '#Mon Nov 30 18:35:33 CST 2026');
const utc = config('#Updated at 2026-11-30T10:36:00.000Z', '#Mon Nov 30 10:36:00 UTC 2026');

describe('the header of hoodie.properties', () => {
  test.each([
    [['#Properties saved on 2024-04-18T22:35:50.847Z', '#Thu Apr 18 17:35:50 CDT 2024'], 'America/Chicago'],
    [['#Updated at 2026-03-07T22:24:59.031420Z', '#Sat Mar 07 16:24:59 CST 2026'], 'America/Chicago'],
    [['#Properties saved on 2026-11-30T10:35:33Z', '#Mon Nov 30 18:35:33 CST 2026'], '+08:00'],
    [['#Properties saved on 2026-11-30T10:35:33Z', '#Mon Nov 30 16:05:33 IST 2026'], '+05:30'],
    [['#Properties saved on 2026-11-30T10:35:33Z', '#Mon Nov 30 07:05:33 NST 2026'], '-03:30'],
    [['#Properties saved on Mon Feb 10 09:06:10 PST 2020', '#Mon Feb 10 09:06:10 PST 2020'], 'America/Los_Angeles'],
    [['#Updated at 2026-11-30T10:35:33.883Z', '#Mon Nov 30 10:35:33 UTC 2026'], 'UTC'],
  ])('%j', (lines, zone) => {
    expect(readHeader(config(...lines))?.zone).toBe(zone);
  });

  test.each([[[]], [['#a comment']], [['#Mon Feb 10 09:06:10 CST 2020']], [['#Mon Foo 99 09:06:10 XYZ 2020']]])(
    'tells nothing: %j',
    (lines) => {
      expect(readHeader(config(...lines))).toBeNull();
    },
  );
});

describe('the zone of times', () => {
  const zoneOf = (of: TableConfig, times: readonly string[]): string =>
    findZone({ config: of, header: readHeader(of), before: null, times }).zone;

  test('is the header’s, unless they are close to its writing in UTC only', () => {
    expect(zoneOf(shanghai, ['20261130183534237'])).toBe('+08:00');
    expect(zoneOf(shanghai, ['20261130103534237'])).toBe('UTC');
    expect(zoneOf(shanghai, ['20261201090000000'])).toBe('+08:00');
    expect(zoneOf(config(), ['20261201090000000'])).toBe('UTC');
  });

  test('is UTC where the table says so', () => {
    const declared = config(
      '#Properties saved on 2026-11-30T10:35:33Z',
      '#Mon Nov 30 18:35:33 CST 2026',
      'hoodie.table.timeline.timezone=UTC',
    );
    expect(zoneOf(declared, ['20261130183534237'])).toBe('UTC');
  });

  test('changes when another writer saves the properties with new times', () => {
    const before = findZone({
      config: shanghai,
      header: readHeader(shanghai),
      before: null,
      times: ['20261130183534237'],
    });
    const header = readHeader(utc);
    expect(findZone({ config: utc, header, before, times: [] })).toEqual(before);
    expect(findZone({ config: utc, header, before, times: ['20261130103540000'] }).zone).toBe('UTC');
    expect(findZone({ config: utc, header, before, times: ['20261130183540000'] }).zone).toBe('+08:00');
  });

  test('summer time: the offset is that of the time, not of the header', () => {
    expect(instantOf('20240118173550988', 'America/Chicago')).toBe(BigInt(Date.UTC(2024, 0, 18, 23, 35, 50, 988)));
    expect(instantOf('20240418173550988', 'America/Chicago')).toBe(BigInt(Date.UTC(2024, 3, 18, 22, 35, 50, 988)));
    expect(instantOf('20200210090618', '-08:00')).toBe(BigInt(Date.UTC(2020, 1, 10, 17, 6, 18)));
    expect(instantOf('00000000000001', 'UTC')).toBeNull();
    expect(instantOf('20261399999999999', 'Nowhere/At_All')).toBeNull();
  });
});

describe('times out of bounds', () => {
  const zones = ['+08:00', 'UTC'];
  const at = (hour: number, minute = 0): bigint => BigInt(Date.UTC(2026, 10, 30, hour, minute));

  test('are those of another zone', () => {
    expect(resolveTime('20261130103000000', zones, { notBefore: at(10, 20), notAfter: at(10, 31) })).toBe(at(10, 30));
    expect(resolveTime('20261130183000000', zones, { notBefore: at(10, 20), notAfter: at(10, 31) })).toBe(at(10, 30));
    expect(resolveTime('20261130160000000', ['UTC'], { notBefore: null, notAfter: at(10, 30) })).toBe(at(10, 30));
  });

  test('stay what they are where no zone fits', () => {
    expect(resolveTime('20261130093000000', ['UTC'], { notBefore: at(10, 30), notAfter: null })).toBe(at(9, 30));
    expect(resolveTime('20991130093000000', ['UTC'], { notBefore: null, notAfter: at(10) })).toBe(
      BigInt(Date.UTC(2099, 10, 30, 9, 30)),
    );
  });
});
