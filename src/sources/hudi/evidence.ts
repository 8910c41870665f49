import { MovedOn } from '../trouble.ts';
import { readArchive, type Archive } from './archive.ts';
import { decide, NOTHING_FOUND, type ArchiveView, type Question, type Remembered, type Verdict } from './decide.ts';
import type { Instant, Timeline } from './instants.ts';
import { readTakenBack } from './metadata.ts';
import type { TableConfig } from './properties.ts';
import { pathIn, type TableReader } from './reader.ts';

/** What happened, and what was read to find it out. */
export interface Settled {
  readonly verdict: Exclude<Verdict, { readonly kind: 'MISLISTED' }>;
  readonly archive: Archive | null;
}

/** Asks `decide` and looks at what it asks for, until it can tell. Throws MovedOn if the listing was wrong. */
export async function settle(
  reader: TableReader,
  config: TableConfig,
  timeline: Timeline,
  before: Remembered | null,
): Promise<Settled> {
  let found = NOTHING_FOUND;
  let archive: Archive | null = null;
  for (;;) {
    const answer = decide(before, timeline, found);
    switch (answer.kind) {
      case 'TAKEBACKS':
        found = { ...found, takenBack: await takenBack(reader, answer.instants) };
        break;
      case 'ARCHIVE':
        archive = await readArchive(reader, config, answer.oldest);
        found = { ...found, archive: viewOf(archive) };
        break;
      case 'UNLISTED':
        found = { ...found, unlisted: await unlisted(reader, config, answer) };
        break;
      case 'MISLISTED':
        throw new MovedOn(answer.instant.file);
      case 'FORWARD':
      case 'REWOUND':
      case 'EXPIRED':
      case 'RECREATED':
      case 'VANISHED':
        return { verdict: answer, archive };
    }
  }
}

const viewOf = ({ versions, takebacks, incomplete }: Archive): ArchiveView => ({
  versions: [...versions.values()].map(({ instant }) => instant),
  takebacks,
  complete: incomplete === null,
});

/** What cannot be read tells nothing: then the place of what vanished decides. */
async function takenBack(reader: TableReader, instants: readonly Instant[]): Promise<ReadonlySet<string>> {
  const times = new Set<string>();
  for (const { folder, file } of instants) {
    const bytes = await reader.read(pathIn(folder, file));
    if (bytes === null) throw new MovedOn(file);
    for (const time of await readTakenBack(bytes).catch(() => [])) times.add(time);
  }
  return times;
}

/** Which of the files stand there, in either layout's folder. */
async function unlisted(
  reader: TableReader,
  config: TableConfig,
  { instants }: Extract<Question, { kind: 'UNLISTED' }>,
): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (const instant of instants)
    if (await reader.exists(pathIn(config.timeline ?? '', instant.file))) keys.add(instant.key);
  return keys;
}
