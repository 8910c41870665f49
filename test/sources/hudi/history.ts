import { MadeUpTable } from './made-up.ts';

export type Event =
  | 'commit'
  | 'empty'
  | 'cluster'
  | 'begin'
  | 'complete'
  | 'rollback'
  | 'archive'
  | 'clean'
  | 'convert'
  | 'poll';

export const EVENTS: readonly Event[] = [
  'commit',
  'commit',
  'empty',
  'cluster',
  'begin',
  'complete',
  'rollback',
  'archive',
  'clean',
  'convert',
  'poll',
  'poll',
];

/** A table to which things happen, and what must be told of it. */
export class History {
  readonly table: MadeUpTable;
  /** Versions that stand, whether in the timeline or in the archive → dataChange. */
  readonly standing = new Map<string, boolean>();
  readonly #pending: string[] = [];
  #archivable = true;

  constructor(layout: 1 | 2) {
    this.table = new MadeUpTable(layout);
  }

  happen(event: Event): void {
    switch (event) {
      case 'commit':
        this.standing.set(this.table.commit(), true);
        return;
      case 'empty':
        this.standing.set(this.table.commit({}), false);
        return;
      case 'cluster':
        this.standing.set(this.table.commit({ operation: 'CLUSTER', inserts: 2 }, 'replacecommit'), false);
        return;
      case 'begin':
        this.#pending.push(this.table.begin());
        return;
      case 'complete': {
        const time = this.#pending.shift();
        if (time === undefined) return;
        this.table.complete(time, { updates: 1 });
        this.standing.set(time, true);
        return;
      }
      case 'rollback': {
        const newest = this.table.written.filter(({ metadata }) => metadata !== null).at(-1)?.time;
        if (newest === undefined) return;
        this.table.rollback(newest);
        this.standing.delete(newest);
        return;
      }
      case 'archive':
        // Hudi archives the oldest actions, and none that is newer than one still under way.
        this.table.written.sort((a, b) => (a.time < b.time ? -1 : 1));
        if (this.#pending.length === 0 && this.#archivable) this.table.archive(3);
        return;
      case 'clean':
        this.table.clean(this.table.written[0]?.time ?? '20260101000000000');
        return;
      case 'convert':
        if (this.#pending.length === 0) this.table.convert();
        return;
      case 'poll':
        return;
    }
  }
}
