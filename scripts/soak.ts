// npm run soak [-- SHARE]: the tests that take more than two minutes, or a part of them (0.1: every tenth case; default: all).
import { progress, run } from './run.ts';

const share = process.argv[2] ?? process.env['SLUICE_SOAK'] ?? '1';
if (!(Number(share) > 0 && Number(share) <= 1)) {
  console.error(`Give a share above 0 and up to 1, such as 0.1; "${share}" is none.`);
  process.exit(2);
}
process.env['SLUICE_SOAK'] = share;
const { code, output, ms } = await run(['vitest', 'run', 'test/fault/crash-', '-t', 'a retry, a stop and a resume']);
console.log(output.trimEnd());
console.log(progress('soak', code === 0, ms));
process.exit(code);
