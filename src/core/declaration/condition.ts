import { type Result, refuse } from '../result.ts';
import type { EpochMs } from '../time.ts';
import type { Condition } from '../asset/condition.ts';
import {
  asInstant,
  complain,
  type FieldShape,
  outcome,
  type Reader,
  readChoice,
  readCount,
  readerOf,
  readFlag,
  readId,
  readOption,
  readSeconds,
  readText,
  readTexts,
  valueOf,
} from './group-fields.ts';
import { isMapping } from './read.ts';
import { type AssetKey, defaultAlias, parseAssetKey } from '../asset/key.ts';

const SHAPE: FieldShape = {
  known: [
    'assetKey',
    'alias',
    'snapshotRequired',
    'minSnapshotId',
    'operations',
    'dataChangeOnly',
    'qualityStatus',
    'qualityChecks',
    'schemaStatus',
    'schemaChanged',
    'watermark',
    'tag',
    'minAddedRecords',
    'maxAgeSeconds',
    'backfill',
    'cdcLag',
  ],
  notYet: {
    partition: 'leave it out, or let the writer tag the version and use "tag"',
    onGap: 'set it on the asset',
    onRollback: 'set it on the asset',
    onRecreate: 'set it on the asset',
  },
};

const ALIAS = /^[A-Za-z_]\w*$/;

const readAlias = (reader: Reader, key: AssetKey): string => {
  const alias = readText(reader, 'alias') ?? defaultAlias(key);
  if (!ALIAS.test(alias)) {
    complain(
      reader,
      `the alias "${alias}" must begin with a letter or underscore and hold only letters, digits and underscores.`,
    );
  }
  return alias;
};

const readWatermark = (reader: Reader): EpochMs | null => {
  const raw = valueOf(reader, 'watermark');
  if (raw === undefined) return null;
  const gte = isMapping(raw) ? raw['gte'] : undefined;
  const extra = isMapping(raw) ? Object.keys(raw).find((key) => key !== 'gte') : undefined;
  const instant = asInstant(gte);
  if (typeof gte === 'string' && (gte.includes('$[') || gte === 'PERIOD_END')) {
    complain(reader, `"watermark" with ${gte} is not supported by this version: write an ISO 8601 time with a zone.`);
  } else if (instant === undefined || extra !== undefined) {
    complain(reader, '"watermark" must be {gte: TIME}, TIME in ISO 8601 with a zone or in epoch milliseconds.');
  }
  return instant ?? null;
};

const readBackfill = (reader: Reader): NonNullable<Condition['backfill']> => {
  if (valueOf(reader, 'backfill') === 'COMPLETED') {
    complain(reader, '"backfill: COMPLETED" is not supported by this version: use EXCLUDE, INCLUDE or ONLY.');
    return 'EXCLUDE';
  }
  return readChoice(reader, 'backfill', ['EXCLUDE', 'INCLUDE', 'ONLY'] as const, 'EXCLUDE');
};

const conditionOf = (reader: Reader, assetKey: AssetKey): Condition => ({
  assetKey,
  alias: readAlias(reader, assetKey),
  snapshotRequired: readFlag(reader, 'snapshotRequired', true),
  minSnapshotId: readId(reader, 'minSnapshotId'),
  operations: readTexts(reader, 'operations').map((operation) => operation.toUpperCase()),
  dataChangeOnly: readFlag(reader, 'dataChangeOnly', true),
  qualityStatus: readOption(reader, 'qualityStatus', 'PASSED'),
  qualityChecks: readTexts(reader, 'qualityChecks'),
  schemaStatus: readOption(reader, 'schemaStatus', 'COMPATIBLE'),
  schemaChanged: readFlag(reader, 'schemaChanged', false),
  watermarkGte: readWatermark(reader),
  tag: readText(reader, 'tag'),
  minAddedRecords: readCount(reader, 'minAddedRecords'),
  maxAgeSeconds: readSeconds(reader, 'maxAgeSeconds'),
  backfill: readBackfill(reader),
  cdcLag: readOption(reader, 'cdcLag', 'RECOVERED'),
});

/**
 * One condition of a group as a file or a request declares it (semantics.md, 3), defaults filled in. `where` names the place for messages.
 * `qualityChecks` alone means `qualityStatus: PASSED`: naming checks that nobody asks for would silently do nothing.
 */
export const conditionFromDeclaration = (raw: unknown, where: string): Result<Condition> => {
  if (!isMapping(raw)) return refuse('BAD_FILE', `${where}: write a mapping that begins with "assetKey".`);
  const text = raw['assetKey'];
  if (typeof text !== 'string') return refuse('BAD_FILE', `${where}: add "assetKey", such as paimon://ods_db/orders.`);
  const key = parseAssetKey(text);
  if (!key.ok) return refuse('BAD_ASSET_KEY', `${where}: ${key.problem.detail}`);
  const reader = readerOf(`${where}, ${key.value}`, raw, SHAPE);
  const condition = conditionOf(reader, key.value);
  const checksNamed = condition.qualityChecks.length > 0;
  return outcome(reader, checksNamed ? { ...condition, qualityStatus: 'PASSED' } : condition);
};
