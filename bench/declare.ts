import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ProjectDeclaration } from '../src/core/declaration/declaration.ts';
import { parseDeclaration } from '../src/core/declaration/parse.ts';
import { checkTask } from '../src/compose/tasks.ts';
import type { Settings } from './measure.ts';
import { tableWriter } from './tables.ts';

export const PROJECT = 'bench';

/** What the benchmarks declare, as an apply file says it. */
export interface Declared {
  readonly assets: readonly {
    readonly key: string;
    /** Left out: the table lives from what is pushed. */
    readonly location?: string;
    readonly pushMode?: string;
    readonly pollIntervalSeconds?: number;
  }[];
  readonly workflows: readonly object[];
}

/** `paimon://bench/t7`; its folder is `t7` in the warehouse. */
export const assetAt = (format: string, warehouse: string, number: number) => ({
  key: `${format}://bench/t${number}`,
  location: join(warehouse, `t${number}`),
});

/** A workflow of one SHELL task that runs whenever each of the assets has a new version. */
export const workflowOn = (name: string, assets: Declared['assets'], rawScript: string, group: object = {}) => ({
  name,
  triggers: [{ group: 'g', all: assets.map(({ key }) => ({ assetKey: key })), ...group }],
  tasks: [{ name: 'a', type: 'SHELL', params: { rawScript } }],
});

const whole = (declared: Declared) => ({ apiVersion: 'sluice/v1', project: PROJECT, ...declared });

/** The declaration as the server reads it out of an apply file. */
export const declaration = (declared: Declared): ProjectDeclaration => {
  const read = parseDeclaration(whole(declared), { timezone: 'UTC', checkTask });
  if (!read.ok) throw new Error(read.problems.map(({ path, detail }) => `${path.join('.')}: ${detail}`).join('\n'));
  return read.value;
};

/** Writes an apply file. */
export const writeApplyFile = (file: string, declared: Declared): void =>
  writeFileSync(file, stringify(whole(declared)));

const PER_WORKFLOW = 5;

/** Tables on disk and an apply file that names them, a workflow for every five; the file's name. */
export const manyTables = ({ folder, format }: Settings, count: number): string => {
  const writer = tableWriter(format);
  const file = join(folder, `bench-${count}.yaml`);
  const assets = Array.from({ length: count }, (_, i) => assetAt(format, join(folder, `warehouse-${count}`), i + 1));
  for (const { location } of assets) writer.create(location);
  const firsts = Array.from({ length: Math.ceil(count / PER_WORKFLOW) }, (_, i) => i * PER_WORKFLOW);
  const workflows = firsts.map((first) =>
    workflowOn(`w${first + 1}`, assets.slice(first, first + PER_WORKFLOW), 'echo done'),
  );
  writeApplyFile(file, { assets, workflows });
  return file;
};
