import type { Migration } from '../table.ts';

/** What was answered under which Idempotency-Key, so that a request that is repeated is carried out once. */
export const IDEMPOTENCY = {
  version: 4,
  name: 'idempotency keys',
  tables: {
    t_ds_idempotency: {
      columns: {
        id: 'id',
        // Of the route, its place and the key; and of the body.
        key_hash: 'hash',
        request_hash: 'hash',
        // Null while the request is being carried out, or if the server died in it.
        status: 'int?',
        answer: 'text?',
        create_time: 'int',
      },
      unique: [['key_hash']],
      index: [['create_time']],
    },
  },
} as const satisfies Migration;
