/** The storm is paced by time, as writers and people are; whatever waits here ends at once when its signal does. */

export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, signal.aborted ? 0 : ms);
    signal.addEventListener('abort', end);
  });

/** Does something again and again until the signal comes, with a pause after each time. */
export async function repeat(
  signal: AbortSignal,
  pauseMs: () => number,
  act: () => Promise<void> | void,
): Promise<void> {
  while (!signal.aborted) {
    await act();
    await pause(pauseMs(), signal);
  }
}
