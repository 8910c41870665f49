/**
 * Stands for a writer (DWD, DWS or ADS job) in the demo's tasks: reads its pins from the environment as any script would, finds the commit
 * that the real writer made from exactly these versions, and lays it into the warehouse.
 *
 *   node lay.ts WRITER WAREHOUSE
 */
import { layStep, readSteps } from './recording.ts';
import { findWrite } from './writers.ts';

const [writer = '', warehouse = ''] = process.argv.slice(2);
const pinOf = (alias: string): string | undefined => process.env[`SLUICE_ASSET_${alias.toUpperCase()}_SNAPSHOT_ID`];

const write = findWrite(writer, pinOf);
const step = write === undefined ? undefined : readSteps().get(write.step);
if (step === undefined) {
  const pins = Object.entries(process.env).filter(([name]) => /^SLUICE_ASSET_.*(?<!PREVIOUS)_SNAPSHOT_ID$/.test(name));
  console.error(
    `The recording holds no commit that ${writer} made from ${pins.map(([n, v]) => `${n}=${v}`).join(', ') || 'no pins'}.`,
  );
  process.exit(1);
}
console.log(
  `${writer} reads ${Object.entries(write?.reads ?? {})
    .map(([alias, id]) => `${alias}@${id}`)
    .join(', ')}`,
);
layStep(step, warehouse);
console.log(`laid step ${step.step}: ${step.did}`);
if (step.note !== undefined) console.log(step.note);
// "ADS says: 2026-11-29: GMV 883.40, …; 2026-11-30: GMV 1328.00, …": the figure of the date that this step refreshed.
const date = /\d{4}-\d\d-\d\d/.exec(step.did)?.[0];
const gmv = new RegExp(`${date}: GMV ([\\d.]+)`).exec(step.note ?? '')?.[1];
if (gmv !== undefined) console.log(`gmv ${gmv}`);
