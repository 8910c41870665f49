import type { EpochMs } from '../../time.ts';
import { type Draft, deriveEvent, setState } from './draft.ts';
import { dedupKeys } from './dedup.ts';
import type { StatedEvent } from '../event.ts';

/** What ends an epoch: the history was rewound, or the table replaced by another. */
export interface EpochEnd {
  readonly type: 'ROLLED_BACK' | 'RECREATED';
  /** Live versions above this ordinal are withdrawn; 0: all. */
  readonly keepUpTo: number;
  readonly sentence: string;
  readonly fields?: Partial<StatedEvent>;
}

/** Ends the epoch: withdraws what was undone and begins the next one without a watermark. Carrying over is the caller's. */
export const beginEpoch = (draft: Draft, end: EpochEnd): void => {
  for (const version of draft.versions) {
    if (version.ordinal > end.keepUpTo) draft.withdrawn.add(version.ordinal);
  }
  draft.withdrawnAfter = end.keepUpTo;
  draft.versions = draft.versions.filter((version) => version.ordinal <= end.keepUpTo);
  const epoch = draft.state.epoch + 1;
  setState(draft, { epoch, watermark: null });
  const note = { dedupKey: dedupKeys.newEpoch(end.type, draft.asset.key, epoch), sentence: end.sentence };
  deriveEvent(draft, end.type, end.fields ?? {}, note);
  hold(draft, end);
};

const hold = (draft: Draft, end: EpochEnd): void => {
  const policy = end.type === 'ROLLED_BACK' ? draft.asset.onRollback : draft.asset.onRecreate;
  if (policy === 'HOLD') putHealth(draft, 'HELD', `${end.sentence} Nothing triggers until a person lets it go on.`);
};

/** Changes health; its `since` only moves when the health itself does. */
export const putHealth = (
  draft: Draft,
  health: Draft['state']['health'],
  healthReason: string | null,
  at: EpochMs = draft.now,
): void => {
  const healthSince = health === draft.state.health ? draft.state.healthSince : at;
  setState(draft, { health, healthReason, healthSince });
};
