import type { Migration } from '../table.ts';
import { WORKFLOWS } from './0001-workflows.ts';
import { ASSETS } from './0002-assets.ts';
import { WAITING } from './0003-waiting.ts';
import { PUSHES } from './0004-pushes.ts';
import { OUTPUTS } from './0005-outputs.ts';
import { CHANGES } from './0006-changes.ts';
import { INSERTS } from './0007-inserts.ts';
import { PAUSED_PROJECTS } from './0008-paused-projects.ts';

/** Every migration in order: a list, not a folder scan, so that it is the same in the repository and in dist. */
export const MIGRATIONS: readonly Migration[] = [
  WORKFLOWS,
  ASSETS,
  WAITING,
  PUSHES,
  OUTPUTS,
  CHANGES,
  INSERTS,
  PAUSED_PROJECTS,
];
