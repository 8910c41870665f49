import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT, temporaryTree } from '../support/tree.ts';

const RULE_FILE = join(PROJECT, '.dependency-cruiser.cjs');

/** One import a rule that the rule must report: [rule, file, what it imports]. */
const FORBIDDEN: readonly (readonly [rule: string, from: string, to: string])[] = [
  ['no-circle', 'src/core/circle-a.ts', './circle-b.ts'],
  ['core-is-pure', 'src/core/reads-disk.ts', 'node:fs'],
  ['core-is-pure', 'src/core/uses-package.ts', 'yaml'],
  ['runtime-knows-core-only', 'src/runtime/sees-config.ts', '../config/leaf.ts'],
  ['config-knows-core-only', 'src/config/sees-runtime.ts', '../runtime/leaf.ts'],
  ['face-knows-core-only', 'src/executors/executor.ts', './leaf.ts'],
  ['face-knows-core-only', 'src/tasks/task.ts', 'node:fs'],
  ['face-knows-core-only', 'src/store/face/runs.ts', 'kysely'],
  ['adapters-do-not-meet', 'src/executors/local.ts', '../tasks/leaf.ts'],
  ['siblings-do-not-meet', 'src/sources/paimon/sees-iceberg.ts', '../iceberg/leaf.ts'],
  ['adapters-look-down', 'src/store/sees-config.ts', '../config/leaf.ts'],
  ['adapters-look-down', 'src/store/sees-master.ts', '../master/leaf.ts'],
  ['loops-see-faces', 'src/master/sees-back.ts', '../tasks/leaf.ts'],
  ['loops-do-not-meet', 'src/master/sees-worker.ts', '../worker/leaf.ts'],
  ['loops-do-not-meet', 'src/worker/sees-config.ts', '../config/leaf.ts'],
  ['contract-is-pure', 'src/api/contract/sees-server.ts', '../leaf.ts'],
  ['compose-knows-no-command', 'src/compose/server.ts', '../cli/leaf.ts'],
  ['cli-asks-compose', 'src/cli/sees-back.ts', '../tasks/leaf.ts'],
  ['only-cli-composes', 'scripts/composes.ts', '../src/compose/server.ts'],
  ['web-sees-the-contract', 'web/sees-core.ts', '../src/core/leaf.ts'],
  ['sql-drivers-at-home', 'src/runtime/opens-database.ts', 'node:sqlite'],
  ['sql-drivers-at-home', 'src/master/writes-sql.ts', 'kysely'],
  ['cluster-client-at-home', 'src/worker/asks-cluster.ts', '@kubernetes/client-node'],
  ['http-server-at-home', 'src/master/serves.ts', 'fastify'],
  ['http-server-at-home', 'src/runtime/documents.ts', '@fastify/swagger'],
  ['product-never-sees-test', 'src/runtime/sees-test.ts', '../../test/leaf.ts'],
  ['no-dev-dependency', 'src/runtime/uses-dev-tool.ts', 'vitest'],
  ['resolvable', 'src/runtime/imports-nothing.ts', './gone.ts'],
];

/** Imports that stand in the way of no rule: [file, what it imports]. */
const ALLOWED: readonly (readonly [from: string, to: string])[] = [
  ['src/core/fires.ts', 'croner'],
  ['src/runtime/log.ts', '../core/leaf.ts'],
  ['src/store/store.ts', '../core/leaf.ts'],
  ['src/store/sqlite.ts', 'node:sqlite'],
  ['src/store/queries.ts', 'kysely'],
  ['src/sources/paimon/reads.ts', '../../files/files.ts'],
  ['src/files/files.ts', '../core/leaf.ts'],
  ['src/master/scanner.ts', '../store/store.ts'],
  ['src/api/server.ts', 'fastify'],
  ['src/cli/main.ts', '../compose/server.ts'],
  ['src/compose/sources.ts', '../sources/iceberg/leaf.ts'],
  ['src/cli/inspect.ts', '../compose/sources.ts'],
  ['demo/main.ts', '../src/compose/server.ts'],
  ['test/store.test.ts', '../src/store/sqlite.ts'],
  ['web/main.ts', '../src/api/contract/leaf.ts'],
];

const LEAVES = [
  ...['src/core', 'src/runtime', 'src/config', 'src/tasks', 'src/executors', 'src/sources/iceberg', 'src/master'],
  ...['src/worker', 'src/api', 'src/api/contract', 'src/cli', 'test'],
].map((folder) => `${folder}/leaf.ts`);

const PACKAGES = ['croner', 'yaml', 'kysely', '@kubernetes/client-node', 'fastify', '@fastify/swagger'];
const ORPHAN = 'src/runtime/nobody-imports-it.ts';

/** A tree of files that hold nothing but one import each. */
function skeleton(): string {
  const files: Record<string, string> = { [ORPHAN]: 'export const alone = 1;\n', 'tsconfig.json': '{}\n' };
  files['src/core/circle-b.ts'] = "export type { used } from './circle-a.ts';\n"; // a circle that only types close
  for (const leaf of LEAVES) files[leaf] = 'export interface Leaf { readonly leaf: 1 }\n';
  for (const [from, to] of [...FORBIDDEN.map(([, from, to]) => [from, to] as const), ...ALLOWED])
    files[from] = `import '${to}';\nexport const used = 1;\n`;
  for (const name of [...PACKAGES, 'vitest']) {
    files[`node_modules/${name}/package.json`] = JSON.stringify({ name, version: '1.0.0', main: 'index.js' });
    files[`node_modules/${name}/index.js`] = '';
  }
  const dependencies = Object.fromEntries(PACKAGES.map((name) => [name, '1.0.0']));
  files['package.json'] = JSON.stringify({ type: 'module', dependencies, devDependencies: { vitest: '1.0.0' } });
  return temporaryTree(files);
}

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
}

function violations(root: string): readonly Violation[] {
  const command = join(PROJECT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const args = ['--config', RULE_FILE, '--output-type', 'json', 'src', 'test', 'scripts', 'demo', 'web'];
  const { stdout, stderr } = spawnSync(process.execPath, [command, ...args], { cwd: root, encoding: 'utf8' });
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as { summary: { violations: readonly Violation[] } }).summary.violations;
}

test('every import rule reports the import that it forbids, and nothing that is allowed', () => {
  const found = violations(skeleton());
  const reported = (rule: string, from: string): boolean =>
    found.some((violation) => violation.rule.name === rule && violation.from === from);
  const silent = FORBIDDEN.filter(([rule, from]) => !reported(rule, from)).map(([rule, from]) => `${rule}: ${from}`);
  expect(silent).toEqual([]);
  expect(reported('no-orphan', ORPHAN)).toBe(true);
  const allowed = new Set(ALLOWED.map(([from]) => from));
  expect(found.filter((violation) => allowed.has(violation.from))).toEqual([]);
});

test('every rule of the rule file stands in the table above', () => {
  const { forbidden } = createRequire(import.meta.url)(RULE_FILE) as { forbidden: readonly { name: string }[] };
  const tested = new Set([...FORBIDDEN.map(([rule]) => rule), 'no-orphan']);
  expect([...tested].sort()).toEqual(forbidden.map((rule) => rule.name).sort());
});
