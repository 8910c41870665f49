import type { Condition } from '../../../src/core/asset/condition.ts';
import type { DependencyGroup } from '../../../src/core/asset/group.ts';
import type { Asset } from '../../../src/core/asset/state.ts';
import type { Commit } from '../../../src/core/asset/version.ts';
import { AssetMemory, commitOf, conditionOf, GroupMemory, groupOf, ORDERS, statedOf } from './memory.ts';

export const COMPACT = { operation: 'COMPACT', dataChange: false };

/** One asset, read once and empty, and a group of one condition on it. */
export const one = (
  condition: Partial<Condition> = {},
  asset: Partial<Asset> = {},
  group: Partial<DependencyGroup> = {},
) => {
  const memory = new AssetMemory(asset);
  memory.poll({});
  const at = asset.key ?? ORDERS;
  const waiting = new GroupMemory(groupOf([conditionOf(at, condition)], group), [memory]);
  const commit = (id: string, patch: Partial<Commit> = {}, when = 1_000_000n) =>
    memory.poll({ commits: [commitOf(id, patch.commitTime ?? BigInt(id.replace(/\D/g, '')), patch)] }, when);
  const passed = (snapshotId: string, checkName = 'c') =>
    memory.push(statedOf('QUALITY_CHECK_PASSED', { snapshotId, checkName }));
  const failed = (snapshotId: string, checkName = 'c') =>
    memory.push(statedOf('QUALITY_CHECK_FAILED', { snapshotId, checkName }));
  const tag = (name: string, snapshotId: string) =>
    memory.poll({ tagChanges: [{ tag: name, snapshotId, before: null }] });
  return { memory, group: waiting, commit, passed, failed, tag };
};

/** What the group pins when it fires now; null: it waits. */
export const pinned = (group: GroupMemory) => Object.values(group.fire() ?? {})[0] ?? null;
