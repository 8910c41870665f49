import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { SluiceError } from '../../core/errors.ts';
import { connect, locate } from '../client.ts';
import { type CommonOptions, connected } from '../options.ts';
import { print, printJson } from '../output.ts';

interface OpenOptions extends CommonOptions {
  readonly browser: boolean;
}

export const register = (program: Command): void => {
  connected(program.command('open'))
    .description(
      "Print the address of the server's page with the token in it, and, on a terminal with a desktop, open it in the browser",
    )
    .option('--no-browser', 'only print the address')
    .action(open);
};

const open = async (options: OpenOptions): Promise<void> => {
  const { url, token, folder } = locate(options);
  if (token === null)
    throw new SluiceError('UNAUTHENTICATED', `Set SLUICE_TOKEN: there is no token for ${url} on this machine.`);
  // Says by itself what is wrong when nobody answers or the token is not the server's.
  await connect(options).get('/api/v1/projects');
  const address = `${url}/#token=${encodeURIComponent(token)}`;
  if (options.json === true) return printJson({ url: address });
  print(address);
  if (options.browser && folder !== null && process.stdout.isTTY && hasDesktop()) browse(folder, address);
};

const hasDesktop = (): boolean =>
  process.platform !== 'linux' || process.env['DISPLAY'] !== undefined || process.env['WAYLAND_DISPLAY'] !== undefined;

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/**
 * By way of a file that only this user may read, as the token itself is kept: the arguments of a process are for everybody on the machine to see.
 * Where no browser can be started, the printed address is what is left.
 */
const browse = (folder: string, address: string): void => {
  const file = join(folder, 'open.html');
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0; url=${address}">\n`, { mode: 0o600 });
  const [program = 'xdg-open', ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, pathToFileURL(file).href], { detached: true, stdio: 'ignore' });
  child.once('error', () => undefined);
  child.unref();
};
