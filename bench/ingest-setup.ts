/** Run by ingest.ts as a process of its own, so that what declaring 100,000 conditions takes is not in the memory that is measured. */
import { declaration } from './declare.ts';
import { openBenchStore } from './bench-store.ts';
import { type Shape, workflowsOf, keyAt } from './ingest-shape.ts';

const CHUNK = 200;

const [file, json] = process.argv.slice(2);
if (file === undefined || json === undefined) throw new Error('Usage: ingest-setup.ts FILE SHAPE');
const shape = JSON.parse(json) as Shape;

const store = await openBenchStore(file);
const options = { dryRun: false, strict: false };
// Without a location nobody reads the table: it lives from what is pushed.
const assets = Array.from({ length: shape.assets }, (_, i) => ({ key: keyAt(i), pushMode: 'TRUST' }));
for (let at = 0; at < assets.length; at += CHUNK)
  await store.definitions.apply(declaration({ assets: assets.slice(at, at + CHUNK), workflows: [] }), options);
const workflows = workflowsOf(shape);
for (let at = 0; at < workflows.length; at += CHUNK) {
  await store.definitions.apply(declaration({ assets: [], workflows: workflows.slice(at, at + CHUNK) }), options);
  process.stderr.write(`ingest: ${at + CHUNK} of ${workflows.length} workflows\n`);
}
await store.close();
