import { RARE_EVENTS } from '../rare-events.ts';
import type { Migration } from '../table.ts';

/**
 * What is recorded of an asset leaves one row here instead of one in the queue for each group that names it: a burst of events is turned into
 * groups once, when the resolver has nothing else to do (queries/groups/queue.ts). And two indexes of the events, which every event had to be put
 * into, shrink to the few events that are ever looked for by them.
 */
export const CHANGES = {
  version: 6,
  name: 'changes of assets',
  tables: {
    t_ds_asset_change: { columns: { id: 'id', asset_hash: 'hash', change_time: 'int' } },
  },
  changes: {
    t_ds_asset_event: {
      columns: {},
      drop: ['t_ds_asset_event_3', 't_ds_asset_event_4'],
      partial: [
        { on: ['asset_id', 'id'], where: RARE_EVENTS.gaps },
        { on: ['asset_id', 'id'], where: RARE_EVENTS.unused },
      ],
    },
  },
} as const satisfies Migration;
