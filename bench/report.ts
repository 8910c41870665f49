import type { Host } from './host.ts';
import type { Figures, Measure } from './measure.ts';

/** A line of `--json`. */
export type Reported = Measure & { readonly host: Host; readonly commit: string | null };

const figures = (of: Figures): string =>
  Object.entries(of)
    .filter(([name]) => name !== 'what')
    .map(([name, value]) => `${name} ${value}`)
    .join('   ');

const verdict = (ok: boolean | null): string => (ok === null ? '' : ok ? 'met' : 'MISSED');

const block = ({ name, goal, unit, result, limit, ok, notes = [] }: Measure): string =>
  [
    `${name}, ${unit}`,
    `  result   ${figures(result)}`,
    `  limit    ${figures(limit)}   (${limit.what})`,
    ...(goal === null ? [] : [`  goal     ${goal}: ${verdict(ok)}`]),
    ...notes.map((note) => `  ${note}`),
  ].join('\n');

/** For people: the measures of one benchmark, and the machine that they were seen on. */
export const table = (reported: readonly Reported[]): string => {
  const [first] = reported;
  if (first === undefined) return '';
  const { host, commit } = first;
  const machine = `${host.cpus}, ${host.memory}, ${host.kernel}, ${host.filesystem}, Node ${host.node}, ${host.database ?? `SQLite ${host.sqlite}`}, load ${host.load}`;
  return `\n${reported.map(block).join('\n\n')}\n\n  on ${machine}; commit ${commit ?? 'unknown'}\n`;
};
