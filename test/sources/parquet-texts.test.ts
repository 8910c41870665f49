import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readParquetTexts } from '../../src/sources/parquet-texts.ts';
import { describeShared } from '../support/shared.ts';

const ABOUT_TABLE = /^metaData\.(id|schemaString|partitionColumns|configuration)/;
const read = (bytes: Uint8Array) => readParquetTexts(bytes, (path) => ABOUT_TABLE.test(path.join('.')));

/** The newest metadata in the commits beside a checkpoint, up to its version. */
function metaDataBeside(checkpoint: string): { readonly id: string; readonly schemaString: string } | undefined {
  const version = checkpoint.slice(dirname(checkpoint).length + 1).slice(0, 20);
  const commits = globSync(join(dirname(checkpoint), '????????????????????.json')).sort();
  return commits
    .filter((file) => file.slice(dirname(file).length + 1, -'.json'.length) <= version)
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => line.startsWith('{"metaData"'))
    .map((line) => (JSON.parse(line) as { metaData: { id: string; schemaString: string } }).metaData)
    .at(-1);
}

describeShared('texts of Parquet files that Delta engines wrote', (shared) => {
  const files = globSync(join(shared, 'fixtures/delta/*/_delta_log/*.checkpoint*.parquet'));

  test('a checkpoint tells the metadata that the commits tell', () => {
    const told = files.map((file) => [read(readFileSync(file)), metaDataBeside(file)] as const);
    const withMetadata = told.filter(([texts]) => texts.get('metaData.id')?.length === 1);
    expect(withMetadata.length).toBeGreaterThan(8);
    for (const [texts, metaData] of withMetadata) {
      expect(texts.get('metaData.id')).toEqual([metaData?.id]);
      expect(texts.get('metaData.schemaString') ?? []).toEqual([metaData?.schemaString].filter(Boolean));
    }
  });

  test('damaged: an error or an answer, soon', () => {
    const samples = files.map((file) => readFileSync(file));
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 0, max: 255 })), {
          minLength: 1,
          maxLength: 8,
        }),
        fc.boolean(),
        (bytes, flips, atTheEnd) => {
          const copy = Uint8Array.from(bytes);
          const from = atTheEnd ? Math.max(0, bytes.length - 4_000) : 0;
          for (const [at, byte] of flips) copy[from + Math.floor((bytes.length - 1 - from) * at)] = byte;
          try {
            read(copy);
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test('cut short', () => {
    const bytes = readFileSync(files[0] ?? '');
    for (const length of [0, 4, 11, 12, 100, bytes.length - 1])
      expect(() => read(bytes.subarray(0, length))).toThrow(Error);
  });
});
