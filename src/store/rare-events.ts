/**
 * Conditions on t_ds_asset_event for which there is an index of just these rows. A database uses such an index only for a query that states
 * the condition in the same words, so both take them from here; migrations 6 and 7 made the indexes, and other words need new ones.
 */
export const RARE_EVENTS = {
  /** All but commits, of which there are so many that the newest are found without an index. */
  others: "event_type <> 'SNAPSHOT_COMMITTED'",
  gaps: "event_type = 'HISTORY_GAP'",
  /** Hints that wait to be confirmed, and events that came too late or were never confirmed. */
  unused: "status IN ('HINT', 'IGNORED_STALE', 'UNCONFIRMED')",
} as const;
