import { asLong, isJsonObject, parseJson, type Json, type JsonObject } from '../../core/json.ts';
import { fingerprint } from '../fingerprint.ts';
import type { Parsed } from '../trouble.ts';

/** One snapshot file, as far as deciding what is new needs it. Ids and counts are exact. */
export interface Snapshot {
  readonly id: bigint;
  readonly schemaId: bigint;
  readonly commitKind: string;
  readonly timeMillis: bigint;
  /** null: never set. A job without a watermark stores Long.MIN_VALUE, which means the same. */
  readonly watermark: bigint | null;
  /** Records in the data files, unmerged; null in snapshots of Table Store 0.3 and before. */
  readonly totalRecords: bigint | null;
  readonly deltaRecords: bigint | null;
  readonly deltaManifestList: string | null;
  readonly indexManifest: string | null;
  readonly backfill: boolean;
  /** Equal for two files exactly when they hold the same commit, whichever version of Paimon wrote them. */
  readonly fingerprint: string;
}

const broken = (reason: string): { readonly ok: false; readonly reason: string } => ({ ok: false, reason });

/** The JSON object in the bytes. Half a file, an empty one and bytes that are no UTF-8 are the same to a reader: not written yet. */
export function parseObject(bytes: Uint8Array): Parsed<JsonObject> {
  if (bytes.length === 0) return broken('it is empty');
  try {
    const json = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isJsonObject(json) ? { ok: true, value: json } : broken('it is not a JSON object');
  } catch {
    return broken('it is not whole JSON');
  }
}

const NO_WATERMARK = -(2n ** 63n);

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Identity of a commit: manifest lists have random names, so that no two commits share one. `uuid` is newer than many tables. */
function fingerprintOf(json: JsonObject): string {
  const parts = [
    'id',
    'commitUser',
    'commitIdentifier',
    'commitKind',
    'timeMillis',
    'baseManifestList',
    'deltaManifestList',
  ];
  return fingerprint(parts.map((key) => String(json[key] ?? '')).join('\n'));
}

const isBackfill = (json: JsonObject): boolean => {
  const properties = json['properties'];
  return isJsonObject(properties) && properties['sluice.backfill'] === 'true';
};

/**
 * Parses the body of `snapshot-<id>` or of a tag (`id` null: the body's own counts). Unknown keys are ignored; null and absent are the
 * same (old writers write nulls). A body that names another id than its file is refused: it is a copy or damaged.
 */
export function parseSnapshot(bytes: Uint8Array, id: bigint | null): Parsed<Snapshot> {
  const parsed = parseObject(bytes);
  if (!parsed.ok) return parsed;
  const json = parsed.value;
  const own = asLong(json['id']);
  if (own === undefined || own < 1n) return broken('its id is no number that a snapshot can have');
  if (id !== null && own !== id) return broken(`it says that it is snapshot ${own}`);
  const [schemaId, timeMillis] = [asLong(json['schemaId']), asLong(json['timeMillis'])];
  const commitKind = textOf(json['commitKind']);
  if (schemaId === undefined || timeMillis === undefined || commitKind === null)
    return broken('it lacks schemaId, timeMillis or commitKind');
  const watermark = asLong(json['watermark']) ?? null;
  return {
    ok: true,
    value: {
      id: own,
      schemaId,
      commitKind,
      timeMillis,
      watermark: watermark === NO_WATERMARK ? null : watermark,
      totalRecords: asLong(json['totalRecordCount']) ?? null,
      deltaRecords: asLong(json['deltaRecordCount']) ?? null,
      deltaManifestList: textOf(json['deltaManifestList']),
      indexManifest: textOf(json['indexManifest']),
      backfill: isBackfill(json),
      fingerprint: fingerprintOf(json),
    },
  };
}
