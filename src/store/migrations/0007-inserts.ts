import { RARE_EVENTS } from '../rare-events.ts';
import type { Migration } from '../table.ts';

/**
 * What every event and every version costs when it is inserted: one index less for commits, and no look for the asset, whose state the transaction
 * has locked anyway (queries/assets/admin.ts removes their rows before it removes an asset).
 */
export const INSERTS = {
  version: 7,
  name: 'cheaper inserts of events and versions',
  tables: {},
  changes: {
    t_ds_asset_event: {
      columns: {},
      drop: ['t_ds_asset_event_2'],
      unlink: ['asset_id'],
      partial: [{ on: ['event_type', 'id'], where: RARE_EVENTS.others }],
    },
    t_ds_asset_version: { columns: {}, unlink: ['asset_id'] },
  },
} as const satisfies Migration;
