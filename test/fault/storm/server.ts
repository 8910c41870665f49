import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../support/tree.ts';
import type { Chance } from './chance.ts';
import { pause } from './pace.ts';

/** The victim: `sluice server`, one process after the other on the same data and port. */

const CLI = join(PROJECT, 'src/cli/main.ts');

export interface Place {
  readonly folder: string;
  readonly data: string;
  readonly config: string;
  readonly databaseUrl: string | null;
  readonly port: number;
}

export interface Deaths {
  /** Servers that were killed, and how many of them before they were ready. */
  kills: number;
  early: number;
  /** Servers that ended by themselves or were of no use. */
  readonly ownEnds: string[];
}

/**
 * From one start to the next. Where everything is slow, a server lives on until it has answered something, and a while longer that is left to
 * chance and grows, up to a limit, with the time that it took: what is killed again and again must get somewhere, or there is nothing to lose.
 */
const LIFE_MS = 1_500;
const ANSWERED_MS = { from: 50, to: 800 };
/** From start to answer where nothing else is to be done. */
const SWIFT_MS = 1_000;
const SLOWEST = 3;
/** What part of them dies at any moment, whatever it has done by then: mostly while it starts. */
const EARLY_SHARE = 0.4;
const EARLY_MS = { from: 50, to: 2_000 };
const ANSWER_LIMIT_MS = 30_000;
const LOOK_MS = 20;

class Victim {
  readonly #child: ChildProcess;
  readonly ended: Promise<void>;
  readonly ready: Promise<boolean>;

  constructor(place: Place) {
    const log = openSync(join(place.folder, 'server.log'), 'a');
    const args = [CLI, 'server', '--config', place.config, '--data', place.data, '--port', String(place.port)];
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_')));
    const database = place.databaseUrl === null ? {} : { SLUICE_DATABASE_URL: place.databaseUrl };
    this.#child = spawn(process.execPath, args, {
      cwd: place.folder,
      env: { ...env, ...database },
      stdio: ['ignore', 'pipe', log],
    });
    closeSync(log);
    this.ended = new Promise((resolve) => this.#child.once('exit', () => resolve()));
    this.ready = new Promise((resolve) => {
      this.#child.stdout?.on('data', (bytes: Buffer) => {
        if (/^ready /m.test(bytes.toString())) resolve(true);
      });
      void this.ended.then(() => resolve(false));
    });
  }

  isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  howEnded(): string {
    return this.#child.signalCode ?? `exit code ${this.#child.exitCode}`;
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#child.kill(signal);
    await this.ended;
  }
}

/** Keeps one server on a place, and kills it. */
export class Servers {
  readonly deaths: Deaths = { kills: 0, early: 0, ownEnds: [] };
  readonly #place: Place;
  #victim: Victim;

  constructor(place: Place) {
    this.#place = place;
    this.#victim = new Victim(place);
  }

  /** Waits until the server is ready, starting another should it end by itself. Throws when three have done so. */
  async untilReady(): Promise<void> {
    while (!(await this.#victim.ready)) {
      this.#noteOwnEnd();
      if (this.deaths.ownEnds.length > 2)
        throw new Error(`The server does not start: see server.log in ${this.#place.folder}.`);
      this.#victim = new Victim(this.#place);
    }
  }

  /** Kills the server and starts the next at once, again and again until the signal comes; the last one is left alone. */
  async killAgainAndAgain(chance: Chance, answers: () => number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const start = performance.now();
      const early = chance.happens(EARLY_SHARE);
      if (early) await pause(chance.between(EARLY_MS.from, EARLY_MS.to), signal);
      else {
        await this.#untilAnswered(answers, signal);
        const slowness = Math.min(SLOWEST, Math.max(1, (performance.now() - start) / SWIFT_MS));
        await pause(slowness * chance.between(ANSWERED_MS.from, ANSWERED_MS.to), signal);
        await pause(Math.max(0, LIFE_MS - (performance.now() - start)), signal);
      }
      if (!signal.aborted) await this.kill();
    }
    await this.untilReady();
  }

  /** Of requests that are sent all the time: one must be answered. */
  async #untilAnswered(answers: () => number, signal: AbortSignal): Promise<void> {
    await this.untilReady();
    const before = answers();
    const end = performance.now() + ANSWER_LIMIT_MS;
    while (answers() === before && !signal.aborted && performance.now() < end) await pause(LOOK_MS, signal);
    if (performance.now() >= end)
      this.deaths.ownEnds.push(`a server that was ready answered nothing for ${ANSWER_LIMIT_MS} ms`);
  }

  async kill(): Promise<void> {
    const victim = this.#victim;
    const ready = await Promise.race([victim.ready, Promise.resolve(false)]);
    if (!victim.isAlive()) this.#noteOwnEnd();
    else {
      await victim.end('SIGKILL');
      this.deaths.kills += 1;
      if (!ready) this.deaths.early += 1;
      appendFileSync(join(this.#place.folder, 'server.log'), `--- killed ${this.deaths.kills} at ${Date.now()}\n`);
    }
    this.#victim = new Victim(this.#place);
  }

  /** Ends it in peace; what went wrong with that. */
  async stop(): Promise<readonly string[]> {
    const lived = this.#victim.isAlive();
    await this.#victim.end('SIGTERM');
    const how = this.#victim.howEnded();
    return lived && how === 'exit code 0' ? [] : [`the last server ended with ${how}`];
  }

  async destroy(): Promise<void> {
    if (this.#victim.isAlive()) await this.#victim.end('SIGKILL');
  }

  #noteOwnEnd(): void {
    this.deaths.ownEnds.push(
      `after ${this.deaths.kills} kills a server ended by itself with ${this.#victim.howEnded()}`,
    );
  }
}
