import type { TagChange } from '../../core/asset/poll.ts';
import { inTurns } from '../turns.ts';
import type { TagFile } from './reader.ts';

export interface TagView {
  readonly tags: ReadonlyMap<string, bigint>;
  readonly stamps: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

export const NO_TAGS: TagView = { tags: new Map(), stamps: new Map(), problems: [] };

/**
 * Reads the tags, but for those whose stamp says that they have not changed. A tag file that is not whole (tags are overwritten in
 * place) keeps what it named before and is a problem.
 */
export async function readTags(files: readonly TagFile[], before: Omit<TagView, 'problems'>): Promise<TagView> {
  const tags = new Map<string, bigint>();
  const stamps = new Map<string, string>();
  const problems: string[] = [];
  await inTurns(files.toSorted(byName), async (file) => {
    const known = before.tags.get(file.name);
    const unchanged = known !== undefined && file.stamp !== null && before.stamps.get(file.name) === file.stamp;
    const tag = unchanged ? { ok: true as const, value: known } : await file.read();
    if (!tag.ok) problems.push(`Tag ${file.name} cannot be read: ${tag.reason}; it is read again at the next poll.`);
    else if (file.stamp !== null) stamps.set(file.name, file.stamp);
    const id = tag.ok ? tag.value : known;
    if (id !== undefined) tags.set(file.name, id);
  });
  return { tags, stamps, problems: problems.sort() };
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);

/** Tags made, moved and deleted, by name. */
export function tagChanges(
  before: ReadonlyMap<string, bigint>,
  after: ReadonlyMap<string, bigint>,
): readonly TagChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names
    .map((tag) => ({
      tag,
      snapshotId: after.get(tag)?.toString() ?? null,
      before: before.get(tag)?.toString() ?? null,
    }))
    .filter((change) => change.snapshotId !== change.before);
}
