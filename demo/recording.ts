import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** One recorded step: what an engine did, and what it left in the warehouse folder. */
export interface Step {
  readonly step: number;
  readonly did: string;
  readonly note?: string;
  readonly removed?: readonly string[];
}

const GMV = join(import.meta.dirname, 'gmv');

export const readSteps = (): ReadonlyMap<number, Step> =>
  new Map(
    readFileSync(join(GMV, 'steps.jsonl'), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Step)
      .map((step) => [step.step, step]),
  );

/**
 * Lays a step's files into the warehouse as their writer did: snapshot files last, the hints after them, so that nobody who looks in between
 * sees a snapshot whose manifests are missing.
 */
export const layStep = (step: Step, warehouse: string): void => {
  const files = join(GMV, 'steps', String(step.step).padStart(2, '0'));
  if (existsSync(files)) {
    for (const pass of [isOther, isSnapshot, isHint])
      cpSync(files, warehouse, { recursive: true, filter: (source) => isFolder(source) || pass(source) });
  }
  for (const path of step.removed ?? []) rmSync(join(warehouse, path), { force: true });
};

const isFolder = (path: string): boolean => !/\/(snapshot|schema|tag|manifest|statistics)\/[^/]+$/.test(path);
const isHint = (path: string): boolean => /\/(LATEST|EARLIEST)$/.test(path);
const isSnapshot = (path: string): boolean => /\/snapshot\/snapshot-\d+$/.test(path);
const isOther = (path: string): boolean => !isHint(path) && !isSnapshot(path);
