import { describe, expect, test } from 'vitest';
import { ago, duration, stateCell, table, took, widthOf } from '../../src/cli/output.ts';

describe('what commands print', () => {
  test('columns are aligned, without a space at the end of a line', () => {
    expect(
      table(
        [
          ['a', 'bb', ''],
          ['ccc', 'd', 'e'],
        ],
        '  ',
      ),
    ).toEqual(['  a    bb', '  ccc  d   e']);
  });

  test('a wide character takes two columns', () => {
    expect(widthOf('订单')).toBe(4);
    expect(
      table([
        ['订单', 'x'],
        ['abcd', 'y'],
      ]),
    ).toEqual(['订单  x', 'abcd  y']);
  });

  test('a name cannot steer the terminal', () => {
    expect(table([['\u001b[2Jgone', 'x']])).toEqual(['?[2Jgone  x']);
  });

  test('how long, in the largest unit', () => {
    expect([0, 999, 59_999, 60_000, 3_599_000, 3_600_000, 86_400_000 * 3].map(duration)).toEqual([
      '0 s',
      '0 s',
      '59 s',
      '1 min',
      '59 min',
      '1 h',
      '3 d',
    ]);
    expect(duration(-5)).toBe('0 s');
    expect([0, 950, 1_000, 9_999, 10_000].map(took)).toEqual(['0 ms', '950 ms', '1.0 s', '9.9 s', '10 s']);
  });

  test('how long ago, and a clock that is ahead', () => {
    const now = Date.parse('2026-11-30T10:00:00Z');
    expect(ago('2026-11-30T09:57:00.000Z', now)).toBe('3 min ago');
    expect(ago('2026-11-30T12:00:00.000Z', now)).toBe('in 2 h');
    expect(ago('2026-11-30T10:00:00.400Z', now)).toBe('just now');
    expect(ago(null, now)).toBe('-');
    expect(ago('9223372036854775807', now)).toBe('9223372036854775807');
  });

  test('a state in words; one without words as it is', () => {
    expect(stateCell('RUNNING_EXECUTION')).toEqual({ text: 'running', style: 'cyan' });
    expect(stateCell('SOME_NEW_STATE')).toEqual({ text: 'some new state', style: 'dim' });
  });
});
