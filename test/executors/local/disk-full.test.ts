import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { attemptFiles } from '../../../src/executors/local/attempt.ts';
import { Bench } from '../../contract/executor/harness.ts';
import { describeNeeding } from '../../support/shared.ts';
import { localPlace } from './place.ts';

test('a script whose output cannot be stored ends as its exit code says', async () => {
  const place = localPlace();
  const bench = new Bench(place);
  const launch = bench.launch('echo lost || exit 28; exit 0');
  const files = attemptFiles(place.folder, launch.runId, launch.id);
  mkdirSync(files.folder, { recursive: true });
  symlinkSync('/dev/full', files.log);
  await bench.executor.start(launch);
  expect(await bench.ended()).toMatchObject({ exitCode: 28, signal: null });
});

/** A file system of 64 kB; null where this process may mount none. */
function smallDisk(): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-disk-'));
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return null;
  }
}

const disk = smallDisk();

describeNeeding(
  'a full disk',
  { found: disk, enable: 'the right to mount a tmpfs: run the tests as root' },
  (folder) => {
    test('a script that fills it ends with its own code, the next is refused with what to do, and all goes on once there is room', async () => {
      onTestFinished(() => {
        execFileSync('/bin/umount', ['-l', folder]);
        rmSync(folder, { recursive: true });
      });
      const place = localPlace({ folder: join(folder, 'attempts') });
      const bench = new Bench(place);
      const filling = await bench.run('echo filling; cat /dev/zero > junk; exit 5');
      expect(filling.ended).toMatchObject({ exitCode: 5, signal: null });
      const refused = bench.launch('echo run');
      const message = expect.stringContaining(`the disk of ${place.folder} is full; free space there`);
      await expect(bench.executor.start(refused)).rejects.toMatchObject({ code: 'TASK_NOT_STARTED', message });
      await bench.reopen();
      expect(await bench.executor.find(filling.launch.id, 7)).toMatchObject({ kind: 'ENDED', ended: { exitCode: 5 } });
      expect(await bench.executor.find(refused.id, 7)).toEqual({ kind: 'NEVER_STARTED' });
      rmSync(join(attemptFiles(place.folder, 7, filling.launch.id).work, 'junk'));
      await bench.executor.start(refused);
      expect(await bench.ended(2)).toMatchObject({ exitCode: 0 });
    });
  },
);
