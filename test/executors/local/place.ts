import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createLocalExecutor, type LocalExecutorOptions } from '../../../src/executors/local/local-executor.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createLog } from '../../../src/runtime/log.ts';
import { isAlive, type Place } from '../../contract/executor/harness.ts';

const silent = createLog({ level: 'silent', destination: 'stderr', now: systemClock.now });

/** A folder for local attempts, removed when the test that asked for it has ended. */
export function localPlace(options: Partial<LocalExecutorOptions> = {}): Place & { readonly folder: string } {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'sluice-attempts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return {
    folder,
    open: () => createLocalExecutor({ folder, clock: systemClock, log: silent, environment: process.env, ...options }),
    murder: ({ pid }) => {
      process.kill(pid, 'SIGKILL');
      while (isAlive(pid)); // each look is a process of its own: time enough for a signal to arrive
    },
  };
}
