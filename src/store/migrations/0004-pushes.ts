import type { Migration } from '../table.ts';

/**
 * What was answered under which Idempotency-Key, so that a request that is repeated is carried out once; and how often a look at a table
 * was asked for, so that each asking is followed by a look that began after it; and how often a trigger key came up once more.
 */
export const PUSHES = {
  version: 4,
  name: 'pushes',
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
  changes: {
    t_ds_asset_event_consumer_offset: { columns: { asks: 'int?' }, index: [['waiting']] },
    // How often the key came up again after it had fired, and when last.
    t_ds_asset_trigger_history: { columns: { suppressed_count: 'int?', suppressed_time: 'int?' } },
  },
} as const satisfies Migration;
