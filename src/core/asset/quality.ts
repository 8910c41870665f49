import type { QualityStatus, Verdict } from './state.ts';

/** Of two verdicts of one check on one version: the later, at the same instant the FAILED one. */
export const strongerVerdict = (a: Verdict, b: Verdict): Verdict => {
  if (a.at !== b.at) return a.at > b.at ? a : b;
  return b.status === 'FAILED' ? b : a;
};

/** The verdict that holds for each check, over all verdicts given. */
const byCheck = (verdicts: readonly Verdict[]): ReadonlyMap<string, Verdict> => {
  const held = new Map<string, Verdict>();
  for (const verdict of verdicts) {
    const other = held.get(verdict.checkName);
    held.set(verdict.checkName, other === undefined ? verdict : strongerVerdict(other, verdict));
  }
  return held;
};

/**
 * The quality of a cut from all verdicts on its versions. With required checks: FAILED if one of them failed, PASSED if all passed.
 * With none named, the first PASSED passes it, unless another check says FAILED: somebody looked and found the data wrong, and letting it
 * through because a different check ran first would depend on the order of arrival.
 */
export const qualityOf = (verdicts: readonly Verdict[], required: readonly string[]): QualityStatus => {
  const held = byCheck(verdicts);
  const asked = required.length === 0 ? [...held.values()] : required.map((name) => held.get(name));
  if (asked.some((verdict) => verdict?.status === 'FAILED')) return 'FAILED';
  return asked.length > 0 && asked.every((verdict) => verdict?.status === 'PASSED') ? 'PASSED' : 'UNKNOWN';
};
