import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ESLint } from 'eslint';
import { expect, test } from 'vitest';
import { linkPackages, PROJECT, temporaryTree } from '../support/tree.ts';

const own = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `  n += ${i};`).join('\n');
const longFunction = `export function long(n: number): number {\n${lines(70)}\n  return n;\n}\n`;

/** One file a line: where it lies, what it holds, and the rule that must report it. */
const REPORTED: readonly (readonly [path: string, text: string, rule: string])[] = [
  ['src/core/reads-process.ts', 'export const pid = process.pid;', 'no-restricted-globals'],
  ['src/core/fetches.ts', "export const page = fetch('x');", 'no-restricted-globals'],
  ['src/core/sets-timer.ts', 'setTimeout(() => {}, 1);', 'no-restricted-globals'],
  ['src/core/prints.ts', "console.log('x');", 'no-restricted-globals'],
  ['src/core/clock-now.ts', 'export const at = Date.now();', 'no-restricted-properties'],
  ['src/core/chance.ts', 'export const n = Math.random();', 'no-restricted-properties'],
  ['src/core/clock-date.ts', 'export const at = new Date();', 'no-restricted-syntax'],
  ['src/core/clock-text.ts', 'export const at = Date();', 'no-restricted-syntax'],
  ['src/core/zone.ts', 'export const hours = (at: Date): number => at.getHours();', 'no-restricted-syntax'],
  [
    'src/core/language.ts',
    'export const order = (a: string, b: string): number => a.localeCompare(b);',
    'no-restricted-syntax',
  ],
  ['src/core/async.ts', 'export const later = async (): Promise<number> => 1;', 'no-restricted-syntax'],
  ['src/core/await.ts', 'export const value = await Promise.resolve(1);', 'no-restricted-syntax'],
  [
    'src/master/floats.ts',
    'export function start(): void {\n  Promise.resolve(1);\n}',
    '@typescript-eslint/no-floating-promises',
  ],
  [
    'src/master/misuses.ts',
    'export const open = (p: Promise<boolean>): number => (p ? 1 : 2);',
    '@typescript-eslint/no-misused-promises',
  ],
  [
    'src/master/switch.ts',
    "export function f(x: 'a' | 'b'): void {\n  switch (x) {\n    case 'a':\n      break;\n  }\n}",
    '@typescript-eslint/switch-exhaustiveness-check',
  ],
  ['src/master/any.ts', 'export const x = (y: any): unknown => y;', '@typescript-eslint/no-explicit-any'],
  [
    'src/master/any-in.ts',
    "export function f(): unknown {\n  const x = JSON.parse('1');\n  return x as unknown;\n}",
    '@typescript-eslint/no-unsafe-assignment',
  ],
  ['src/master/any-on.ts', "export const x = BigInt(JSON.parse('1'));", '@typescript-eslint/no-unsafe-argument'],
  ['src/master/any-out.ts', "export const f = (): number => JSON.parse('1');", '@typescript-eslint/no-unsafe-return'],
  [
    'src/master/type-import.ts',
    "import { Stats } from 'node:fs';\nexport type S = Stats;",
    '@typescript-eslint/consistent-type-imports',
  ],
  ['src/master/throws.ts', "export function f(): never {\n  throw 'x';\n}", '@typescript-eslint/only-throw-error'],
  ['src/master/equals.ts', 'export const f = (a: unknown): boolean => a == 1;', 'eqeqeq'],
  ['src/master/long.ts', longFunction, 'max-lines-per-function'],
  ['src/master/huge.ts', 'export {};\n'.repeat(401), 'max-lines'],
  ['test/sleeps.ts', 'export const f = () => new Promise((done) => setTimeout(done, 9));', 'no-restricted-syntax'],
  ['test/sleeps-too.ts', 'await new Promise((done) => {\n  setTimeout(done, 9);\n});', 'no-restricted-syntax'],
  [
    'test/timers.ts',
    "import { setTimeout as wait } from 'node:timers/promises';\nawait wait(1);",
    'no-restricted-syntax',
  ],
];

/** Files that no rule may report. */
const CLEAN: Readonly<Record<string, string>> = {
  'src/core/pure.ts': 'export const utcHours = (ms: number): number => new Date(ms).getUTCHours();\n',
  'src/master/waits.ts': 'export const f = async (): Promise<number> => await Promise.resolve(1);\n',
  'test/long.ts': longFunction,
  'test/deadline.ts':
    "export const f = () =>\n  new Promise((_, fail) => {\n    const timer = setTimeout(() => fail(new Error('late')), 9);\n    timer.unref();\n  });\n",
};

function tree(files: Readonly<Record<string, string>>): string {
  const root = temporaryTree({
    ...files,
    'package.json': '{"type":"module"}',
    'tsconfig.json': own('tsconfig.json'),
    'src/core/tsconfig.json': own('src/core/tsconfig.json'),
  });
  linkPackages(root);
  return root;
}

test('every lint rule reports what it forbids, and nothing that is allowed', { timeout: 60_000 }, async () => {
  const root = tree({ ...Object.fromEntries(REPORTED.map(([path, text]) => [path, `${text}\n`])), ...CLEAN });
  const eslint = new ESLint({ cwd: root, overrideConfigFile: join(PROJECT, 'eslint.config.js') });
  const found = new Map<string, readonly (string | null)[]>();
  for (const result of await eslint.lintFiles(['src', 'test']))
    found.set(
      result.filePath.slice(root.length + 1),
      result.messages.map((message) => message.ruleId),
    );
  for (const [path, , rule] of REPORTED) expect(found.get(path), path).toContain(rule);
  for (const path of Object.keys(CLEAN)) expect(found.get(path), path).toEqual([]);
});

test('every lint rule of the config is seen to fire', async () => {
  const eslint = new ESLint({ cwd: PROJECT });
  const configs = await Promise.all(
    ['src/core/x.ts', 'src/master/x.ts', 'test/x.ts'].map((path) => eslint.calculateConfigForFile(path)),
  );
  const rules = configs.flatMap((config: { rules: Record<string, [number]> }) =>
    Object.entries(config.rules).flatMap(([rule, [severity]]) => (severity > 0 ? [rule] : [])),
  );
  expect([...new Set(rules)].sort()).toEqual([...new Set(REPORTED.map(([, , rule]) => rule))].sort());
});

test("core's own tsconfig makes Node, timers and the network compile errors", { timeout: 60_000 }, () => {
  const impure: Readonly<Record<string, string>> = {
    'process.ts': 'export const pid = process.pid;',
    'fetch.ts': "export const page = fetch('x');",
    'timer.ts': 'setTimeout(() => {}, 1);',
    'console.ts': "console.log('x');",
    'node.ts': "export { readFileSync } from 'node:fs';",
    'buffer.ts': 'export const bytes = Buffer.alloc(1);',
  };
  const files = Object.entries(impure).map(([name, text]) => [`src/core/${name}`, text] as const);
  const root = tree({ ...Object.fromEntries(files), 'src/core/pure.ts': 'export const one = 1n;\n' });
  const tsc = join(PROJECT, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', 'src/core', '--noEmit'], { cwd: root, encoding: 'utf8' });
  const wrong = new Set([...stdout.matchAll(/^src\/core\/([a-z.]+)\(/gm)].map((match) => match[1]));
  expect([...wrong].sort()).toEqual(Object.keys(impure).sort());
});
