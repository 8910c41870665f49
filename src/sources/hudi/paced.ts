import { nextTurn } from '../turns.ts';
/** Takes the steps of a long computation and lets the event loop turn at each of them. */
export async function paced<T>(steps: Generator<undefined, T, undefined>): Promise<T> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    await nextTurn();
  }
}
