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
  /** The first commit to die at: what comes before is another story's. */
  readonly from: number;
  /** Before any server is there. */
  readonly prepare: (place: Place) => void;
  readonly steps: readonly Step[];
  /** With the server that took over. Throws what is not as it must be. */
  readonly audit: (place: Place, client: TestClient) => Promise<void>;
  /** Every kind of transaction that the story consists of, by the table that tells it: the victim must have died at each. */
  readonly tables: readonly string[];
}

/** What one round of the enumeration saw. */
interface Round {
  /** False: the story ended before the victim reached its commit, so all commits have been tried. */
  readonly died: boolean;
  /** The tables that the transaction wrote at which the victim died. */
  readonly tables: readonly string[];
}

/** Lets a victim die at one commit after the other until the story ends without a death. Returns how many commits it consists of. */
export async function enumerateDeaths(story: Story, moment: Moment): Promise<number> {
  const failures: string[] = [];
  const tables = new Set<string>();
  let number = story.from;
  for (; ; number += 1) {
    try {
      const round = await playRound(story, number, moment);
      for (const table of round.tables) tables.add(table);
      if (!round.died) break;
    } catch (error) {
      failures.push(String(error));
      if (failures.length >= 5) break;
    }
  }
  expect(failures).toEqual([]);
  expect(story.tables.filter((table) => !tables.has(table))).toEqual([]);
  return number - 1;
}

async function playRound(story: Story, number: number, moment: Moment): Promise<Round> {
  const place = makePlace();
  const trace = join(place.folder, 'trace');
  story.prepare(place);
  const args = [join(import.meta.dirname, 'victim.ts'), place.data, String(number), moment, trace];
  const victim = await startProcess(args, place).catch(onlyDeath);
  const left = victim === null ? story.steps : await play(story, place, victim, story.steps);
  const died = left.length > 0;
  const tables = died ? lastLine(trace).split(' ').slice(1) : [];
  try {
    if (died && victim !== null) expect(victim.end()).toEqual({ code: null, signal: 'SIGKILL' });
    await victim?.kill('SIGKILL');
    await takeOver(story, place, left);
  } catch (error) {
    throw new Error(`${moment} commit ${number} (${tables.join(' ')}): ${String(error)}`, { cause: error });
  }
  removePlace(place);
  return { died, tables };
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

const lastLine = (file: string): string =>
  existsSync(file) ? (readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '') : '';
