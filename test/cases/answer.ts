/**
 * Answers cases that Apache DolphinScheduler's own classes answered, by calling the product: one `{"family", "input"}` a line in, one
 * `{"output"}` or `{"error"}` a line out, in order. What the fields mean: README.md beside the cases.
 */
import { createInterface } from 'node:readline';
import { answerCase } from './families.ts';

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() !== '') process.stdout.write(`${JSON.stringify(answerCase(JSON.parse(line)))}\n`);
}
