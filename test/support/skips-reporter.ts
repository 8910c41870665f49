import type { Reporter, TestModule } from 'vitest/node';

/** Says of every skipped test, in one line, what would enable it (its title says so); under SLUICE_TEST_ALL=1 a skip fails the run. */
export default class SkipsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')].map((test) => test.fullName));
    for (const name of skipped) console.log(`skipped: ${name}`);
    if (skipped.length > 0 && process.env['SLUICE_TEST_ALL'] === '1') {
      console.error(`SLUICE_TEST_ALL=1 allows no skipped test, but ${skipped.length} were skipped.`);
      process.exitCode = 1;
    }
  }
}
