import { isoTime } from '../../time.ts';
import { type Draft, deriveEvent, putSchema, setState } from './draft.ts';
import { dedupKeys } from './dedup.ts';
import type { Poll } from '../poll.ts';
import { compareSchemas, type SchemaChange, type TableSchema } from '../schema/schema.ts';
import { compareSchemaOrder, newestAccepted, schemaKey, schemasOfEpoch } from '../schema-records.ts';
import type { SchemaRecord, SchemaStatus } from '../state.ts';

type Judgement = Pick<SchemaRecord, 'status' | 'decidedBy' | 'changes'>;

const ofEpoch = (draft: Draft): readonly SchemaRecord[] =>
  schemasOfEpoch([...draft.schemas.values()], draft.state.epoch);

/**
 * The accepted schema with which `record` is compared: the newest accepted before it in the table's order, else (a re-created table) the
 * one accepted last in the epoch before. Only a schema whose columns are known can be compared with.
 */
const baselineOf = (draft: Draft, record: SchemaRecord): SchemaRecord | undefined => {
  const usable = (other: SchemaRecord) =>
    other.status === 'COMPATIBLE' && (record.schema === null || other.schema !== null);
  const before = ofEpoch(draft).findLast(
    (other) => other.schemaId !== record.schemaId && usable(other) && compareSchemaOrder(other, record) <= 0,
  );
  if (before !== undefined) return before;
  return newestAccepted([...draft.schemas.values()].filter(usable), draft.state.epoch - 1);
};

const first: Judgement = { status: 'COMPATIBLE', decidedBy: 'FIRST', changes: [] };

const compared = (accepted: TableSchema | null, next: TableSchema | null) =>
  accepted === null || next === null ? null : compareSchemas(accepted, next);

/** Is it known that something before this schema was in use, accepted or not? Then it is not the first one. */
const hasEarlier = (draft: Draft, record: SchemaRecord): boolean =>
  ofEpoch(draft).some((other) => other.schemaId !== record.schemaId && compareSchemaOrder(other, record) < 0);

const judge = (draft: Draft, record: SchemaRecord): Judgement => {
  const baseline = baselineOf(draft, record);
  if (baseline === undefined && !hasEarlier(draft, record)) return first;
  const comparison = compared(baseline?.schema ?? null, record.schema);
  const changes: readonly SchemaChange[] = comparison?.changes ?? [];
  // Nothing but options differs: there is nothing to approve under any policy.
  if (comparison !== null && changes.length === 0) return { status: 'COMPATIBLE', decidedBy: 'COMPARISON', changes };
  switch (draft.asset.schemaPolicy) {
    case 'ALWAYS_APPROVE':
      return { status: 'COMPATIBLE', decidedBy: 'POLICY', changes };
    case 'MANUAL':
      return { status: 'PENDING_APPROVAL', decidedBy: 'POLICY', changes };
    case 'AUTO': {
      const compatible = comparison?.verdict === 'COMPATIBLE';
      return { status: compatible ? 'COMPATIBLE' : 'PENDING_APPROVAL', decidedBy: 'COMPARISON', changes };
    }
  }
};

/** May a later schema's status follow from what has just become known before it? A person's word and a passed comparison stand. */
const isOpen = (record: SchemaRecord): boolean =>
  record.status === 'PENDING_APPROVAL'
    ? record.decidedBy !== 'PERSON'
    : record.decidedBy === 'FIRST' && record.schema === null;

/** Judges again what waits after `record`: a pending one may fit the newly accepted one; a "first" one may turn out not to be. */
const judgeLater = (draft: Draft, record: SchemaRecord): void => {
  for (const later of ofEpoch(draft)) {
    if (later.schemaId === record.schemaId || !isOpen(later) || compareSchemaOrder(record, later) > 0) continue;
    const again = judge(draft, later);
    if (again.status !== later.status) putSchema(draft, { ...later, ...again });
  }
};

const sentenceOf = (record: SchemaRecord): string => {
  const what = record.changes.map((change) => change.sentence.replace(/\.$/, '')).join('; ');
  const changes = what === '' ? '' : `: ${what}`;
  const waits = record.status === 'PENDING_APPROVAL' ? ' It waits for approval.' : '';
  return `Schema ${record.schemaId} appeared${changes}.${waits}`;
};

const noteSchema = (draft: Draft, record: SchemaRecord, again: bigint | null): void => {
  const dedupKey = dedupKeys.schema(draft.asset.key, record.epoch, record.schemaId, again);
  const fields = { schemaId: record.schemaId, commitTime: null };
  deriveEvent(draft, 'SCHEMA_CHANGED', fields, { dedupKey, sentence: sentenceOf(record) });
};

const sameColumns = (a: TableSchema | null, b: TableSchema): boolean =>
  a !== null && compareSchemas(a, b).changes.length === 0;

/** A schema seen for the first time in this epoch, or with other columns than before under the same id (ids are reused after a schema rollback). */
const addSchema = (draft: Draft, schemaId: string, schema: TableSchema | null, id: 'NEW' | 'REUSED'): void => {
  const empty = { epoch: draft.state.epoch, schemaId, schema, seenAt: draft.now };
  const unjudged: SchemaRecord = { ...empty, status: 'UNKNOWN', decidedBy: 'COMPARISON', changes: [] };
  const record = { ...unjudged, ...judge(draft, unjudged) };
  putSchema(draft, record);
  if (record.decidedBy !== 'FIRST') noteSchema(draft, record, id === 'REUSED' ? draft.now : null);
  judgeLater(draft, record);
};

/** The columns of a schema whose id was known already (approved ahead, or named by a commit): a person's word stands, the rest is judged. */
const completeSchema = (draft: Draft, known: SchemaRecord, schema: TableSchema): void => {
  const full = { ...known, schema };
  const judged = judge(draft, full);
  const record = known.decidedBy === 'PERSON' ? { ...full, changes: judged.changes } : { ...full, ...judged };
  putSchema(draft, record);
  if (judged.decidedBy !== 'FIRST') noteSchema(draft, record, null);
  judgeLater(draft, record);
};

/** A schema of the table was seen, with or without its columns. */
export const seeSchema = (draft: Draft, schemaId: string, schema: TableSchema | null): void => {
  const known = draft.schemas.get(schemaKey(draft.state.epoch, schemaId));
  if (known === undefined) addSchema(draft, schemaId, schema, 'NEW');
  else if (schema === null || sameColumns(known.schema, schema)) return;
  else if (known.schema === null) completeSchema(draft, known, schema);
  else addSchema(draft, schemaId, schema, 'REUSED');
};

/**
 * Schemas that a poll tells of. What a table brings along when it is read for the very first time is accepted as it stands: nobody
 * downstream relied on an older schema through Sluice.
 */
export const takeSchemas = (draft: Draft, poll: Poll, firstRead: boolean): void => {
  const current = poll.schema;
  const listed = poll.newSchemas.some((schema) => schema.schemaId === current?.schemaId);
  const seen = current === null || listed ? poll.newSchemas : [...poll.newSchemas, current];
  for (const schema of seen) {
    if (firstRead && !draft.schemas.has(schemaKey(draft.state.epoch, schema.schemaId))) {
      putSchema(draft, { ...first, epoch: draft.state.epoch, schemaId: schema.schemaId, schema, seenAt: draft.now });
    } else seeSchema(draft, schema.schemaId, schema);
  }
  const schemaId = current?.schemaId ?? poll.commits.at(-1)?.schemaId ?? draft.state.schemaId;
  setState(draft, { schemaId });
};

/**
 * A rewound table keeps what was decided about its schemas, except where an id now stands for other columns: that one is judged anew.
 */
export const carrySchemas = (draft: Draft, oldEpoch: number, now: readonly TableSchema[]): void => {
  const columns = new Map(now.map((schema) => [schema.schemaId, schema]));
  for (const record of schemasOfEpoch([...draft.schemas.values()], oldEpoch)) {
    const present = columns.get(record.schemaId);
    if (present !== undefined && record.schema !== null && !sameColumns(record.schema, present)) continue;
    putSchema(draft, { ...record, epoch: draft.state.epoch });
  }
};

/** A person's word about a schema, seen or not yet seen. Answers the record before it, for the sentence. */
export const decideSchema = (
  draft: Draft,
  schemaId: string,
  status: Extract<SchemaStatus, 'COMPATIBLE' | 'REJECTED'>,
) => {
  const known = draft.schemas.get(schemaKey(draft.state.epoch, schemaId));
  const empty = { epoch: draft.state.epoch, schemaId, schema: null, changes: [], seenAt: draft.now };
  const record: SchemaRecord = { ...(known ?? empty), status, decidedBy: 'PERSON' };
  putSchema(draft, record);
  judgeLater(draft, record);
  const when = known === undefined ? ', before it was seen' : `, seen ${isoTime(known.seenAt)}`;
  return `Schema ${schemaId} was ${status === 'REJECTED' ? 'rejected' : 'approved'}${when}.`;
};

/** The newest schema that pushes told of becomes the current one; an older one that arrives late does not. */
export const advanceSchema = (draft: Draft, schemaId: string): void => {
  const at = (id: string) => draft.schemas.get(schemaKey(draft.state.epoch, id));
  const current = draft.state.schemaId === null ? undefined : at(draft.state.schemaId);
  const next = at(schemaId);
  if (current !== undefined && next !== undefined && compareSchemaOrder(current, next) > 0) return;
  setState(draft, { schemaId });
};
