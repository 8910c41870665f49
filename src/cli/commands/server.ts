import { type Command, Option } from 'commander';
import type { ServerSettings } from '../../compose/server.ts';
import { databaseOf, printConfig, readConfig } from '../../config/load.ts';
import { type Config, pollingOf } from '../../config/schema.ts';
import { SluiceError } from '../../core/errors.ts';
import { keepHeapSmall } from '../../runtime/heap.ts';
import { print } from '../output.ts';
import { VERSION } from '../version.ts';

interface ServerOptions {
  readonly config?: string;
  readonly data?: string;
  readonly port?: string;
  readonly role: string;
  readonly printConfig?: boolean;
}

export const register = (program: Command): void => {
  program
    .command('server')
    .description('Run the server until it is interrupted; tasks that run then go on, and the next server finds them')
    .option('--config <file>', 'configuration (default: ./sluice.yaml if there is one)')
    .option('--data <folder>', 'data folder (default: ./.sluice)')
    .option('--port <n>', 'port on 127.0.0.1, 0 for a free one (default: 8484)')
    .addOption(
      new Option('--role <role>', 'what this process does').choices(['all', 'api', 'master', 'worker']).default('all'),
    )
    .option('--print-config', 'print the effective configuration, passwords hidden, and end')
    .action(serve);
};

const serve = async (options: ServerOptions): Promise<void> => {
  if (options.role !== 'all')
    throw new SluiceError(
      'BAD_CONFIG',
      `Leave out --role ${options.role}: this version runs all roles in one process.`,
    );
  const flags = { 'data-dir': options.data, 'server.port': options.port };
  const { config, notes } = readConfig(options.config, process.env, flags);
  if (options.printConfig === true) return void process.stdout.write(printConfig(config));
  for (const note of notes) process.stderr.write(`sluice: ${note}\n`);
  process.env['UV_THREADPOOL_SIZE'] ??= FILE_THREADS;
  keepHeapSmall();
  const { startServer } = await import('../../compose/server.ts');
  // Asked for before the start, so that an interruption while it starts is not lost.
  const interrupted = untilInterrupted();
  const server = await startServer(settingsOf(config));
  print(`ready ${server.url}`);
  const lost = await Promise.race([interrupted, server.lost]);
  await server.stop();
  endAnyway();
  if (lost instanceof SluiceError) throw lost;
};

/** A second signal ends the process at once: whoever sends it does not want to wait. */
const untilInterrupted = (): Promise<void> =>
  new Promise((resolve) => {
    const first = (): void => {
      process.off('SIGINT', first).off('SIGTERM', first);
      resolve();
    };
    process.on('SIGINT', first).on('SIGTERM', first);
  });

/**
 * A read of a table that hangs keeps the process alive for as long as it does, and `process.exit` waits for it too; nobody needs its answer any
 * more. By now nobody listens for the signal, so it ends the process.
 */
const endAnyway = (): void => {
  setTimeout(() => process.kill(process.pid, 'SIGTERM'), EXIT_MS).unref();
};

/** libuv reads this when the first file is. A read on a hanging mount holds its thread for ever: of the usual four soon none would be left. */
const FILE_THREADS = '64';

const EXIT_MS = 1_000;
const SCAN_LIMIT_MS = 60_000;
const SCAN_WIDTH = 16;

const settingsOf = (config: Config): ServerSettings => ({
  dataDir: config.dataDir,
  databaseUrl: databaseOf(config).url,
  databasePoolSize: config.database.poolSize,
  databaseWaitMs: config.database.waitSeconds * 1000,
  host: config.server.host,
  port: config.server.port,
  allowedHosts: [config.server.host, ...config.server.allowedHosts],
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  log: config.log,
  assetScheduling: config.assetEventScheduling.enabled,
  takesPushes: config.assetEventScheduling.enabled && config.assetEventScheduling.eventSource.pushReceiver.enabled,
  pollIntervalMs: (format) => {
    const { enabled, intervalSeconds } = pollingOf(config, format);
    return enabled ? intervalSeconds * 1000 : null;
  },
  pollLimitMs: SCAN_LIMIT_MS,
  scanWidth: SCAN_WIDTH,
  taskSlots: config.worker.concurrency,
  killGraceMs: config.worker.killGraceSeconds * 1000,
  logLimitBytes: config.worker.logLimitBytes,
  logPolicy: config.worker.logPolicy,
  passEnvironment: config.worker.passEnvironment,
  version: VERSION,
});
