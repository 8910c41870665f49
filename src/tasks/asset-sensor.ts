import { ok, refuse } from '../core/result.ts';
import { ASSET_SENSOR, WAIT_KEYS } from '../core/declaration/wait.ts';
import { checkNames } from './params.ts';
import type { TaskPlugin } from './task.ts';

/**
 * ASSET_SENSOR: waits for tables and then succeeds. Its waiting is the engine's, as that of every task with `groups`; what it says of them is read
 * with the rest of the declaration, so that here only the names are checked. It has no body.
 */
export const assetSensor: TaskPlugin = Object.freeze({
  type: ASSET_SENSOR,
  hasBody: false,
  check: (params) => {
    const named = checkNames(ASSET_SENSOR, params, WAIT_KEYS);
    if (!named.ok) return named;
    return params['groups'] === undefined || Array.isArray(params['groups']) ? ok(undefined) : noList;
  },
  prepare: () => ok({ kind: 'NOTHING' }),
} satisfies TaskPlugin);

const noList = refuse(
  'BAD_FILE',
  'The groups of an ASSET_SENSOR are a list: write groups: [{group: NAME, all: [conditions]}].',
);
