import type { AssetBody } from '../../api/contract/assets.ts';
import type { FoundTable } from '../../compose/discover.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Client } from '../client.ts';

/** What became of one table. */
export interface Registered {
  readonly table: FoundTable;
  /** UNCHANGED: it had been registered before. */
  readonly registered: 'CREATED' | 'UNCHANGED' | 'REFUSED';
  /** A sentence; null: it was simply registered. */
  readonly reason: string | null;
}

/**
 * Registers the tables one after the other. What is registered already stays exactly as it is, since its policies are somebody's. A table that is refused does
 * not stop the others. Throws SluiceError when the server cannot be asked at all.
 */
export async function* registerTables(
  client: Client,
  project: string | undefined,
  tables: readonly FoundTable[],
): AsyncGenerator<Registered> {
  const known = await knownAssets(client, project);
  const byKey = new Map(known.map((asset) => [asset.key, asset]));
  const byLocation = new Map(known.map((asset) => [asset.location, asset]));
  for (const table of tables) {
    const before = table.key === null ? undefined : (byKey.get(table.key) ?? byLocation.get(table.location));
    if (table.key === null) yield { table, registered: 'REFUSED', reason: 'It has no key.' };
    else if (before === undefined) yield await register(client, table);
    else yield { table, ...standing(table, before) };
  }
}

/** The assets of the project; none if it is a new one. */
const knownAssets = async (client: Client, project: string | undefined): Promise<readonly AssetBody[]> => {
  try {
    return (await client.get<{ items: AssetBody[] }>(await client.path('assets'))).items;
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== 'NOT_FOUND') throw error;
    if (project !== undefined) return [];
    throw new SluiceError('NOT_FOUND', `${error.message} A new name after --project makes a project.`);
  }
};

const standing = (table: FoundTable, { key, location }: AssetBody): Omit<Registered, 'table'> => {
  if (key !== table.key) return { registered: 'UNCHANGED', reason: `It is registered as ${key}.` };
  if (location === table.location) return { registered: 'UNCHANGED', reason: 'It was registered before.' };
  const where = location === null ? 'without a location' : `with the location ${location}`;
  return {
    registered: 'REFUSED',
    reason: `The key is registered ${where}: change that with sluice apply, or use another key.`,
  };
};

const register = async (client: Client, table: FoundTable): Promise<Registered> => {
  try {
    await client.post(await client.path('assets'), { key: table.key, location: table.location });
    return { table, registered: 'CREATED', reason: null };
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code === 'SERVER_UNREACHABLE') throw error;
    return { table, registered: 'REFUSED', reason: error.message };
  }
};
