/**
 * What a query must state, in these words, to be answered by the index that has only these rows of t_ds_asset_event (migration 6 made them: a
 * change here needs new indexes).
 */
export const RARE_EVENTS = {
  gaps: "event_type = 'HISTORY_GAP'",
  /** Waiting to be confirmed, or told and never used. */
  unused: "status IN ('HINT', 'IGNORED_STALE', 'UNCONFIRMED')",
} as const;
