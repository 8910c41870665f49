import type { Pins, VersionRef } from '../../core/asset/version.ts';
import { type EpochMs, isoTime } from '../../core/time.ts';
import type { Page } from '../../store/store.ts';
import type { PinsBody, VersionRefBody } from '../contract/common.ts';

/** From what the store says to what the contract shows: ids and counts as strings, times as ISO 8601. */

export const timeOrNull = (at: EpochMs | null): string | null => (at === null ? null : isoTime(at));

export const countOrNull = (count: bigint | null): string | null => (count === null ? null : count.toString());

const refBody = (ref: VersionRef): VersionRefBody => ({
  snapshotId: ref.snapshotId,
  epoch: ref.epoch,
  ordinal: ref.ordinal,
});

export const refOrNull = (ref: VersionRef | null): VersionRefBody | null => (ref === null ? null : refBody(ref));

export const pinsBody = (pins: Pins): PinsBody =>
  Object.fromEntries(
    [...pins].map(([key, pin]) => [key, { ...refBody(pin), ...(pin.tag === undefined ? {} : { tag: pin.tag }) }]),
  );

export const pageBody = <T, B>(page: Page<T>, body: (item: T) => B): { items: B[]; nextCursor: string | null } => ({
  items: page.items.map(body),
  nextCursor: page.nextCursor,
});
