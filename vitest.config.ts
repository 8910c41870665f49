import { defineConfig } from 'vitest/config';
import { postgresBin } from './test/support/postgres-server.ts';

// SLUICE_TEST_REPORT: where `.ci/run` wants the counts, beside what people read.
const report = process.env['SLUICE_TEST_REPORT'];

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'all', include: ['test/**/*.test.ts'] } },
      // Once more on PostgreSQL, whatever starts servers. Where it is not installed, test/e2e/database.test.ts says so.
      ...(postgresBin() === null
        ? []
        : [
            {
              extends: true as const,
              test: {
                name: 'postgres',
                include: ['test/{e2e,fault}/**/*.test.ts'],
                exclude: ['test/e2e/page.test.ts'], // over the demo, which has a database of its own
                setupFiles: ['test/support/on-postgres.ts'],
              },
            },
          ]),
    ],
    globalSetup: ['test/support/postgres-setup.ts'],
    pool: 'forks', // real processes are started and killed in tests: a worker thread would share its signals and cwd with others
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    teardownTimeout: 5_000,
    reporters: [
      'default',
      './test/support/skips-reporter.ts',
      ...(report === undefined ? [] : [['json', { outputFile: report }] as [string, Record<string, unknown>]]),
    ],
    coverage: { provider: 'v8', include: ['src/**'] },
  },
});
