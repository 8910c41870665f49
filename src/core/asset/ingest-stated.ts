import type { Result } from '../result.ts';
import type { EpochMs } from '../time.ts';
import type { StatedEvent } from './event.ts';
import type { Effects } from './ingest.ts';
import type { AssetHistory } from './state.ts';
export declare const ingestStated: (
  history: AssetHistory,
  event: StatedEvent,
  receivedAt: EpochMs,
  nonce: string,
) => Result<Effects & { readonly duplicate: boolean }>;
