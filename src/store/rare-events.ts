/**
 * Conditions on t_ds_asset_event for which there is an index of just these rows. A database uses such an index only for a query that states
 * the condition in the same words, so both take them from here; migration 6 made the indexes, and other words need new ones.
 */
export const RARE_EVENTS = {
  gaps: "event_type = 'HISTORY_GAP'",
  /** Hints that wait to be confirmed, and events that came too late or were never confirmed. */
  unused: "status IN ('HINT', 'IGNORED_STALE', 'UNCONFIRMED')",
} as const;
