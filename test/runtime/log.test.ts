import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SluiceError } from '../../src/core/errors.ts';
import { createLog, type LogFields, type LogLevel } from '../../src/runtime/log.ts';
import { PROJECT, temporaryTree } from '../support/tree.ts';

function logTo(level: LogLevel = 'info', secrets: readonly string[] = []) {
  const path = join(temporaryTree({}), 'logs', 'server.log');
  const log = createLog({ level, destination: path, now: () => 1_725_963_330_123n, secrets });
  const lines = (): Record<string, unknown>[] =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { log, lines, path };
}

test('a line is JSON with the keys of RFC 6.2 and no key without a value', () => {
  const { log, lines, path } = logTo();
  const fields: LogFields = {
    assetKey: 'paimon://a/b',
    snapshotId: '9007199254740993',
    schemaId: null,
    reason: '',
    workflowInstanceId: 7,
  };
  log.child('scanner', { traceId: 'abc' }).info('Version recorded', fields);
  expect(lines()).toEqual([
    {
      timestamp: '2024-09-10T10:15:30.123Z',
      level: 'INFO',
      logger: 'scanner',
      traceId: 'abc',
      assetKey: 'paimon://a/b',
      snapshotId: '9007199254740993',
      workflowInstanceId: 7,
      message: 'Version recorded',
    },
  ]);
  expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
});

test('lines below the level are not written', () => {
  const { log, lines } = logTo('warn');
  log.info('a');
  log.debug('b');
  log.warn('c');
  log.error('d');
  expect(lines().map(({ level, message }) => `${level} ${message}`)).toEqual(['WARN c', 'ERROR d']);
});

test('an error is told with its code, its message and where it came from', () => {
  const { log, lines } = logTo();
  log.error('No', { error: new SluiceError('NOT_FOUND', 'Nothing here.', { cause: new Error('deeper') }), rows: 3n });
  expect(lines()[0]).toMatchObject({
    error: { name: 'SluiceError', code: 'NOT_FOUND', message: 'Nothing here.', cause: { message: 'deeper' } },
    rows: '3',
  });
  expect(String((lines()[0]?.['error'] as Record<string, unknown>)['stack'])).toContain('log.test.ts');
});

test('secrets are hidden wherever they are: by name, in addresses, in headers, and those that are known', () => {
  const { log, lines } = logTo('info', ['s3cr3t-token']);
  log.info('Got s3cr3t-token', {
    triggerKey: 'workflow_1',
    partitionKey: 'dt=1',
    adminToken: 'hush1',
    options: { 'secret-key': 'hush2', list: ['jdbc://u:hush3@h/d', 'Authorization: Bearer hush4hush4'] },
    error: new Error('cannot reach postgres://u:hush5@h with s3cr3t-token'),
  });
  expect(JSON.stringify(lines())).not.toMatch(/hush|s3cr3t/);
  expect(lines()[0]).toMatchObject({ triggerKey: 'workflow_1', partitionKey: 'dt=1', message: 'Got ***' });
});

test('a circle in the fields harms nobody', () => {
  const { log, lines } = logTo();
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  log.info('round', { circle });
  expect(lines()).toHaveLength(1);
});

test('a full disk under the log is told once on stderr and the process goes on', () => {
  const program = `
    const { createLog } = await import(${JSON.stringify(join(PROJECT, 'src/runtime/log.ts'))});
    const log = createLog({ level: 'info', destination: '/dev/full', now: () => 0n });
    for (const n of [1, 2, 3]) log.info('line ' + n);
    setImmediate(() => process.stdout.write('went on\\n'));`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  expect([stdout, status]).toEqual(['went on\n', 0]);
  expect(
    stderr.match(/The log file \/dev\/full cannot be written \(ENOSPC[^)]*\); free space or set log.destination/g),
  ).toHaveLength(1);
});
