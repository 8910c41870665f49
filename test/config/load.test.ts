import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  allSettings,
  databaseOf,
  environmentName,
  loadConfig,
  printConfig,
  readConfig,
} from '../../src/config/load.ts';
import { pollingOf } from '../../src/config/schema.ts';
import { temporaryTree } from '../support/tree.ts';

const from = (text: string, env: Record<string, string> = {}, flags: Record<string, string | undefined> = {}) =>
  loadConfig({ file: { name: 'sluice.yaml', text }, env, flags });
const DEFAULTS = loadConfig({ file: null, env: {}, flags: {} }).config;

/** RFC 4.5.6 as it stands there; its text form lost the indentation, which is put back. */
const RFC_FILE = `# 资产事件驱动调度开关
dolphinscheduler:
  asset-event-scheduling:
    enabled: true # 全局开关
    # DependencyResolver 配置
    dependency-resolver:
      cache-expire-seconds: 60 # 资产状态本地缓存过期时间
      resolve-timeout-seconds: 5 # 单次依赖评估的超时时间
    # AssetEventCompensationScanner 配置
    compensation-scanner:
      enabled: true
      interval-seconds: 300 # 补偿扫描周期（5分钟）
      batch-size: 100 # 每次扫描的批量大小
    # 事件源配置
    event-source:
      paimon-polling:
        enabled: true
        interval-seconds: 30 # Paimon $snapshots 轮询周期
        batch-size: 500
      push-receiver:
        enabled: true # 是否启用 HTTP/Webhook 接收事件
`;

test("the RFC's file is accepted as it stands, under dolphinscheduler or alone, and says what the defaults say", () => {
  const alone = RFC_FILE.replace('dolphinscheduler:\n', '').replace(/^ {2}/gm, '');
  for (const text of [RFC_FILE, alone]) {
    const { config, notes } = from(text);
    expect(config.assetEventScheduling).toMatchObject({
      enabled: true,
      dependencyResolver: { resolveTimeoutSeconds: 5 },
      compensationScanner: { enabled: true, intervalSeconds: 300, batchSize: 100 },
      eventSource: { pushReceiver: { enabled: true } },
    });
    expect(pollingOf(config, 'paimon')).toEqual({ enabled: true, intervalSeconds: 30, batchSize: 500 });
    expect(
      notes.map((note) => / has no effect: /.test(note) && note.split(' ')[0]?.split('.').slice(1).join('.')),
    ).toEqual([
      'dependency-resolver.cache-expire-seconds',
      'dependency-resolver.resolve-timeout-seconds',
      'compensation-scanner.enabled',
      'compensation-scanner.interval-seconds',
      'compensation-scanner.batch-size',
      'event-source.paimon-polling.batch-size',
    ]);
  }
  expect(pollingOf(DEFAULTS, 'paimon')).toEqual({ enabled: true, intervalSeconds: 30, batchSize: 500 });
  expect(DEFAULTS.assetEventScheduling.compensationScanner).toEqual({
    enabled: true,
    intervalSeconds: 300,
    batchSize: 100,
  });
  expect(DEFAULTS.assetEventScheduling.dependencyResolver.resolveTimeoutSeconds).toBe(5);
});

test('without anything: one process on loopback with its data beside it', () => {
  expect(DEFAULTS).toMatchObject({
    dataDir: './.sluice',
    server: { host: '127.0.0.1', port: 8484 },
    executor: 'local',
  });
  expect(databaseOf(DEFAULTS)).toEqual({ url: '.sluice/sluice.db', isFile: true, shown: '.sluice/sluice.db' });
  expect(from('').config).toEqual(DEFAULTS);
});

test('flags win over the environment, the environment over the file, the file over the defaults', () => {
  const text = 'server: {port: 1}\nworker:\n  concurrency: 2\nlog: {level: warn}';
  const env = { SLUICE_SERVER_PORT: '11', SLUICE_WORKER_CONCURRENCY: '12', SLUICE_WORKER_PASS_ENVIRONMENT: 'A, B_*' };
  const { config } = from(text, env, { 'server.port': '21', 'data-dir': undefined });
  expect([config.server.port, config.worker.concurrency, config.log.level]).toEqual([21, 12, 'warn']);
  expect(config.worker.passEnvironment).toEqual(['A', 'B_*']);
  expect(config.dataDir).toBe('./.sluice');
});

test('every key can be set by the environment under the name that the reference gives', () => {
  const values: Record<string, string> = { 'a text': 'x', 'true or false': 'false', 'a list of texts': 'x' };
  for (const [path, setting] of allSettings()) {
    const range = /from (\d+(?:\.\d+)?)/.exec(setting.takes)?.[1];
    const only = /^(?:one of )?(\w+),/.exec(setting.takes)?.[1];
    const value =
      path === 'database.url' ? 'sqlite:x' : (values[setting.takes.split(' (')[0] ?? ''] ?? range ?? only ?? '');
    const { config } = loadConfig({ file: null, env: { [environmentName(path)]: value }, flags: {} });
    expect(printConfig(config), path).toContain(value);
  }
});

test('keys may be in camelCase; sections may be empty; the result is frozen', () => {
  const { config } = from('dataDir: /d\nworker:\n  logLimitBytes: 5000\nserver:\n');
  expect([config.dataDir, config.worker.logLimitBytes, config.server.port]).toEqual(['/d', 5000, 8484]);
  expect(Object.isFrozen(config) && Object.isFrozen(config.assetEventScheduling.eventSource.polling)).toBe(true);
});

test("one format's polling overrides what all have", () => {
  const { config } = from(`asset-event-scheduling:
  event-source:
    polling: {interval-seconds: 10}
    iceberg-polling: {batch-size: 7}
    hudi-polling: {enabled: false}`);
  expect(pollingOf(config, 'iceberg')).toEqual({ enabled: true, intervalSeconds: 10, batchSize: 7 });
  expect(pollingOf(config, 'hudi').enabled).toBe(false);
  expect(pollingOf(config, 'custom')).toEqual({ enabled: true, intervalSeconds: 10, batchSize: 500 });
});

test.each([
  ['server: {prot: 1}', /sluice.yaml has the unknown key server.prot; did you mean server.port\?/],
  ['sever: {port: 1}', /unknown key sever; did you mean server\?/],
  ['port: 1', /unknown key port; did you mean server.port\?/],
  ['worker: {zzzzzzzzzz: 1}', /unknown key worker.zzzzzzzzzz; known here: concurrency, /],
  ['dolphinscheduler: {server: {port: 1}}', /unknown key server; known here: asset-event-scheduling/],
  ['server: {port: 70000}', /server.port takes a whole number from 0 to 65535, not 70000/],
  ['server: {port: 1.5}', /server.port takes a whole number.*not 1.5/],
  ['server: 8484', /server is a section, not a value; give its keys, such as host, below it/],
  ['server: {host: {a: 1}}', /server.host takes a text/],
  ['executor: kubernetes', /executor takes local, the only one of this version, not "kubernetes"/],
  ['log: {level: loud}', /log.level takes one of debug, info, warn, error, silent/],
  ['database: {url: "mysql://a:secret@b/c"}', /begins with "mysql:", but this version knows sqlite:PATH and postgres:/],
  ['database: {url: "postgres://a:se#cret@b:x/c"}', /database.url is no address: write postgres:/],
  ['data-dir: a\ndataDir: b', /sluice.yaml gives data-dir twice/],
  ['server: {port: 1}\nserver: {port: 2}', /sluice.yaml is not valid YAML: .*unique/],
  ['server: [', /sluice.yaml is not valid YAML/],
  ['- a', /must hold keys and values/],
  ['asset-event-scheduling: {enabled: constructor}', /enabled takes true or false, not "constructor"/],
])('%j is refused with what to do', (text, message) => {
  expect(() => from(text)).toThrow(
    expect.objectContaining({ code: 'BAD_CONFIG', message: expect.stringMatching(message) }),
  );
  expect(() => from(text)).not.toThrow(/secret/);
});

test('an environment variable that begins like a section must be a key; others are not ours', () => {
  expect(() => from('', { SLUICE_SERVER_PROT: '1' })).toThrow(
    /SLUICE_SERVER_PROT is no key.*did you mean SLUICE_SERVER_PORT\?/,
  );
  expect(() => from('', { SLUICE_SERVER_PORT: 'x' })).toThrow(/SLUICE_SERVER_PORT: server.port takes a whole number/);
  const others = {
    SLUICE_TOKEN: 't',
    SLUICE_SERVER: 'http://x',
    SLUICE_TEST_ALL: '1',
    SLUICE_SERVER_SERVICE_HOST: '10.0.0.1',
  };
  expect(from('', others).config).toEqual(DEFAULTS);
});

test('the printed configuration reads back as the same', () => {
  const { config } = from(RFC_FILE, {
    SLUICE_DATABASE_URL: 'sqlite:///var/lib/x.db',
    SLUICE_WORKER_PASS_ENVIRONMENT: 'A',
  });
  expect(from(printConfig(config)).config).toEqual(config);
  expect(databaseOf(config).url).toBe('/var/lib/x.db');
});

test('the printed configuration shows no password', () => {
  const { config } = from('log: {destination: "tcp://user:hunter2@host/x"}');
  expect(printConfig(config)).toContain('tcp://user:***@host/x');
});

test('a file that is named must be there', () => {
  const root = temporaryTree({ 'a.yaml': 'server: {port: 9}' });
  expect(readConfig(join(root, 'a.yaml'), {}, {}).config.server.port).toBe(9);
  expect(() => readConfig(join(root, 'b.yaml'), {}, {})).toThrow(/b.yaml cannot be read.*--config/);
  writeFileSync(join(root, 'a.yaml'), 'x: 1');
  expect(() => readConfig(join(root, 'a.yaml'), {}, {})).toThrow(/a.yaml has the unknown key x/);
});

test('a format is polled where it, polling and asset-driven scheduling are switched on', () => {
  const section = 'asset-event-scheduling:';
  const of = (rest: string) => pollingOf(from(`${section}\n${rest}`).config, 'hudi').enabled;
  expect(of('  enabled: true')).toBe(true);
  expect(of('  enabled: false')).toBe(false);
  expect(of('  event-source:\n    polling:\n      enabled: false')).toBe(false);
  expect(of('  event-source:\n    hudi-polling:\n      enabled: false')).toBe(false);
  expect(of('  event-source:\n    paimon-polling:\n      enabled: false')).toBe(true);
});
