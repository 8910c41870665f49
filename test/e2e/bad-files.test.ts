import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { laySteps, makePlace, sluice, startServer } from '../support/server.ts';
import { clientOf } from '../support/server-client.ts';
import { json, refused, said } from './said.ts';
import { assetsOf, ORDERS, onOrders, shell, writeDeclaration } from './workflow-file.ts';

/** Apply files that cannot be applied: what is wrong, where, and what to do; nothing of them is written. */

const head = 'apiVersion: sluice/v1\nproject: e2e\n';
const task = (name: string, more = '') => `      - {name: ${name}, params: {rawScript: echo}${more}}\n`;
const workflow = (name: string, tasks: string, triggers = '') => `  - name: ${name}\n${triggers}    tasks:\n${tasks}`;

const BAD: Readonly<Record<string, readonly [text: string, sentence: RegExp]>> = {
  'a cycle': [
    `${head}workflows:\n${workflow('w', task('a', ', dependsOn: [c]') + task('b', ', dependsOn: [a]') + task('c', ', dependsOn: [b]'))}`,
    /^sluice: bad\.yaml:5:5: .*(a -> b -> c -> a|b -> c -> a -> b|c -> a -> b -> c|a → b → c → a|b → c → a → b|c → a → b → c)/,
  ],
  'an unknown key': [
    `${head}workflows:\n${workflow('w', task('a', ', dependOn: [b]'))}`,
    /^sluice: bad\.yaml:6:\d+: .*did you mean "dependsOn"/,
  ],
  'an unknown key at the top': [`${head}workflow: []\n`, /^sluice: bad\.yaml:3:1: .*did you mean "workflows"/],
  'two tasks of one name': [
    `${head}workflows:\n${workflow('w', task('a') + task('a'))}`,
    /^sluice: bad\.yaml:7:\d+: .*"a" stands here already: rename one/,
  ],
  'two workflows of one name': [
    `${head}workflows:\n${workflow('w', task('a'))}${workflow('w', task('a'))}`,
    /^sluice: bad\.yaml:\d+:\d+: .*w.*(twice|already)/,
  ],
  'a group that can never wait': [
    `${head}workflows:\n${workflow('w', task('a'), `    triggers:\n      - group: g\n        all: [{assetKey: "${ORDERS}", snapshotRequired: false}]\n`)}`,
    /^sluice: bad\.yaml:6:\d+: .*Group "g": it would fire for ever: let at least one condition have "snapshotRequired: true"/,
  ],
  'an edge to nowhere': [
    `${head}workflows:\n${workflow('w', task('load') + task('b', ', dependsOn: [laod]'))}`,
    /^sluice: bad\.yaml:7:\d+: .*did you mean "load"/,
  ],
  'a bad asset key': [`${head}assets:\n  - {key: "paimon:ods/orders"}\n`, /^sluice: bad\.yaml:4:\d+: .*paimon/],
  'an id that YAML would round': [
    `${head}workflows:\n${workflow('w', task('a'), `    triggers:\n      - group: g\n        all: [{assetKey: "${ORDERS}", minSnapshotId: 9223372036854775808}]\n`)}`,
    /^sluice: bad\.yaml:7:\d+: Put 9223372036854775808 in quotes/,
  ],
  'a NUL in a script': [
    `${head}workflows:\n${workflow('w', '      - {name: a, params: {rawScript: "echo \\0"}}\n')}`,
    /^sluice: bad\.yaml:6:\d+: workflows\[0\]\.tasks\[0\]\.params\.rawScript: Leave NUL and halves of surrogate pairs out of this text/,
  ],
  'half a surrogate pair in a name': [
    `${head}workflows:\n${workflow('"w\\ud800"', task('a'))}`,
    /^sluice: bad\.yaml:4:\d+: workflows\[0\]\.name: Leave NUL and halves of surrogate pairs out of this text/,
  ],
  'no YAML': ['a: [\n', /^sluice: bad\.yaml:\d+:\d+: /],
  'an empty file': ['', /^sluice: Declare something in bad\.yaml: it is empty/],
};

test('each is refused at its place with what to do, and what was applied before stands', {
  timeout: 60_000,
}, async () => {
  const place = makePlace();
  laySteps(place, 1, 2);
  const client = clientOf(place, await startServer(place), 'e2e');
  const good = {
    assets: assetsOf(place),
    workflows: [{ name: 'good', triggers: onOrders, tasks: [{ name: 'a', ...shell('echo') }] }],
  };
  await said(sluice(place, ['apply', '-f', writeDeclaration(place, good)]));
  for (const [what, [text, sentence]] of Object.entries(BAD)) {
    writeFileSync(join(place.folder, 'bad.yaml'), text);
    const said = await refused(sluice(place, ['apply', '-f', 'bad.yaml']));
    expect(said, what).toMatch(sentence);
  }
  expect(await json(sluice(place, ['apply', '-f', 'work.yaml', '--json']))).toMatchObject({
    lines: Array.from({ length: 4 }, () => ({ action: 'UNCHANGED' })),
  });
  const { items } = await client.get<{ items: readonly { name: string }[] }>('/workflow-definitions');
  expect(items.map(({ name }) => name)).toEqual(['good']);
  laySteps(place, 3);
  await client.untilRuns(1, 'SUCCESS');
});

test('several mistakes in two files are all said, each in its file', { timeout: 150_000 }, async () => {
  const place = makePlace();
  await startServer(place);
  writeFileSync(join(place.folder, 'one.yaml'), `${head}workflows:\n${workflow('w', task('a', ', nmae: b'))}`);
  writeFileSync(join(place.folder, 'two.yaml'), `${head}workflows:\n${workflow('v', task('a') + task('a'))}`);
  const sentences = await refused(sluice(place, ['apply', '-f', 'one.yaml', '-f', 'two.yaml']));
  expect(sentences).toMatch(/one\.yaml:6:\d+: /);
  expect(sentences).toMatch(/two\.yaml:7:\d+: /);
});
