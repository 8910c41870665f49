import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asLong, canonicalJson, parseJson, type Json } from '../../src/core/json.ts';

describe('parseJson', () => {
  test('integers beyond 2^53 stay exact, whatever their size; other numbers stay numbers', () => {
    expect(parseJson('[9007199254740991, 9007199254740993, -9223372036854775808, 1.5, 1e400, -0]')).toEqual([
      9007199254740991,
      9007199254740993n,
      -9223372036854775808n,
      1.5,
      Number.POSITIVE_INFINITY,
      -0,
    ]);
  });

  test('every integer comes back digit by digit', () => {
    fc.assert(fc.property(fc.bigInt(), (value) => String(parseJson(value.toString())) === value.toString()));
  });

  test('with a long integer anywhere or with none, everything else is read alike', () => {
    const json = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value);
        expect(parseJson(text)).toEqual((parseJson(`[9007199254740993,${text}]`) as readonly Json[])[1]);
      }),
    );
    expect(parseJson('{"__proto__": 1, "text": "9007199254740993"}')).toEqual(
      JSON.parse('{"__proto__": 1, "text": "9007199254740993"}'),
    );
  });

  test('what JSON.parse refuses is refused', () => {
    expect(() => parseJson('{"a": 1')).toThrow(SyntaxError);
  });
});

test('asLong takes 64-bit integers only', () => {
  const max = 2n ** 63n - 1n;
  expect([1, max, -max - 1n].map((value) => asLong(value))).toEqual([1n, max, -max - 1n]);
  expect(
    [max + 1n, -max - 2n, 1.5, Number.POSITIVE_INFINITY, '1', null, undefined].map((value) => asLong(value)),
  ).toEqual(Array(7).fill(undefined));
});

test('canonicalJson is the same for any order of keys and differs for any other value', () => {
  const json = fc.jsonValue() as fc.Arbitrary<Json>;
  const reversed = (value: Json): Json => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(reversed);
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, member]) => [key, reversed(member)]),
    );
  };
  fc.assert(fc.property(json, (value) => canonicalJson(value) === canonicalJson(reversed(value))));
  expect(canonicalJson({ b: 1n, a: [null, 'x'] })).toBe('{"a":[null,"x"],"b":1}');
});
