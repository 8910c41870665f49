/**
 * Every error code that a person or a program can meet: once, here. `docs/reference/errors.md` lists the same (tested).
 * `title` is what the code means in general; the thrown or returned problem carries its own sentence. `status` is the HTTP status.
 */
export const ERRORS = {
  BAD_ASSET_KEY: { status: 400, title: 'The asset key is not of the form format://[catalog/]database/table[@branch].' },
  BAD_REQUEST: { status: 400, title: 'The request does not have the shape that this route takes.' },
  BAD_FILE: { status: 400, title: 'The file that declares work cannot be applied as it stands.' },
  BAD_EVENT: { status: 400, title: 'The event lacks a field or has one of the wrong shape.' },
  BAD_PIN: { status: 400, title: 'The pin does not name a version that can be read.' },
  BAD_CONFIG: { status: 400, title: 'The configuration has a key or a value that Sluice does not know.' },
  GROUP_NEVER_WAITS: {
    status: 400,
    title: 'The group has no condition that waits for a new version, so it would fire for ever.',
  },
  WORKFLOW_CYCLE: { status: 400, title: 'The tasks of the workflow depend on each other in a circle.' },
  UNAUTHENTICATED: { status: 401, title: 'The request carries no valid token.' },
  FORBIDDEN: { status: 403, title: 'The token does not allow this.' },
  NOT_FOUND: { status: 404, title: 'There is nothing under this name or number.' },
  UNKNOWN_ASSET: { status: 404, title: 'No asset is registered under this key.' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The address does not answer to this method.' },
  CONFLICT: { status: 409, title: 'The state of the thing does not allow this operation now.' },
  OWNERSHIP_LOST: { status: 409, title: 'Another server has taken over the work of this one.' },
  DATA_IN_USE: { status: 409, title: 'Another server is running on the same data folder or database.' },
  BODY_TOO_LARGE: { status: 413, title: 'The request carries more than this route takes.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The body is of a type that the server does not read.' },
  SCHEMA_TOO_NEW: { status: 409, title: 'The database was written by a newer version of Sluice.' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'The Idempotency-Key was used for another request.' },
  BAD_PARAMETER: { status: 422, title: 'A parameter or a time expression in one cannot be resolved.' },
  UNSAFE_PARAMETER: { status: 422, title: 'A value from outside holds characters that are not put into a script.' },
  PIN_EXPIRED: { status: 422, title: 'A pinned version can no longer be read.' },
  TASK_NOT_STARTED: { status: 500, title: 'The process of a task could not be started.' },
  TOO_MANY_FOLLOWERS: { status: 503, title: 'More pages or logs are followed than the server keeps connections for.' },
  DATABASE_UNREACHABLE: { status: 503, title: 'The database does not answer.' },
  SERVER_UNREACHABLE: { status: 503, title: 'No Sluice server answers.' },
  INTERNAL: { status: 500, title: 'Something went wrong inside Sluice; the log has the details.' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** The one error class: thrown where a returned Result would be clumsy, turned into words by the API and the CLI. */
export class SluiceError extends Error {
  override readonly name = 'SluiceError';
  readonly code: ErrorCode;
  constructor(code: ErrorCode, detail: string, options?: { cause?: unknown }) {
    super(detail, options);
    this.code = code;
  }
}
