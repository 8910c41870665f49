import type { Clock } from '../../runtime/clock.ts';
import type { AttemptId, Ended, Found, Started } from '../executor.ts';
import * as attempt from './attempt.ts';
import type { AttemptFiles, Claim } from './attempt.ts';
import { type ProcessTable, signalGroup } from './processes.ts';

export type StartedClaim = Extract<Claim, { kind: 'STARTED' }>;

/** How often a claim that is being written, or a group that is being killed, is looked at. */
const SOON_MS = 10;
/** A claim takes microseconds; one still unfinished after this will never be. */
const CLAIM_PATIENCE_MS = 1_000;
/** How long a process may hang in the kernel after SIGKILL before nobody waits for it any more. */
export const KILL_PATIENCE_MS = 2_000;

export const startedOf = (files: AttemptFiles, claim: StartedClaim): Started => ({
  pid: claim.pid,
  logPath: files.log,
  startedAt: claim.at,
});

/** What became of an attempt, from its folder and the host's processes alone: the same answer for whoever started it. */
export interface Lookup {
  /** The claim, once its writer has had the time to write it. */
  settledClaim(files: AttemptFiles): Promise<Claim>;
  /** The claim as soon as somebody's wrapper runs, or as it is when patience ends. */
  startedClaim(files: AttemptFiles): Promise<Claim>;
  /** Is the wrapper that made this claim alive? */
  lives(claim: StartedClaim): Promise<boolean>;
  /** What is true of an attempt that has a claim. Kills what a dead wrapper left running. */
  inspect(id: AttemptId, files: AttemptFiles, claim: Claim): Promise<Found>;
  /** The end of an attempt whose wrapper is gone, null if it is lost. Kills what it left running if it is lost or was killed. */
  end(id: AttemptId, files: AttemptFiles, claim: Claim): Promise<Ended | null>;
  /** Resolves when the attempt's process group is empty, or `until` says that it has lasted long enough. */
  groupEnd(claim: StartedClaim, until: () => boolean): Promise<void>;
}

export function createLookup(clock: Clock, processes: ProcessTable): Lookup {
  const pause = (): Promise<void> => new Promise((resolve) => clock.setTimer(SOON_MS, resolve));

  const awaitClaim = async (files: AttemptFiles, will: (claim: Claim) => boolean): Promise<Claim> => {
    const end = clock.monotonicMs() + CLAIM_PATIENCE_MS;
    let claim = await attempt.readClaim(files);
    while (!will(claim) && clock.monotonicMs() < end) {
      await pause();
      claim = await attempt.readClaim(files);
    }
    return claim;
  };

  /** A pid alone proves nothing: it may have been given to another process since. */
  const lives = async (claim: StartedClaim): Promise<boolean> => {
    if (claim.boot !== processes.boot) return false;
    const found = await processes.byPid(claim.pid);
    return found !== null && found.birth === processes.birthOf(claim.noted);
  };

  const groupEnd = async (claim: StartedClaim, until: () => boolean): Promise<void> => {
    while (!until() && (await processes.inGroup(claim.pid)).length > 0) await pause();
  };

  /** So that the next attempt does not run beside what is left of this one. Strangers under the same number are left alone. */
  const sweep = async (files: AttemptFiles, claim: Claim): Promise<void> => {
    if (claim.kind !== 'STARTED' || claim.boot !== processes.boot) return;
    if ((await processes.byPid(claim.pid)) !== null) return;
    const entry = `SLUICE_ATTEMPT_FOLDER=${files.folder}`;
    const left = await processes.inGroup(claim.pid);
    if (!left.some(({ pid }) => processes.hasEnvironment(pid, entry) !== false)) return;
    signalGroup(claim.pid, 'SIGKILL');
    const patienceEnds = clock.monotonicMs() + KILL_PATIENCE_MS;
    await groupEnd(claim, () => clock.monotonicMs() > patienceEnds);
  };

  const end = async (id: AttemptId, files: AttemptFiles, claim: Claim): Promise<Ended | null> => {
    const ended = await attempt.readEnd(files, id);
    const killed = await attempt.isKilled(files);
    // Killed: the server that sent SIGTERM may have died before its SIGKILL.
    if (ended === null || killed) await sweep(files, claim);
    if (ended !== null || !killed) return ended;
    await attempt.writeEnd(files, 'SIGKILL'); // the wrapper died of our signal and could not
    return attempt.readEnd(files, id);
  };

  return {
    settledClaim: (files) => awaitClaim(files, ({ kind }) => kind !== 'UNFINISHED'),
    startedClaim: (files) => awaitClaim(files, ({ kind }) => kind === 'STARTED'),
    lives,
    end,
    groupEnd,
    inspect: async (id, files, claim) => {
      const started = claim.kind === 'STARTED' ? startedOf(files, claim) : null;
      if (claim.kind === 'STARTED' && started !== null && (await lives(claim))) return { kind: 'RUNNING', started };
      // Read after the process is gone: its last act was to write the end.
      const ended = await end(id, files, claim);
      return ended === null ? { kind: 'LOST', started } : { kind: 'ENDED', started, ended };
    },
  };
}
