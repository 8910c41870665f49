import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { Cursor } from '../../core/asset/poll.ts';
import type { TableSchema } from '../../core/asset/schema/schema.ts';
import { SluiceError } from '../../core/errors.ts';

/** What `sluice inspect --cursor` remembers between two calls. */
export interface SavedCursor {
  readonly format: string;
  readonly cursor: Cursor | null;
  /** The table's schema then, so that a change can be told. */
  readonly schema: TableSchema | null;
}

const VERSION = 1;

/** null: there is no such file yet. Throws SluiceError for a file that is no cursor. */
export async function readCursorFile(file: string): Promise<SavedCursor | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new SluiceError('BAD_REQUEST', `The cursor file ${file} cannot be read (${code}).`, { cause: error });
  }
  const saved = parse(text);
  if (saved === null)
    throw new SluiceError(
      'BAD_REQUEST',
      `${file} is not a cursor file of this version of Sluice: name another, or remove it to begin anew.`,
    );
  return saved;
}

function parse(text: string): SavedCursor | null {
  try {
    const { v, format, cursor, schema } = JSON.parse(text) as Record<string, unknown>;
    const isObject = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value);
    if (v !== VERSION || typeof format !== 'string' || !isObject(cursor) || !isObject(schema)) return null;
    return { format, cursor: cursor as Cursor | null, schema: schema as TableSchema | null };
  } catch {
    return null;
  }
}

/** Writes the file whole or not at all. */
export async function writeCursorFile(file: string, { format, cursor, schema }: SavedCursor): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, `${JSON.stringify({ v: VERSION, format, cursor, schema })}\n`, { flush: true });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw new SluiceError(
      'BAD_REQUEST',
      `The cursor file ${file} cannot be written (${code}), so the next call begins where this one did.`,
      { cause: error },
    );
  }
}
