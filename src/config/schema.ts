import { boolean, choice, integer, list, optional, type Section, seconds, text, type ValuesOf } from './setting.ts';

const SECONDS = [1, 86_400] as const;
/** A table is looked at ten times a second at most. */
const POLL_SECONDS = [0.1, 86_400] as const;
const BATCH = [1, 1_000_000] as const;

const DOC = {
  enabled: 'Whether tables of this format are polled.',
  interval: 'Seconds between two polls of one table.',
  batch: 'Taken, but without effect: one poll takes all versions that there are.',
  compensation:
    'Taken, but without effect: every table is compared whole with what is recorded, at least once a minute.',
} as const;

/** Overrides for one format; what is left out is as in `polling`. */
const formatPolling = () => ({
  enabled: optional(boolean(true, DOC.enabled)),
  'interval-seconds': optional(seconds(30, POLL_SECONDS, DOC.interval)),
  'batch-size': optional(integer(500, BATCH, DOC.batch)),
});

/** Every key that a configuration may hold. The reference page is written from it. */
export const SCHEMA = {
  'data-dir': text(
    './.sluice',
    'The folder of the embedded database, of task logs and of server.json and admin.token.',
  ),
  server: {
    host: text('127.0.0.1', 'The address that the HTTP API listens on.'),
    port: integer(8484, [0, 65_535], 'The port that the HTTP API listens on; 0 picks a free one.'),
    'allowed-hosts': list('Host names, beside localhost and IP addresses, by which people may call the server.'),
  },
  database: {
    url: optional(
      text(
        '',
        'Where the database is: `sqlite:PATH`, or `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. Default: `sluice.db` in the data folder.',
      ),
    ),
    'pool-size': integer(
      8,
      [2, 200],
      "How many connections a database server gives to requests; the server's own work has two more. SQLite has no use for it.",
    ),
    'wait-seconds': integer(
      60,
      [0, 3_600],
      'How long a server that starts waits for a database that cannot be reached, before it gives up.',
    ),
  },
  executor: choice('local', ['local'], 'Where tasks run: `local` runs them as processes of the host.'),
  worker: {
    concurrency: integer(20, [1, 10_000], 'How many tasks run at once.'),
    'log-limit-bytes': integer(100_000_000, [1_000, 1_000_000_000_000], "Bytes of a task's log that are kept."),
    'log-policy': choice(
      'truncate',
      ['truncate', 'kill'],
      'What happens to a task whose log is longer: `truncate` keeps the beginning and lets it go on, `kill` ends it.',
    ),
    'kill-grace-seconds': integer(
      10,
      [0, 3_600],
      'How long a task that is stopped may take to end by itself before SIGKILL.',
    ),
    'pass-environment': list(
      "Variables of the server's own environment that tasks get beside PATH, HOME, LANG and the like: names, or prefixes with a final `*`. `SLUICE_…` is never passed.",
    ),
  },
  log: {
    level: choice('info', ['debug', 'info', 'warn', 'error', 'silent'], 'The least severe lines that are written.'),
    destination: text('stderr', 'Where lines go: `stderr`, or the path of a file that they are appended to.'),
  },
  'asset-event-scheduling': {
    enabled: boolean(
      true,
      'Whether tables are polled, events taken and groups decided; without it, only people and other programs start runs.',
    ),
    'dependency-resolver': {
      'resolve-timeout-seconds': integer(
        5,
        SECONDS,
        'Taken, but without effect: an evaluation reads what is recorded, and waits for nothing else.',
      ),
      'cache-expire-seconds': optional(
        integer(
          60,
          [0, 86_400],
          'Taken, but without effect: what is remembered is compared with the database each time.',
        ),
      ),
    },
    'compensation-scanner': {
      enabled: boolean(true, DOC.compensation),
      'interval-seconds': integer(300, SECONDS, DOC.compensation),
      'batch-size': integer(100, BATCH, DOC.compensation),
    },
    'event-source': {
      polling: {
        enabled: boolean(
          true,
          'Whether tables are polled. Without it, a table is read only when somebody asks for it.',
        ),
        'interval-seconds': seconds(30, POLL_SECONDS, DOC.interval),
        'batch-size': integer(500, BATCH, DOC.batch),
      },
      'paimon-polling': formatPolling(),
      'iceberg-polling': formatPolling(),
      'hudi-polling': formatPolling(),
      'delta-polling': formatPolling(),
      'push-receiver': { enabled: boolean(true, 'Whether events are taken over HTTP.') },
    },
  },
} as const satisfies Section;

/** The whole configuration: frozen, every key present. */
export type Config = ValuesOf<typeof SCHEMA>;

/** How tables of one format are polled. */
export interface Polling {
  readonly enabled: boolean;
  readonly intervalSeconds: number;
  readonly batchSize: number;
}

/** `polling` with what the format's own section overrides. A format without a section of its own is polled like all. */
export function pollingOf(config: Config, format: string): Polling {
  const { polling, ...rest } = config.assetEventScheduling.eventSource;
  const own = {
    paimon: rest.paimonPolling,
    iceberg: rest.icebergPolling,
    hudi: rest.hudiPolling,
    delta: rest.deltaPolling,
  };
  const over = format in own ? own[format as keyof typeof own] : null;
  return {
    enabled: config.assetEventScheduling.enabled && polling.enabled && (over?.enabled ?? true),
    intervalSeconds: over?.intervalSeconds ?? polling.intervalSeconds,
    batchSize: over?.batchSize ?? polling.batchSize,
  };
}
