import { expect } from 'vitest';
import { type Moment, playRound } from './scenario.ts';

/** Every kind of transaction that the way from a commit to a finished run consists of, by the table that tells it. */
const ON_THE_WAY = [
  'schema', // the migration
  't_ds_master', // a server claims the data
  't_ds_asset', // what was applied
  't_ds_asset_dependency_group',
  't_ds_asset_version', // a poll is recorded
  't_ds_asset_quality', // the verdict
  't_ds_asset_evaluation_queue', // a decision
  't_ds_asset_trigger_history', // the trigger
  't_ds_command', // the launch
  't_ds_task_instance', // dispatch, start and end of each task
  't_ds_workflow_instance', // the end of the run
];

/** Lets a victim die at its first commit, its second, and so on until the story ends without a death. Returns how many there were. */
export async function enumerateDeaths(moment: Moment): Promise<number> {
  const failures: string[] = [];
  const tables = new Set<string>();
  let number = 1;
  for (; ; number += 1) {
    try {
      const round = await playRound(number, moment);
      for (const table of round.tables) tables.add(table);
      if (!round.died) break;
    } catch (error) {
      failures.push(String(error));
      if (failures.length >= 5) break;
    }
  }
  expect(failures).toEqual([]);
  expect(ON_THE_WAY.filter((table) => !tables.has(table))).toEqual([]);
  return number - 1;
}
