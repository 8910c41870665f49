import Type, { type Static, type TSchema } from 'typebox';

/** Shapes that every resource shares. Pure: the command line and the web UI take their types from here. */

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A request body that may be left out; fastify hands its validator null then. */
export const OptionalBody = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** ISO 8601 in UTC with milliseconds. */
export const Time = Type.String({ format: 'date-time', description: 'ISO 8601, UTC.' });

/** An instant that others tell. Flink ends a bounded stream with the watermark 2^63 - 1, which ISO 8601 cannot write. */
export const StatedTime = Type.String({
  description: 'ISO 8601, UTC; outside of what that can write: milliseconds since 1970 in decimal digits.',
});

/** An id of a table format. Always a string in answers. */
export const FormatId = Type.String({ description: "The table format's own id; a string, as it may exceed 2^53." });

/** In requests an id may also be a number, as long as JSON carries it exactly. */
export const FormatIdInput = Type.Union([Type.String({ minLength: 1, maxLength: 255 }), Type.Integer()]);

/** A count of rows or a sequence number: 64 bits, so a decimal string in answers. */
export const Count = Type.String({ pattern: '^-?\\d{1,19}$' });

export const CountInput = Type.Union([Count, Type.Integer()]);

/** ISO 8601 with a zone, or epoch milliseconds. */
export const TimeInput = Type.Union([Type.String({ minLength: 1, maxLength: 40 }), Type.Integer()]);

export const Code = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const AssetKeyText = Type.String({
  minLength: 1,
  maxLength: 512,
  examples: ['paimon://ods_db/ods_order_latest'],
});

/** One thing that is wrong with a declaration: where, and what to do. */
const ProblemPlace = Type.Object({
  path: Type.Array(Type.Union([Type.String(), Type.Integer()])),
  code: Type.String(),
  detail: Type.String(),
});

/** RFC 9457. `code` is stable and listed in docs/reference/errors.md; `detail` is one sentence that says what to do. */
export const ProblemDocument = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  code: Type.String(),
  detail: Type.String(),
  instance: Type.String(),
  problems: Type.Optional(Type.Array(ProblemPlace)),
});
export type ProblemDocument = Static<typeof ProblemDocument>;

export const PageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description: 'nextCursor of the page before.' })),
};

export const PageOf = <T extends TSchema>(item: T) =>
  Type.Object({ items: Type.Array(item), nextCursor: Nullable(Type.String()) });

export const ProjectParam = {
  projectCode: Type.String({ minLength: 1, maxLength: 255, description: "The project's code or name." }),
};

export const VersionRefBody = Type.Object({ snapshotId: FormatId, epoch: Type.Integer(), ordinal: Type.Integer() });
export type VersionRefBody = Static<typeof VersionRefBody>;

const PinBody = Type.Object({
  snapshotId: FormatId,
  epoch: Type.Integer(),
  ordinal: Type.Integer(),
  tag: Type.Optional(Type.String()),
});

/** Asset key → the version that every task of the run reads. */
export const PinsBody = Type.Record(Type.String(), PinBody);
export type PinsBody = Static<typeof PinsBody>;

/** `paused`: its groups start no run. */
export const ProjectBody = Type.Object({ code: Code, name: Type.String(), paused: Type.Boolean() });
export type ProjectBody = Static<typeof ProjectBody>;

/** `skip`: what arrived while it was paused starts no run. */
export const ResumeInput = Type.Object({ skip: Type.Optional(Type.Boolean()) }, { additionalProperties: false });

export const AssetParams = Type.Object({
  ...ProjectParam,
  assetKey: Type.String({ description: "The asset's key, percent-encoded as one segment, or its code." }),
});
