import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  makePlace,
  type Place,
  removePlace,
  ServerDied,
  type ServerProcess,
  startProcess,
  startServer,
  until,
} from '../support/server.ts';
import { clientOf, type TestClient } from '../support/server-client.ts';

/** A story in which a server dies at its N-th commit, another one takes over, and an auditor looks at what is left. */

export type Moment = 'BEFORE' | 'AFTER';

/** May be cut off by the server's death; then it is done again from its beginning with the next server, as a person or a writer would. */
export type Step = (place: Place, client: TestClient) => Promise<unknown> | void;

export interface Story {
  readonly project: string;
  /** Before any server is there. */
  readonly prepare: (place: Place) => void;
  readonly steps: readonly Step[];
  /** With the server that took over. Throws what is not as it must be. */
  readonly audit: (place: Place, client: TestClient) => Promise<void>;
  /** Tables whose transactions the story is about: the victim must have died at one that writes each of them. */
  readonly tables: readonly string[];
  /** Transactions that write one of these are another story's. */
  readonly omits: readonly string[];
}

/** What one round of the enumeration saw. */
interface Round {
  readonly died: boolean;
  /** The victim's transactions, in order. */
  readonly commits: readonly string[];
}

const TRIES = 3; // two polls may end in either order, so a transaction seen in one round may have another name in the next
const FAILURES_SHOWN = 5;

/**
 * Lets a victim die at each transaction that it was ever seen to make, one a round, new ones included as they show up. `every`: only at every
 * so many of those of the first round. Returns at which it died.
 */
export async function enumerateDeaths(story: Story, moment: Moment, every = 1): Promise<readonly string[]> {
  const failures: string[] = [];
  const tries = new Map<string, number>();
  const died = new Set<string>();
  const first = await playRound(story, 'none', moment);
  const waiting = first.commits.filter((name, i) => i % every === 0 && isOwn(story, name));
  for (
    let target = waiting.shift();
    target !== undefined && failures.length < FAILURES_SHOWN;
    target = waiting.shift()
  ) {
    const tried = (tries.get(target) ?? 0) + 1;
    tries.set(target, tried);
    try {
      const round = await playRound(story, target, moment);
      if (round.died) died.add(target);
      else if (tried < TRIES) waiting.push(target);
      if (every === 1)
        waiting.push(
          ...round.commits.filter((name) => isOwn(story, name) && !tries.has(name) && !waiting.includes(name)),
        );
    } catch (error) {
      failures.push(`${moment} ${target}: ${String(error)}`);
    }
  }
  expect(failures).toEqual([]);
  if (every === 1)
    expect(story.tables.filter((table) => ![...died].some((name) => tablesOf(name).includes(table)))).toEqual([]);
  return [...died];
}

const tablesOf = (name: string): readonly string[] => name.replace(/#\d+$/, '').split('+');

const isOwn = (story: Story, name: string): boolean => !tablesOf(name).some((table) => story.omits.includes(table));

async function playRound(story: Story, target: string, moment: Moment): Promise<Round> {
  const place = makePlace();
  const trace = join(place.folder, 'trace');
  story.prepare(place);
  const args = [join(import.meta.dirname, 'victim.ts'), place.data, target, moment, trace];
  const victim = await startProcess(args, place).catch(onlyDeath);
  const left = victim === null ? story.steps : await play(story, place, victim, story.steps);
  const died = left.length > 0;
  const commits = existsSync(trace) ? readFileSync(trace, 'utf8').trimEnd().split('\n') : [];
  if (died) expect(commits).toContain(target);
  if (died && victim !== null) expect(victim.end()).toEqual({ code: null, signal: 'SIGKILL' });
  await victim?.kill('SIGKILL');
  await takeOver(story, place, left);
  removePlace(place);
  return { died, commits };
}

/** A normal server goes through the rest of the story; then the auditor comes. */
async function takeOver(story: Story, place: Place, left: readonly Step[]): Promise<void> {
  const server = await startServer(place);
  const rest = await play(story, place, server, left);
  if (rest.length > 0) throw new Error(`The second server died: ${server.errors()}`);
  await story.audit(place, clientOf(place, server, story.project));
  await server.kill('SIGTERM');
  expect(server.end()).toEqual({ code: 0, signal: null });
}

/** Does the steps in order; returns those that the server's death left undone. A step that fails while the server lives fails the round. */
async function play(
  story: Story,
  place: Place,
  server: ServerProcess,
  steps: readonly Step[],
): Promise<readonly Step[]> {
  for (const [at, step] of steps.entries()) {
    try {
      await step(place, clientOf(place, server, story.project));
    } catch (error) {
      // fetch notices the death a moment before the process is reaped.
      const isNetwork = error instanceof TypeError;
      if (isNetwork) await until('the dead server to be reaped', () => server.end() !== null);
      if (!isNetwork && server.end() === null) throw error;
      return steps.slice(at);
    }
  }
  return [];
}

/** The victim may die before it is ready, but only by its own hand. */
function onlyDeath(error: unknown): null {
  if (error instanceof ServerDied && error.signal === 'SIGKILL') return null;
  throw error;
}
