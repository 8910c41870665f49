import type { Command } from 'commander';
import type { GroupAnswerBody, LeafBody, WhyBody } from '../../api/contract/dependencies.ts';
import { connect } from '../client.ts';
import { type CommonOptions, connected } from '../options.ts';
import { ago, type Cell, duration, paint, print, printJson, table } from '../output.ts';

export const register = (program: Command): void => {
  const why = program.command('why').description('Say why a workflow has not run, and why it last did');
  connected(why.argument('<workflow>', 'name or code')).action(explain);
};

const explain = async (workflow: string, options: CommonOptions): Promise<void> => {
  const client = connect(options);
  const answer = await client.get<WhyBody>(await client.path('workflow-definitions', workflow, 'why'));
  if (options.json === true) return printJson(answer);
  print(paint('bold', answer.workflow));
  if (answer.groups.length === 0) print('  No table starts it: it has no triggers. Start it with "sluice run".');
  for (const group of answer.groups) printGroup(group);
};

const printGroup = ({ group, ready, results, lastFire }: GroupAnswerBody): void => {
  const open = results.filter(({ met }) => !met).length;
  const verdict = ready ? paint('green', 'ready') : paint('yellow', `waits for ${open} of ${results.length}`);
  print(`  group ${group}: ${verdict}`);
  for (const line of leafLines(results, 'now', Date.now())) print(line);
  if (lastFire === null) return print('    It has never started a run.');
  print(`    It last started run ${lastFire.runId}, ${ago(lastFire.at)}, because then:`);
  for (const line of leafLines(lastFire.results, 'then', Date.parse(lastFire.at))) print(line);
};

/** One line a condition: does it hold, what it needs, how it stands, since how long. `at`: the instant that `when` names. */
const leafLines = (leaves: readonly LeafBody[], when: 'now' | 'then', at: number): string[] => {
  const rows = leaves.map((leaf): Cell[] => [
    leaf.met ? { text: '✓', style: 'green' } : { text: '✗', style: 'red' },
    leaf.alias ?? leaf.assetKey ?? 'group',
    `needs ${leaf.needed}`,
    `${when}: ${leaf.actual}`,
    { text: `for ${duration(at - Date.parse(leaf.since))}`, style: 'dim' },
    { text: leaf.code ?? '', style: 'dim' },
  ]);
  return table(rows, '    ');
};
