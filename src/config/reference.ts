import { allSettings, environmentName } from './load.ts';
import type { Setting } from './setting.ts';

const escape = (cell: string): string => cell.replaceAll('|', '\\|');

function defaultOf({ fallback }: Setting<unknown>): string {
  if (fallback === null) return '';
  if (Array.isArray(fallback)) return 'none';
  return `\`${String(fallback)}\``;
}

const row = ([path, setting]: readonly [string, Setting<unknown>]): string =>
  `| \`${path}\` | \`${environmentName(path)}\` | ${defaultOf(setting)} | ${escape(setting.takes)} | ${escape(setting.doc)} |`;

/** docs/reference/config.md: every key with its default. */
export const configPage = (): string =>
  [
    '# Configuration',
    '',
    '<!-- Written by `npm run generate` from src/config/schema.ts: edit that file. -->',
    '',
    '`sluice server` reads one YAML file (`--config FILE`, else `./sluice.yaml` if it is there), then environment variables, then its flags; the',
    'last one wins. A key that does not exist is an error that names the nearest one. Keys are written as below or in camelCase (`dataDir`); a',
    'dot stands for a level of the file. `sluice server --print-config` shows what is in force.',
    '',
    '```yaml',
    'data-dir: /var/lib/sluice',
    'server:',
    '  port: 8484',
    'worker:',
    '  concurrency: 8',
    '```',
    '',
    'The section `asset-event-scheduling` may also stand under `dolphinscheduler`, so that the file of a DolphinScheduler master can be used as it',
    'is. A key of `paimon-polling` and its siblings that has no default is taken from `polling`.',
    '',
    '| key | environment variable | default | takes | what it is |',
    '|---|---|---|---|---|',
    ...allSettings().map(row),
    '',
  ].join('\n');
