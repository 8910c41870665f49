import { administrationSuite } from './administration.ts';
import { assetSuite } from './assets.ts';
import { definitionSuite } from './definitions.ts';
import { dyingSuite } from './dying.ts';
import { groupSuite } from './groups.ts';
import { ownershipSuite } from './ownership.ts';
import { pinSuite } from './pins.ts';
import { projectSuite } from './projects.ts';
import { pushSuite } from './pushes.ts';
import { runSuite } from './runs.ts';
import { statementSuite } from './statements.ts';
import type { Backend } from './support.ts';
import { waitingSuite } from './waiting.ts';

/** All that a store promises, for each database. */
export const storeContract = (backend: Backend): void => {
  definitionSuite(backend);
  assetSuite(backend);
  pushSuite(backend);
  statementSuite(backend);
  groupSuite(backend);
  projectSuite(backend);
  runSuite(backend);
  pinSuite(backend);
  waitingSuite(backend);
  ownershipSuite(backend);
  administrationSuite(backend);
  if (backend.shared) dyingSuite(backend);
};
