import { nearest } from '../nearest.ts';
import { ok, type Result, refuse } from '../result.ts';

/** A canonical asset key, `<format>://[<catalog>/]<database>/<table>[@<branch>]`: only parseAssetKey and formatAssetKey make one. */
export type AssetKey = string & { readonly __brand: 'AssetKey' };

/** The parts of a key, decoded. */
export interface AssetName {
  readonly format: string;
  readonly catalog: string;
  readonly database: string;
  readonly table: string;
  /** null is the main branch. */
  readonly branch: string | null;
}

export const ASSET_FORMATS = ['paimon', 'iceberg', 'hudi', 'delta', 'custom'] as const;

const MAX_LENGTH = 512;
const RESERVED = /[/@?#%\s]/gu;
// Control characters and half surrogate pairs cannot be stored, shown or typed faithfully.
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

const encode = (name: string): string => name.replace(RESERVED, (char) => encodeURIComponent(char));

const formatParts = (name: AssetName): string => {
  const catalog = name.catalog === 'default' ? '' : `${encode(name.catalog)}/`;
  const branch = name.branch === null || name.branch === 'main' ? '' : `@${encode(name.branch)}`;
  return `${name.format}://${catalog}${encode(name.database)}/${encode(name.table)}${branch}`;
};

/** The canonical key of a name: `default` catalog and `main` branch left out, `/ @ ? # %` and white space percent-encoded. */
export const formatAssetKey = (name: AssetName): AssetKey => formatParts(name) as AssetKey;

const bad = (text: string, why: string) => refuse('BAD_ASSET_KEY', `Asset key "${text.slice(0, 200)}" ${why}.`);

/** undefined: a percent sign that does not begin an encoded UTF-8 character. */
const decode = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
};

const whyBadPart = (raw: string, what: string): string | undefined => {
  if (raw === '') return `has an empty ${what}: write format://database/table, or format://catalog/database/table`;
  const stray = /[?#\s]/u.exec(raw)?.[0];
  if (stray !== undefined) return `has "${stray}" in its ${what}: write it as ${encodeURIComponent(stray)}`;
  const name = decode(raw);
  if (name === undefined) return `has a "%" in its ${what} that encodes nothing: write a percent sign as %25`;
  if (UNPRINTABLE.test(name))
    return `has a character in its ${what} that cannot be printed: rename the table or leave it out`;
  return undefined;
};

const whyBadFormat = (format: string): string | undefined => {
  if ((ASSET_FORMATS as readonly string[]).includes(format)) return undefined;
  const meant = nearest(format, ASSET_FORMATS);
  const hint = meant === undefined ? `use one of ${ASSET_FORMATS.join(', ')}` : `did you mean "${meant}"?`;
  return `has the unknown format "${format}": ${hint}`;
};

interface RawParts {
  readonly format: string;
  readonly path: readonly string[];
  readonly branch: string | undefined;
}

const split = (text: string): RawParts | string => {
  const scheme = /^([^:/]*):\/\/(.*)$/su.exec(text);
  if (scheme === null) return 'has no format: write format://database/table, such as paimon://ods_db/orders';
  const [body = '', branch, ...more] = (scheme[2] ?? '').split('@');
  if (more.length > 0) return 'has more than one "@": write an "@" inside a name as %40';
  const path = body.split('/');
  if (path.length === 1) return 'names no table: write format://database/table';
  if (path.length > 3) return 'has more than three parts: write a "/" inside a name as %2F';
  return { format: scheme[1] ?? '', path, branch };
};

const whyBad = ({ format, path, branch }: RawParts): string | undefined => {
  const names = path.length === 3 ? ['catalog', 'database', 'table'] : ['database', 'table'];
  const inPath = path.map((part, index) => whyBadPart(part, names[index] ?? 'table'));
  const inBranch = branch === undefined ? undefined : whyBadPart(branch, 'branch');
  return [whyBadFormat(format), ...inPath, inBranch].find((why) => why !== undefined);
};

const nameOf = ({ format, path, branch }: RawParts): AssetName => {
  const [table = '', database = '', catalog = 'default'] = path.map((part) => decode(part) ?? part).reverse();
  const branchName = branch === undefined ? null : (decode(branch) ?? branch);
  return { format, catalog, database, table, branch: branchName === 'main' ? null : branchName };
};

/**
 * The canonical form of a key as somebody wrote it (semantics.md, 1). Case-sensitive; at most 512 characters.
 * Refused with BAD_ASSET_KEY and the reason.
 */
export const parseAssetKey = (text: string): Result<AssetKey> => {
  const parts = split(text);
  if (typeof parts === 'string') return bad(text, parts);
  const why = whyBad(parts);
  if (why !== undefined) return bad(text, why);
  const key = formatParts(nameOf(parts));
  if (key.length > MAX_LENGTH) return bad(text, `has ${key.length} characters: a key has at most ${MAX_LENGTH}`);
  return ok(key as AssetKey);
};

/** The decoded parts of a canonical key. */
export const assetName = (key: AssetKey): AssetName => {
  const parts = split(key);
  return nameOf(typeof parts === 'string' ? { format: '', path: ['', key], branch: undefined } : parts);
};

/** The alias of an asset that nobody has named one for: its table's name, with `_` for what the name of a parameter cannot hold. */
export const defaultAlias = (key: AssetKey): string => {
  const name = assetName(key).table.replace(/\W/g, '_');
  return /^\d/.test(name) ? `_${name}` : name;
};
