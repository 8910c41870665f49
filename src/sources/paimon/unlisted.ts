import type { Memory } from './cursor.ts';
import type { Numbered } from './layout.ts';
import type { TableReader } from './reader.ts';

/**
 * Snapshot ids (ascending) with those that a listing may have missed: the cursor's, without which the table would seem to be rewound, the
 * newest with data, and what follows the last one. Costs one request, and one for each that is found.
 */
export async function withUnlistedSnapshots(
  reader: TableReader,
  listed: Numbered | null,
  memory: Memory | null,
): Promise<readonly bigint[]> {
  const stands = async (id: bigint): Promise<boolean> =>
    listed?.folders.has(`snapshot-${id}`) !== true && (await reader.exists(reader.layout.snapshot(id)));
  const ids = [...(await withThese(listed?.ids ?? [], [memory?.head?.id, memory?.dataHead ?? undefined], stands))];
  for (let next = (ids.at(-1) ?? 0n) + 1n; ids.length > 0 && (await stands(next)); next++) ids.push(next);
  return ids;
}

/** Schema ids likewise: the first tells which table it is, the last which schema is the newest. */
export const withUnlistedSchemas = (
  reader: TableReader,
  listed: Numbered | null,
  memory: Memory | null,
): Promise<readonly bigint[]> =>
  withThese(listed?.ids ?? [], [memory?.firstSchema?.id, memory?.lastSchema?.id], (id) =>
    reader.exists(reader.layout.schema(id)),
  );

async function withThese(
  listed: readonly bigint[],
  wanted: readonly (bigint | undefined)[],
  stands: (id: bigint) => Promise<boolean>,
): Promise<readonly bigint[]> {
  const found = [...listed];
  for (const id of wanted) if (id !== undefined && !found.includes(id) && (await stands(id))) found.push(id);
  return found.length === listed.length ? listed : found.sort((a, b) => (a < b ? -1 : 1));
}
