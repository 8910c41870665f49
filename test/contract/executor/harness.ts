import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AttemptId, Ended, Executor, ProcessLaunch, Started } from '../../../src/executors/executor.ts';

/** A place where attempts run; every executor that is opened on it finds the attempts of those before. */
export interface Place {
  open(): Executor;
  /** Kills, as an accident would, the process that keeps account of the attempt (not the script itself); returns when it is dead. */
  murder(started: Started): void;
}

/** One test's executor, its ends in the order of their reports, and signals between the test and its scripts. */
export class Bench {
  readonly place: Place;
  readonly folder: string;
  executor: Executor;
  ends: Ended[] = [];
  #waiting: (() => void)[] = [];
  #nextId = 0;

  constructor(place: Place) {
    this.place = place;
    this.folder = mkdtempSync(join(tmpdir(), 'sluice-signals-'));
    this.executor = this.#open();
    onTestFinished(async () => {
      await this.executor.close();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  #open(): Executor {
    const executor = this.place.open();
    executor.onEnded((ended) => {
      this.ends.push(ended);
      for (const tell of this.#waiting.splice(0)) tell();
    });
    return executor;
  }

  /** As after a restart of the server: what ran goes on, nobody knows of it yet. */
  async reopen(): Promise<void> {
    await this.executor.close();
    this.executor = this.#open();
  }

  id(): AttemptId {
    this.#nextId += 1;
    return { taskRunId: this.#nextId, attempt: 1, fence: 1 };
  }

  launch(script: string, more: Partial<ProcessLaunch> = {}): ProcessLaunch {
    return { id: this.id(), runId: 7, script, env: {}, context: '{}', cwd: null, ...more };
  }

  /** The n-th end that was reported (from 1). */
  async ended(n = 1): Promise<Ended> {
    while (this.ends.length < n) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.ends[n - 1] as Ended;
  }

  /** Runs a script to its end. */
  async run(
    script: string,
    more: Partial<ProcessLaunch> = {},
  ): Promise<{ ended: Ended; output: string; launch: ProcessLaunch }> {
    const launch = this.launch(script, more);
    const before = this.ends.length;
    await this.executor.start(launch);
    const ended = await this.ended(before + 1);
    return { ended, output: await this.output(launch), launch };
  }

  async output(launch: ProcessLaunch): Promise<string> {
    const { bytes } = await this.executor.log(launch.id, launch.runId, 0, 1_000_000);
    return Buffer.from(bytes).toString();
  }

  /** A pipe with a name: a script's `echo x > "$path"` resolves heard(), and its `read < "$path"` waits for tell(). */
  signal(name: string): { readonly path: string; heard(): Promise<string>; tell(): Promise<void> } {
    mkdirSync(this.folder, { recursive: true });
    const path = join(this.folder, name);
    execFileSync('mkfifo', [path]);
    return { path, heard: () => readFile(path, 'utf8'), tell: () => writeFile(path, 'go\n') };
  }
}

/** Is there a process with this pid that is not a zombie? */
export function isAlive(pid: number): boolean {
  try {
    return !/^\s*Z/.test(execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }));
  } catch {
    return false; // ps found none
  }
}
