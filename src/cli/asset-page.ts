import type { AssetDetailsBody } from '../api/contract/assets.ts';
import type { VersionRefBody } from '../api/contract/common.ts';
import { ago, type Cell, paint, print, stateCell, stateWords, table } from './output.ts';

/** One asset as people read it. */
export const printAsset = (asset: AssetDetailsBody): void => {
  print(paint('bold', asset.key));
  for (const line of table(facts(asset), '  ')) print(line);
  section(
    'tags',
    Object.entries(asset.tags).map(([tag, id]) => [tag, id]),
  );
  section(
    'schemas',
    asset.schemas.map(({ schemaId, status, seenAt, changes }) => [
      schemaId,
      stateCell(status),
      ago(seenAt),
      changes.map(({ sentence }) => sentence).join(' '),
    ]),
  );
  section(
    'checks',
    asset.verdicts.map(({ checkName, status, snapshotId, at }) => [
      checkName,
      stateCell(status),
      snapshotId ?? 'not bound yet',
      ago(at),
    ]),
  );
  section(
    'read by',
    asset.consumers.map(({ workflow, group, task }) => [
      workflow,
      task === undefined ? `group ${group}` : `task ${task}, group ${group}`,
    ]),
  );
};

const facts = ({ state, ...asset }: AssetDetailsBody): Cell[][] => [
  ['code', String(asset.code)],
  ['project', asset.project],
  ['location', asset.location ?? 'none: it lives from pushed events'],
  ['table', stateCell(state.health), state.healthReason ?? `looked at ${ago(asset.lastScanAt)}`],
  ['newest version', refText(state.latest)],
  ['newest data', refText(state.latestData)],
  ['watermark', state.watermark ?? '-'],
  ['quality', stateCell(state.qualityStatus)],
  ['schema', stateCell(state.schemaStatus), schemaText(state, asset.schemas)],
];

/** The newest version's schema, and the table's own where that is another one: what waits for approval may have no commit yet. */
const schemaText = (state: AssetDetailsBody['state'], schemas: AssetDetailsBody['schemas']): string => {
  const accepted = `newest accepted ${state.acceptedSchemaId ?? '-'}`;
  const current = schemas.find(({ epoch, schemaId }) => epoch === state.epoch && schemaId === state.schemaId);
  const id = `id ${state.schemaId ?? '-'}`;
  if (current === undefined || current.status === state.schemaStatus) return `${id}, ${accepted}`;
  return `of the newest version; the table's own is now ${id}: ${stateWords(current.status)}; ${accepted}`;
};

const refText = (ref: VersionRefBody | null): string =>
  ref === null
    ? 'none yet'
    : `${ref.snapshotId} (ordinal ${ref.ordinal}${ref.epoch > 1 ? `, epoch ${ref.epoch}` : ''})`;

const section = (title: string, rows: readonly (readonly Cell[])[]): void => {
  if (rows.length === 0) return;
  print(`  ${title}`);
  for (const line of table(rows, '    ')) print(line);
};
