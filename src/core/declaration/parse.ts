import { parseAssetKey } from '../asset/key.ts';
import type { Asset } from '../asset/state.ts';
import type { ProjectDeclaration, WorkflowDeclaration } from './declaration.ts';
import {
  at,
  complain,
  type FileProblem,
  type Place,
  readChoice,
  readCount,
  readFields,
  readList,
  readNames,
  readRequired,
  readText,
  refuseUnkept,
  type Shape,
  take,
} from './read.ts';
import { parseWorkflow, type WorkflowDefaults } from './workflow.ts';

const API_VERSION = 'sluice/v1';

export type DeclarationResult =
  | { readonly ok: true; readonly value: ProjectDeclaration }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

const FILE: Shape = { known: ['apiVersion', 'project', 'assets', 'workflows'] };

const ASSET: Shape = {
  known: [
    'key',
    'location',
    'description',
    'pushMode',
    'onGap',
    'onRollback',
    'onRecreate',
    'schemaPolicy',
    'requiredChecks',
    'pollIntervalSeconds',
  ],
  notYet: { catalog: "give the table's folder as location" },
};

/**
 * What a file declares (contract.md 4), as plain JSON, with defaults filled in: or everything that is wrong with it, in the file's
 * order. `location`s must be absolute: whoever read the file resolves them against its folder.
 */
export const parseDeclaration = (raw: unknown, defaults: WorkflowDefaults): DeclarationResult => {
  const place: Place = { path: [], problems: [] };
  refuseUnkept(place, raw);
  // What else is wrong would be said of the same texts once more.
  const value = place.problems.length > 0 ? null : readFile(place, raw, defaults);
  return value === null || place.problems.length > 0 ? { ok: false, problems: place.problems } : { ok: true, value };
};

const readFile = (place: Place, raw: unknown, defaults: WorkflowDefaults): ProjectDeclaration | null => {
  const fields = readFields(place, raw, FILE);
  if (fields === null) return null;
  const version = readRequired(place, fields, 'apiVersion');
  if (version !== null && version !== API_VERSION)
    complain(
      at(place, 'apiVersion'),
      `Write "apiVersion: ${API_VERSION}": this version of Sluice knows no "${version}".`,
    );
  const project = readProject(place, fields);
  const assets = readList(at(place, 'assets'), fields['assets']).flatMap(
    (asset, i) => parseAsset(at(place, 'assets', i), asset) ?? [],
  );
  refuseDoubles(
    at(place, 'assets'),
    assets.map((asset) => asset.key),
  );
  const workflows = readWorkflows(at(place, 'workflows'), fields['workflows'], defaults);
  return project === null ? null : { project, assets, workflows };
};

const readProject = (place: Place, fields: Readonly<Record<string, unknown>>): string | null => {
  const project = readRequired(place, fields, 'project');
  if (project === null) return null;
  if (project.length <= 255 && !/^\d+$/.test(project)) return project;
  complain(
    at(place, 'project'),
    'Give the project a name of at most 255 characters that is not a number (a number means its code).',
  );
  return null;
};

const readWorkflows = (place: Place, raw: unknown, defaults: WorkflowDefaults): readonly WorkflowDeclaration[] => {
  const workflows = readList(place, raw).flatMap(
    (workflow, i) => parseWorkflow(at(place, i), workflow, defaults) ?? [],
  );
  refuseDoubles(
    place,
    workflows.map((workflow) => workflow.name),
  );
  return workflows;
};

const refuseDoubles = (place: Place, names: readonly string[]): void => {
  for (const [i, name] of names.entries())
    if (names.indexOf(name) < i) complain(place, `"${name}" is declared twice: leave one out or rename it.`);
};

/** One entry of `assets`, also the body that registers an asset over HTTP; null, with the reason noted at the place, if it has no usable key. */
export const parseAsset = (place: Place, raw: unknown): Asset | null => {
  const fields = readFields(place, raw, ASSET);
  const text = fields && readRequired(place, fields, 'key');
  if (fields === null || text === null) return null;
  const key = take(at(place, 'key'), parseAssetKey(text));
  if (key === null) return null;
  const location = readLocation(place, fields);
  const seconds = readCount(place, fields, 'pollIntervalSeconds', { fallback: null, least: 1, most: 86_400 });
  const pushMode = readChoice(place, fields, 'pushMode', ['VERIFY', 'TRUST'], location === null ? 'TRUST' : 'VERIFY');
  if (pushMode === 'VERIFY' && location === null && fields['location'] === undefined)
    complain(
      at(place, 'pushMode'),
      'Add a location: without one the table cannot be read, so what is pushed can only be trusted.',
    );
  if (location === null && fields['location'] === undefined) refuseUnread(place, fields, seconds);
  return {
    key,
    location,
    description: readText(place, fields, 'description', ''),
    pushMode,
    onGap: readChoice(place, fields, 'onGap', ['CONTINUE', 'HOLD']),
    onRollback: readChoice(place, fields, 'onRollback', ['IGNORE', 'TRIGGER', 'HOLD']),
    onRecreate: readChoice(place, fields, 'onRecreate', ['CONTINUE', 'HOLD']),
    schemaPolicy: readChoice(place, fields, 'schemaPolicy', ['AUTO', 'ALWAYS_APPROVE', 'MANUAL']),
    requiredChecks: readNames(place, fields, 'requiredChecks'),
    pollIntervalMs: seconds === null ? null : seconds * 1000,
  };
};

/** What would never do anything for a table that nobody reads. */
const refuseUnread = (place: Place, fields: Readonly<Record<string, unknown>>, seconds: number | null): void => {
  if (seconds !== null)
    complain(
      at(place, 'pollIntervalSeconds'),
      'Add a location, or leave this out: without one the table is not looked at.',
    );
  if (fields['onGap'] === 'HOLD')
    complain(
      at(place, 'onGap'),
      'Add a location, or leave this out: only where Sluice reads the table does it notice that history is missing.',
    );
};

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]+):\/\//;
const ABSOLUTE = /^(\/|[A-Za-z]:[\\/])/;

/** An absolute folder; `file://` is taken off, a trailing slash too, so that one table has one spelling. */
const readLocation = (place: Place, fields: Readonly<Record<string, unknown>>): string | null => {
  if (fields['location'] === undefined || fields['location'] === null) return null;
  const text = readRequired(place, fields, 'location')?.replace(/^file:\/\/(?=\/)/, '');
  if (text === undefined) return null;
  const scheme = SCHEME.exec(text)?.[1];
  if (scheme !== undefined)
    complain(
      at(place, 'location'),
      `This version of Sluice reads tables on local disks only, not ${scheme}:// : use a mounted folder.`,
    );
  else if (!ABSOLUTE.test(text))
    complain(at(place, 'location'), `Give the folder's absolute path: "${text}" is relative.`);
  return text.length > 1 ? text.replace(/[\\/]+$/, '') : text;
};
