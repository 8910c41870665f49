import type { Api, EventRow, RunRow } from './api.ts';
import { cyan, dim, green, line, red, tableOf, yellow } from './screen.ts';

const FINISHED = ['SUCCESS', 'FAILURE', 'STOP', 'PAUSE'];
const LOOK_EVERY_MS = 40;

/** Watches the server as a person would, prints what is new, and lets the story wait for it. */
export class Feed {
  readonly #api: Api;
  #lastEvent = 0;
  readonly #runs = new Map<number, RunRow>();
  readonly events: EventRow[] = [];

  constructor(api: Api) {
    this.#api = api;
  }

  runs(): readonly RunRow[] {
    return [...this.#runs.values()].toSorted((a, b) => a.id - b.id);
  }

  /** Looks again and again until `holds` does; null after `limitMs`. */
  async until<T>(limitMs: number, holds: () => T | undefined | Promise<T | undefined>): Promise<T | null> {
    const limit = performance.now() + limitMs;
    for (;;) {
      await this.look();
      const value = await holds();
      if (value !== undefined) return value;
      if (performance.now() > limit) return null;
      await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
    }
  }

  async look(): Promise<void> {
    for (const event of (await this.#api.events())
      .filter((one) => one.id > this.#lastEvent)
      .toSorted((a, b) => a.id - b.id)) {
      this.#lastEvent = event.id;
      this.events.push(event);
      line('  event', describeEvent(event));
    }
    for (const run of (await this.#api.runs()).toSorted((a, b) => a.id - b.id)) this.#show(run);
  }

  #show(run: RunRow): void {
    const before = this.#runs.get(run.id);
    this.#runs.set(run.id, run);
    if (before === undefined)
      line(
        cyan('  run'.padEnd(9)),
        `${cyan(`#${run.id} ${run.workflow}`)} starts with ${pinsOf(run)}${run.triggerGroup === null ? ', by hand' : ''}`,
      );
    if (before?.state !== run.state && isFinished(run))
      line(
        '  run',
        run.state === 'SUCCESS'
          ? green(`#${run.id} ${run.workflow} SUCCESS`)
          : red(`#${run.id} ${run.workflow} ${run.state}`),
      );
  }
}

export const isFinished = (run: RunRow): boolean => FINISHED.includes(run.state);

/** `ods_order_latest@4, ods_payment_latest@2`; a tag that was asked for is named. */
export const pinsOf = (run: RunRow): string =>
  Object.entries(run.pins)
    .map(([key, pin]) => `${tableOf(key)}@${pin.snapshotId}${pin.tag === undefined ? '' : ` (tag ${pin.tag})`}`)
    .join(', ') || 'no pins';

const describeEvent = (event: EventRow): string => {
  const text = `${tableOf(event.assetKey)}: ${event.sentence}`;
  if (event.eventType === 'SNAPSHOT_COMMITTED') return event.dataChange === false ? dim(text) : text;
  return event.eventType.startsWith('QUALITY') || event.eventType.startsWith('SCHEMA') ? yellow(text) : dim(text);
};
