import type { Migration } from '../table.ts';
import { FIRST } from './0001-first.ts';

/** Every migration in order: a list, not a folder scan, so that it is the same in the repository and in dist. */
export const MIGRATIONS: readonly Migration[] = [FIRST];
