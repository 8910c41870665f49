import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { PROJECT } from './run.ts';

/** Lines of each function in a file, its first and last included; a function inside another counts for both. */
export function functionLengths(text: string): readonly number[] {
  const file = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest);
  const lengths: number[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const line = (position: number): number => file.getLineAndCharacterOfPosition(position).line;
      lengths.push(line(node.getEnd()) - line(node.getStart(file)) + 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return lengths;
}

const ascending = (numbers: readonly number[]): readonly number[] => [...numbers].sort((a, b) => a - b);
const at = (sorted: readonly number[], share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
const summary = (numbers: readonly number[]): string => {
  const sorted = ascending(numbers);
  return `${sorted.length}, lines: median ${at(sorted, 0.5)}, p90 ${at(sorted, 0.9)}, max ${at(sorted, 1)}`;
};

/** What STYLE.md reports and does not gate: how long files and functions of src are. */
export function sizeReport(): string {
  const files = globSync('src/**/*.ts', { cwd: PROJECT }).map((file) => readFileSync(join(PROJECT, file), 'utf8'));
  const lines = files.map((text) => text.trimEnd().split('\n').length);
  return `src: files ${summary(lines)}; functions ${summary(files.flatMap(functionLengths))}`;
}
