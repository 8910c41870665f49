import { mkdirSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Logger, pino } from 'pino';
import { maskText, maskValue } from '../core/mask.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/**
 * What a line can say beside its message: the keys of RFC 6.2, and more where needed. Ids of table formats are strings, times ISO 8601.
 * A key whose value is null, undefined or '' is left out.
 */
export interface LogFields {
  readonly traceId?: string | null;
  readonly assetKey?: string | null;
  readonly partitionKey?: string | null;
  readonly snapshotId?: string | null;
  readonly schemaId?: string | null;
  readonly watermark?: string | null;
  readonly eventType?: string | null;
  readonly eventId?: string | null;
  readonly workflowDefinitionCode?: number | null;
  readonly taskDefinitionCode?: number | null;
  readonly workflowInstanceId?: number | null;
  readonly taskInstanceId?: number | null;
  readonly triggerKey?: string | null;
  readonly status?: string | null;
  readonly reason?: string | null;
  /** Becomes `{name, code, message, stack}`. */
  readonly error?: unknown;
  readonly [other: string]: unknown;
}

/** A log whose lines carry one `logger` name and perhaps fields of their own. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log under another `logger` name, with fields that go with every line. */
  child(logger: string, fields?: LogFields): Log;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** `stderr`, or the path of a file that lines are appended to (made with mode 0600, its folder too). */
  readonly destination: string;
  /** The wall clock in epoch milliseconds. */
  readonly now: () => bigint;
  /** Texts that never appear in a line, whatever field they come in: tokens, passwords. */
  readonly secrets?: readonly string[];
}

const STDERR = 2;

/** JSON lines, written at once so that `kill -9` loses none. A line that cannot be written is lost; the server goes on. */
export function createLog(options: LogOptions): Log {
  const secrets = options.secrets ?? [];
  const root = pino(
    {
      level: options.level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"timestamp":"${new Date(Number(options.now())).toISOString()}"`,
      formatters: { level: (label) => ({ level: label.toUpperCase() }) },
    },
    openDestination(options.destination),
  );
  return wrap(root, 'sluice', {}, secrets);
}

function openDestination(destination: string): ReturnType<typeof pino.destination> {
  if (destination !== 'stderr') mkdirSync(dirname(destination), { recursive: true });
  const stream = pino.destination({ dest: destination === 'stderr' ? STDERR : destination, sync: true, mode: 0o600 });
  let told = false;
  // Without a listener a full disk under the log would end the whole server.
  stream.on('error', (error: Error) => {
    if (told || destination === 'stderr') return;
    told = true;
    tellStderr(
      `The log file ${destination} cannot be written (${error.message}); free space or set log.destination.\n`,
    );
  });
  return stream;
}

function tellStderr(text: string): void {
  try {
    writeSync(STDERR, text);
  } catch {
    // There is nobody left to tell.
  }
}

function wrap(pinoLog: Logger, logger: string, bound: LogFields, secrets: readonly string[]): Log {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}): void => {
      if (!pinoLog.isLevelEnabled(level)) return;
      pinoLog[level]({ logger, ...present({ ...bound, ...fields }, secrets) }, maskText(message, secrets));
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (name, fields = {}) => wrap(pinoLog, name, { ...bound, ...fields }, secrets),
  };
}

/** Only the fields that say something, without secrets. */
function present(fields: LogFields, secrets: readonly string[]): Record<string, unknown> {
  const said = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return maskValue(Object.fromEntries(said), secrets) as Record<string, unknown>;
}
