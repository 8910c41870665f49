import type { Scene } from './writers.ts';
import { repeat } from './pace.ts';
import { BY_HAND, WORKFLOWS } from './plan.ts';

/** Those who start runs by hand, stop and pause them, and let them go on. */

interface Run {
  readonly id: number;
  readonly workflow: string;
  readonly state: string;
}

const STEERED = new Set(WORKFLOWS.filter(({ steered }) => steered).map(({ name }) => name));
/** An operation may find its run in another state than when it was chosen. */
const TOO_LATE = { expected: [409] };

const runsIn = async ({ client }: Scene, state: string): Promise<readonly Run[]> =>
  (await client.get<{ items: readonly Run[] }>(`/workflow-instances?state=${state}&limit=100`)).items;

const operate = (scene: Scene, { id }: Run, operation: 'stop' | 'pause' | 'resume'): Promise<unknown> =>
  scene.client.post(`/workflow-instances/${id}/${operation}`, {}, TOO_LATE);

export function startByHand(scene: Scene, signal: AbortSignal): Promise<void> {
  let number = 0;
  return repeat(
    signal,
    () => scene.chance.between(2_500, 5_000),
    async () => {
      const key = `by-hand-${++number}`;
      await scene.client.post(`/workflow-definitions/${BY_HAND}/start`, {}, { key });
      scene.chronicle.starts.push(key);
    },
  );
}

/** Noted before it is asked for: it may be carried out although no answer comes. */
export const stopAndPause = (scene: Scene, signal: AbortSignal): Promise<void> =>
  repeat(
    signal,
    () => scene.chance.between(1_500, 4_000),
    async () => {
      const running = (await runsIn(scene, 'RUNNING_EXECUTION')).filter(({ workflow }) => STEERED.has(workflow));
      if (running.length === 0) return;
      const run = scene.chance.pick(running);
      scene.chronicle.steered.push(run.id);
      await operate(scene, run, scene.chance.happens(0.5) ? 'stop' : 'pause');
    },
  );

/** Goes on after the storm until no run is stopped or paused. */
export const letGoOn = (scene: Scene, signal: AbortSignal): Promise<void> =>
  repeat(
    signal,
    () => 1_200,
    async () => {
      for (const state of ['STOP', 'PAUSE'])
        for (const run of await runsIn(scene, state)) if (!signal.aborted) await operate(scene, run, 'resume');
    },
  );
