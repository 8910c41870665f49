import type { FoundTable } from '../../compose/discover.ts';
import { parseAssetKey } from '../../core/asset/key.ts';
import { SluiceError } from '../../core/errors.ts';
import { nearest } from '../../core/nearest.ts';
import { valueOrThrow } from '../../core/result.ts';

/** The tables with these keys, in their order. Throws SluiceError for a key that is none, or that no table has. */
export const chosen = (tables: readonly FoundTable[], keys: readonly string[]): readonly FoundTable[] =>
  keys.map((text) => {
    const asked = valueOrThrow(parseAssetKey(text));
    const found = tables.find(({ key }) => key === asked);
    if (found !== undefined) return found;
    const known = tables.flatMap(({ key }) => key ?? []);
    const meant = nearest(asked, known);
    const hint = meant === undefined ? 'leave the keys out to see what is there' : `did you mean ${meant}?`;
    throw new SluiceError('NOT_FOUND', `No table found there has the key ${asked}: ${hint}`.replace(/[^.?]$/, '$&.'));
  });
