import type { StatedEvent } from '../core/asset/event.ts';
import type { AssetKey } from '../core/asset/key.ts';
import type { WorkflowDefaults } from '../core/declaration/workflow.ts';
import type { Problem } from '../core/result.ts';
import type { AttemptId } from '../executors/executor.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { StatedReceipt, Store } from '../store/store.ts';

/** What a route asks of its caller. A token that may do a later one may do the earlier ones. PUBLIC needs no token. */
export const PERMISSIONS = ['public', 'read', 'operate', 'admin'] as const;

export type Permission = (typeof PERMISSIONS)[number];

/** A token as text, and the most that it may do. */
export interface ApiToken {
  readonly name: string;
  readonly token: string;
  readonly grants: Exclude<Permission, 'public'>;
}

/** Everything that the API is given; compose/server.ts knows what stands behind it. */
export interface ApiDeps {
  readonly store: Store;
  /** Looks at these tables now and waits for the answers, at most `timeoutMs`; keys without a location are left out. */
  readonly scanNow: (keys: readonly AssetKey[], timeoutMs: number) => Promise<void>;
  /** Bytes of an attempt's log from `offset` on (executor.ts: log); empty where there is none yet. */
  readonly attemptLog: (
    id: AttemptId,
    runId: number,
    offset: number,
    limit: number,
  ) => Promise<{ readonly bytes: Uint8Array; readonly size: number }>;
  /** Told of every statement that was taken or refused, for the numbers. */
  readonly onStated?: (events: readonly StatedEvent[], receipts: readonly StatedReceipt[]) => void;
  /** Told of every statement that was refused before the store saw it; the key is there if somebody has registered it. */
  readonly onRefused?: (refusals: readonly { readonly assetKey: AssetKey | null; readonly problem: Problem }[]) => void;
  /** false: pushed events are refused. */
  readonly takesPushes: boolean;
  /** What keeps the server from doing its work, in sentences; empty: it is ready. */
  readonly notReady: () => Promise<readonly string[]>;
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  /** Time zone and task types, for what is declared. */
  readonly declarations: WorkflowDefaults;
  readonly tokens: readonly ApiToken[];
  /** Host names, beside localhost and IP addresses, by which people may call the server. */
  readonly allowedHosts: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}
