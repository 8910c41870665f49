import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Connection } from './client.ts';

export interface CommonOptions extends Connection {
  readonly json?: boolean;
}

/** The options of every command that talks to a server. */
export const connected = (command: Command): Command =>
  command
    .addOption(
      new Option('--server <url>', 'address of the server (default: SLUICE_SERVER, else the server of --data)'),
    )
    .addOption(new Option('--data <folder>', 'data folder of a server on this machine (default: ./.sluice)'))
    .addOption(
      new Option(
        '--project <name>',
        'name or code of the project (default: the only one, or the only one that has what is named)',
      ),
    )
    .option('--json', 'print JSON: a list one object a line, a single thing as one object');

/** For options that take a whole number from 1 up. */
export const positive = (text: string): number => {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('Give a whole number from 1 up.');
};

/** For options that take a number of levels: a whole number from 0 up. */
export const levels = (text: string): number => (text === '0' ? 0 : positive(text));

/** For options that may stand several times. */
export const gather = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  text,
];

/** `key=value` pairs as an object; a value may hold `=` itself. */
export const pairs = (command: Command, option: string, texts: readonly string[]): Record<string, string> => {
  const read: Record<string, string> = {};
  for (const text of texts) {
    const equals = text.indexOf('=');
    if (equals < 1) wrongUsage(command, `Write ${option} NAME=VALUE: "${text}" has no name or no "=".`);
    read[text.slice(0, equals)] = text.slice(equals + 1);
  }
  return read;
};

/** Ends the command as one that was written wrongly: exit code 2. */
export const wrongUsage = (command: Command, sentence: string): never =>
  command.error(`error: ${sentence}`, { exitCode: 2, code: 'sluice.usage' });
