import { type Command, InvalidArgumentError } from 'commander';
import type { EventBody, EventInput, EventsReceiptBody } from '../../api/contract/asset-events.ts';
import type { AssetBody, AssetDetailsBody, AssetStateBody, ScanBody, VersionBody } from '../../api/contract/assets.ts';
import { type Client, connect } from '../client.ts';
import { type CommonOptions, connected, positive } from '../options.ts';
import { ago, type Cell, print, printJson, printJsonLines, printTable, stateCell } from '../output.ts';
import { collect } from '../pages.ts';
import { printAsset } from '../asset-page.ts';
import { registerDiscover } from './asset-discover.ts';

interface ListOptions extends CommonOptions {
  readonly limit: number;
  readonly type?: string;
}

export const register = (program: Command): void => {
  const asset = program
    .command('asset')
    .description('List, show, scan and discover assets, and state events about them');
  connected(asset.command('list').description('list the assets of a project')).action(list);
  connected(asset.command('show <key>').description('show one asset: state, tags, schemas, checks, readers')).action(
    show,
  );
  connected(asset.command('versions <key>').description('list its versions, newest first'))
    .option('--limit <n>', 'at most so many', positive, 20)
    .action(versions);
  connected(asset.command('events <key>').description('list what happened to it, newest first'))
    .option('--type <type>', 'only events of this type')
    .option('--limit <n>', 'at most so many', positive, 20)
    .action(events);
  connected(asset.command('scan <key>').description('look at its table now'))
    .option('--timeout <seconds>', 'wait at most so long', positive)
    .action(scan);
  connected(asset.command('approve <key> <schema>').description('approve a schema by its id'))
    .option('--reject', 'reject it instead')
    .action(approve);
  connected(
    asset.command('release <key>').description('let a held asset go on (onGap, onRollback, onRecreate)'),
  ).action(release);
  registerEmit(asset);
  registerDiscover(asset);
};

const registerEmit = (asset: Command): void => {
  connected(asset.command('emit <key>').description('state an event, as a writer or a check would'))
    .requiredOption('--type <type>', 'such as SNAPSHOT_COMMITTED or QUALITY_CHECK_PASSED')
    .option('--snapshot <id>', 'the version that it speaks of')
    .option('--schema <id>', 'the schema that it speaks of')
    .option('--watermark <time>', 'ISO 8601 or epoch milliseconds')
    .option('--check <name>', 'name of the quality check')
    .option('--check-run <id>', 'which run of the check')
    .option('--started-at <time>', 'when the check began to read')
    .option('--tag <name>', 'name of the tag')
    .option('--partition <name>', 'the partition that it speaks of')
    .option('--commit-kind <kind>', "the table format's word for the commit")
    .option('--commit-time <time>', 'when it was committed')
    .option('--rows <n>', 'rows added')
    .option('--sequence <n>', "the table's own order of commits")
    .option('--table-id <id>', "the table's own identity")
    .option('--data-change <yes|no>', 'does the commit carry new data?', yesOrNo)
    .option('--backfill <yes|no>', 'does the commit belong to a backfill?', yesOrNo)
    .option('--event-id <id>', 'the same id is the same statement, however often it is made')
    .option('--payload <text>', 'kept as evidence')
    .action(emit);
};

const yesOrNo = (text: string): boolean => {
  if (text === 'yes' || text === 'no') return text === 'yes';
  throw new InvalidArgumentError('Write yes or no.');
};

const list = async (options: CommonOptions): Promise<void> => {
  const client = connect(options);
  const { items } = await client.get<{ items: AssetBody[] }>(await client.path('assets'));
  if (options.json === true) return printJsonLines(items);
  const rows = items.map((item): Cell[] => [
    item.key,
    String(item.code),
    tableCell(item),
    item.state.latest?.snapshotId ?? '-',
    item.state.latestData?.snapshotId ?? '-',
    stateCell(item.state.qualityStatus),
    stateCell(item.state.schemaStatus),
    ago(item.lastScanAt),
  ]);
  printTable(
    ['ASSET', 'CODE', 'TABLE', 'NEWEST', 'NEWEST DATA', 'QUALITY', 'SCHEMA', 'LOOKED AT'],
    rows,
    'There are no assets yet.',
  );
};

/** A table without a location is never read. */
const tableCell = ({ location, state }: AssetBody): Cell =>
  location === null && state.health === 'NEVER_READ'
    ? { text: 'nothing told yet', style: 'dim' }
    : stateCell(state.health);

const show = async (key: string, options: CommonOptions): Promise<void> => {
  const client = connect(options);
  const asset = await client.get<AssetDetailsBody>(await client.path('assets', key));
  if (options.json === true) return printJson(asset);
  printAsset(asset);
};

const versions = async (key: string, options: ListOptions): Promise<void> => {
  const client = connect(options);
  const found = await collect<VersionBody>(client, await client.path('assets', key, 'versions'), options.limit);
  if (options.json === true) return printJsonLines(found);
  const rows = found.map((version): Cell[] => [
    String(version.ordinal),
    version.snapshotId,
    version.operation,
    version.dataChange ? 'yes' : version.pendingData ? 'pending' : { text: 'no', style: 'dim' },
    version.addedRecords ?? '-',
    stateCell(version.quality),
    ago(version.commitTime),
    version.status === 'LIVE' ? '' : version.status.toLowerCase(),
    version.tags.join(' '),
  ]);
  printTable(
    ['#', 'VERSION', 'OPERATION', 'NEW DATA', 'ROWS', 'QUALITY', 'COMMITTED', '', 'TAGS'],
    rows,
    'No version has been seen yet.',
  );
};

const events = async (key: string, options: ListOptions): Promise<void> => {
  const client = connect(options);
  const query = { assetKey: key, eventType: options.type };
  const found = await collect<EventBody>(client, await eventsPath(client, key), options.limit, query);
  if (options.json === true) return printJsonLines(found);
  const rows = found.map((event): Cell[] => [
    ago(event.receivedAt),
    event.eventType,
    event.sourceType.toLowerCase(),
    event.status === 'RECORDED' ? '' : event.status.toLowerCase().replaceAll('_', ' '),
    event.duplicates === 0 ? event.sentence : `${event.sentence} Told ${event.duplicates + 1} times.`,
  ]);
  printTable(['WHEN', 'EVENT', 'FROM', '', 'WHAT HAPPENED'], rows, 'Nothing has happened yet.');
};

/** The events of the project that has the asset: of several projects the asset says which is meant. */
const eventsPath = async (client: Client, key: string): Promise<string> => {
  await client.path('assets', key);
  return client.path('asset-events');
};

const scan = async (key: string, options: CommonOptions & { readonly timeout?: number }): Promise<void> => {
  const client = connect(options);
  const body = options.timeout === undefined ? undefined : { timeoutSeconds: options.timeout };
  const done = await client.post<ScanBody>(await client.path('assets', key, 'scan'), body);
  if (!done.finished || done.state.health === 'UNREADABLE') process.exitCode = 1;
  if (options.json === true) return printJson(done);
  if (!done.finished) return print('The look has not ended yet: ask again, or give --timeout.');
  const news =
    done.newVersions === 0 ? 'nothing new' : `${done.newVersions} new version${done.newVersions === 1 ? '' : 's'}`;
  const why = done.state.healthReason === null ? '' : ` (${done.state.healthReason})`;
  print(`${done.assetKey}: ${news}, newest is ${done.state.latest?.snapshotId ?? 'none'}${why}`);
};

const approve = async (
  key: string,
  schemaId: string,
  options: CommonOptions & { readonly reject?: boolean },
): Promise<void> => {
  const client = connect(options);
  const decision = options.reject === true ? 'REJECT' : 'APPROVE';
  const receipt = await client.post<EventsReceiptBody>(await client.path('assets', key, 'approve-schema'), {
    schemaId,
    decision,
  });
  if (options.json === true) return printJson(receipt);
  print(`schema ${schemaId} of ${key}: ${decision === 'REJECT' ? 'rejected' : 'approved'}`);
};

const release = async (key: string, options: CommonOptions): Promise<void> => {
  const client = connect(options);
  const state = await client.post<AssetStateBody>(await client.path('assets', key, 'release'));
  if (options.json === true) return printJson(state);
  print(`${state.assetKey} goes on from ${state.latest?.snapshotId ?? 'its first version'}`);
};

interface EmitOptions extends CommonOptions {
  readonly type: string;
  readonly snapshot?: string;
  readonly schema?: string;
  readonly watermark?: string;
  readonly check?: string;
  readonly checkRun?: string;
  readonly startedAt?: string;
  readonly tag?: string;
  readonly partition?: string;
  readonly commitKind?: string;
  readonly commitTime?: string;
  readonly rows?: string;
  readonly sequence?: string;
  readonly tableId?: string;
  readonly dataChange?: boolean;
  readonly backfill?: boolean;
  readonly eventId?: string;
  readonly payload?: string;
}

/** Events name their asset by its key. */
const keyOf = async (client: Client, keyOrCode: string): Promise<string> =>
  /^\d+$/.test(keyOrCode)
    ? (await client.get<AssetDetailsBody>(await client.path('assets', keyOrCode))).key
    : keyOrCode;

const emit = async (keyOrCode: string, options: EmitOptions): Promise<void> => {
  const client = connect(options);
  const key = await keyOf(client, keyOrCode);
  const event: Record<keyof EventInput, unknown> = {
    assetKey: key,
    eventType: options.type,
    sourceType: 'USER',
    eventId: options.eventId,
    snapshotId: options.snapshot,
    schemaId: options.schema,
    watermark: options.watermark,
    commitKind: options.commitKind,
    commitTime: options.commitTime,
    deltaRecordCount: options.rows,
    partitionKey: options.partition,
    sequenceNumber: options.sequence,
    dataChange: options.dataChange,
    tableId: options.tableId,
    checkName: options.check,
    checkRunId: options.checkRun,
    startedAt: options.startedAt,
    tag: options.tag,
    backfill: options.backfill,
    payload: options.payload,
  };
  const receipt = await client.post<EventsReceiptBody>(await eventsPath(client, key), event);
  if (options.json === true) return printJson(receipt);
  print(receipt.duplicate === true ? `${options.type} had been stated before` : `${options.type} stated for ${key}`);
};
