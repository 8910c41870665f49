/**
 * `npm run demo`: the RFC's GMV chain on two recorded business days, against a real server. See README.md.
 *
 *   npm run demo -- [--fast] [--serve] [--data DIR] [--port N]
 */
import { parseArgs } from 'node:util';
import { join, resolve } from 'node:path';
import { Api } from './api.ts';
import { Feed } from './feed.ts';
import { play } from './play.ts';
import { bold, green, red, title } from './screen.ts';
import { pageAddress, prepareFolder, sluice, startServer } from './server.ts';
import { summary } from './summary.ts';

const USAGE = 'npm run demo -- [--fast] [--serve] [--data DIR] [--port N]';

const readOptions = () =>
  parseArgs({
    options: {
      fast: { type: 'boolean', default: false },
      serve: { type: 'boolean', default: false },
      data: { type: 'string', default: '.sluice' },
      port: { type: 'string', default: '8484' },
      help: { type: 'boolean', default: false },
    },
  }).values;

const optionsOrUsage = (): ReturnType<typeof readOptions> => {
  try {
    const given = readOptions();
    if (!given.help) return given;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    console.error(`${(error as Error).message}\nWrite: ${USAGE}`);
    process.exit(2);
  }
};

const options = optionsOrUsage();

const main = async (): Promise<number> => {
  const data = resolve(options.data);
  const folder = prepareFolder(data);
  title('Sluice: the GMV chain of two business days, from recorded Paimon commits');
  const server = await startServer({ data, folder, port: options.port });
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      if (!options.serve) console.log(`\nInterrupted.`);
      void server.stop().then(() => process.exit(options.serve ? 0 : 130));
    });
  try {
    console.log(`page     ${pageAddress(server.url, data)}\nserver   ${server.url}   data ${data}\n`);
    await sluice(['apply', '-f', join(folder, 'gmv.yaml'), '--data', data]);
    const feed = new Feed(new Api(data));
    const problems = await play({
      api: new Api(data),
      feed,
      data,
      warehouse: join(folder, 'warehouse'),
      fast: options.fast,
    });
    problems.push(...(await summary(new Api(data), feed)));
    for (const problem of problems) console.log(red(`not as it must be: ${problem}`));
    console.log(
      problems.length === 0
        ? green('\nAll is as it must be.')
        : red(`\n${problems.length} things are not as they must be.`),
    );
    if (options.serve) await serve(server, data);
    return problems.length === 0 ? 0 : 1;
  } finally {
    await server.stop();
  }
};

const serve = async (server: { readonly url: string; readonly ended: Promise<void> }, data: string): Promise<void> => {
  const where = options.data === '.sluice' ? '' : ` --data ${data}`;
  console.log(`\nThe server goes on at ${server.url}. In another terminal:`);
  for (const command of [
    'why dwd',
    'runs list',
    'asset list',
    'asset versions paimon://ods_db/ods_order_latest',
    'runs show 1',
  ])
    console.log(`  ${bold(`npx sluice ${command}${where}`)}`);
  console.log('(`npm run build` first, once.) Ctrl-C ends it.');
  await server.ended;
};

/** An interrupted demo takes its server with it; what it says is a sentence, not a stack. */
const failed = (error: unknown): number => {
  console.error(red(error instanceof Error ? error.message : String(error)));
  return 1;
};

process.exitCode = await main().catch(failed);
