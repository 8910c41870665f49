import { formatAssetKey } from '../../core/asset/key.ts';
import type { Asset } from '../../core/asset/state.ts';
import { parseAsset } from '../../core/declaration/parse.ts';
import { type Place, refuseUnkept } from '../../core/declaration/read.ts';
import { SluiceError } from '../../core/errors.ts';
import type { AssetRegistration } from '../contract/assets.ts';
import { refusalOf } from '../http/problems.ts';
import { keyOf } from './find.ts';

/** The asset that a request registers. Throws with everything that is wrong with it. */
export const readRegistration = (body: AssetRegistration): Asset => {
  const place: Place = { path: [], problems: [] };
  refuseUnkept(place, body);
  if (place.problems.length > 0) throw refusalOf(place.problems);
  const asset = parseAsset(place, withKey(body));
  if (asset === null || place.problems.length > 0) throw refusalOf(place.problems);
  return asset;
};

/** The RFC's names of an asset's parts beside its key, or instead of it. Throws BAD_REQUEST where they disagree. */
const withKey = (body: AssetRegistration): object => {
  const { assetKey, storageFormat, sourceType, catalogName, databaseName, tableName, partitionExpr: _, ...rest } = body;
  const format = (storageFormat ?? sourceType)?.toLowerCase();
  const whole = typeof format === 'string' && typeof databaseName === 'string' && typeof tableName === 'string';
  const composed = whole
    ? formatAssetKey({
        format,
        catalog: catalogName ?? 'default',
        database: databaseName,
        table: tableName,
        branch: 'main',
      })
    : undefined;
  const keys = [rest.key, assetKey, composed].flatMap((key) => (key === undefined ? [] : keyOf(key)));
  const [key] = keys;
  if (key === undefined)
    throw new SluiceError(
      'BAD_REQUEST',
      'Add "key" to body: it names the table, as in paimon://ods_db/ods_order_latest.',
    );
  const other = keys.find((each) => each !== key);
  if (other !== undefined) throw new SluiceError('BAD_REQUEST', `Name one table: the body names ${key} and ${other}.`);
  return { ...rest, key };
};
