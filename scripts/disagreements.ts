/**
 * The known disagreements of one acceptance script: lines `NAME: …` of the exceptions file, where `…` is what follows the word DISAGREE in
 * the script's own line, exactly.
 */
export function exceptionsOf(name: string, file: string): ReadonlySet<string> {
  const mine = file.split('\n').filter((line) => line.startsWith(`${name}: `));
  return new Set(mine.map((line) => line.slice(name.length + 2).trim()));
}

/**
 * What is wrong with a script's output; empty when it came to its closing line `N agree, N disagree`, agreed somewhere, and disagrees exactly
 * where it is known to.
 */
export function judge(output: string, known: ReadonlySet<string>): readonly string[] {
  const closing = /^(\d+) agree, (\d+) disagree/.exec(output.trim().split('\n').at(-1) ?? '');
  if (closing === null) return ['it did not come to its closing line'];
  const seen = [...output.matchAll(/^DISAGREE (.+)$/gm)].map((match) => (match[1] ?? '').trim());
  const problems = seen.filter((line) => !known.has(line)).map((line) => `disagrees: ${line}`);
  for (const line of known)
    if (!seen.includes(line)) problems.push(`is listed as an exception but agrees now: ${line}`);
  if (closing[1] === '0') problems.push('it agreed nowhere');
  if (Number(closing[2]) !== seen.length)
    problems.push(`it counts ${closing[2]} disagreements and names ${seen.length}`);
  return problems;
}
