import type { Api } from './api.ts';
import { type Feed, pinsOf } from './feed.ts';
import { gmvOf } from './play.ts';
import { table, title } from './screen.ts';

const GMV = ['517.40', '883.40', '1328.00', '873.40', '1487.00'];

/** The table of runs, and what in it is not as it must be: five chains of three runs, each once, all successful. */
export const summary = async (api: Api, feed: Feed): Promise<readonly string[]> => {
  await feed.look();
  const runs = feed.runs();
  const rows: string[][] = [];
  const produced: string[] = [];
  for (const run of runs) {
    const gmv = run.workflow === 'ads' ? await gmvOf(api, run) : null;
    if (gmv !== null) produced.push(gmv);
    rows.push([`#${run.id}`, run.workflow, run.state, run.triggerGroup ?? 'by hand', pinsOf(run), gmv ?? '']);
  }
  title('What ran, and from which versions');
  table(['run', 'workflow', 'state', 'started by', 'pins', 'GMV'], rows, [5]);
  const problems: string[] = [];
  if (runs.length !== GMV.length * 3) problems.push(`${runs.length} runs, not ${GMV.length * 3}`);
  if (runs.some((run) => run.state !== 'SUCCESS')) problems.push('a run did not succeed');
  if (produced.join() !== GMV.join()) problems.push(`GMV ${produced.join(', ')}, not ${GMV.join(', ')}`);
  return problems;
};
