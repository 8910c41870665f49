import type { Effects, PollTimes } from './ingest.ts';
import type { Poll } from './poll.ts';
import type { AssetHistory } from './state.ts';
export declare const ingestPoll: (history: AssetHistory, poll: Poll, times: PollTimes) => Effects;
