/** What part of the long tests is wanted (SLUICE_SOAK: 1 all, 0.1 every tenth case): every how many cases; null: none. */
export function soakEvery(): number | null {
  const share = Number(process.env['SLUICE_SOAK'] ?? 0);
  return share > 0 ? Math.max(1, Math.round(1 / share)) : null;
}
