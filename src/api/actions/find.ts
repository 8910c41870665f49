import { type AssetKey, parseAssetKey } from '../../core/asset/key.ts';
import { SluiceError } from '../../core/errors.ts';
import { valueOrThrow } from '../../core/result.ts';
import type { AssetDetails, RunDetails, Store } from '../../store/store.ts';

const isCode = (text: string): boolean => /^\d+$/.test(text);

/** The name of the project with this code or name. Throws NOT_FOUND. */
export const projectName = async (store: Store, codeOrName: string): Promise<string> => {
  const projects = await store.definitions.projects();
  const found = projects.find(({ code, name }) => name === codeOrName || String(code) === codeOrName);
  if (found !== undefined) return found.name;
  const names = projects.map(({ name }) => name).join(', ');
  throw new SluiceError(
    'NOT_FOUND',
    names === ''
      ? 'Apply a file first: there is no project yet.'
      : `Name one of the projects ${names}: there is no "${codeOrName}".`,
  );
};

/** The same for a request that may make a new project: any name will do then, but a code must be one that was given. */
export const projectNameFor = async (store: Store, codeOrName: string): Promise<string> =>
  isCode(codeOrName) ? projectName(store, codeOrName) : codeOrName;

/** The canonical key of a path segment. Throws BAD_ASSET_KEY. */
export const keyOf = (text: string): AssetKey => valueOrThrow(parseAssetKey(text));

/** The key of an asset that is named by key or by code: no key is a number. Throws BAD_ASSET_KEY, UNKNOWN_ASSET. */
export const namedKey = async (store: Store, keyOrCode: string): Promise<AssetKey> =>
  isCode(keyOrCode) && Number.isSafeInteger(Number(keyOrCode))
    ? store.assets.keyOf(Number(keyOrCode))
    : keyOf(keyOrCode);

/** The asset of this key or code, if the project owns it. Throws UNKNOWN_ASSET, also for another project's asset. */
export const assetOf = async (store: Store, project: string, keyText: string): Promise<AssetDetails> => {
  const name = await projectName(store, project);
  const details = await store.assets.get(await namedKey(store, keyText));
  if (details.project === name) return details;
  throw new SluiceError(
    'UNKNOWN_ASSET',
    `Ask for ${details.asset.key} in the project that owns it: "${name}" does not.`,
  );
};

/** The run, if it belongs to the project. Throws NOT_FOUND. */
export const runOf = async (store: Store, project: string, runId: number): Promise<RunDetails> =>
  within(store, project, await store.runs.get(runId), `run ${runId}`);

/** The run of a task instance, if it belongs to the project. Throws NOT_FOUND. */
export const runOfTask = async (store: Store, project: string, taskRunId: number): Promise<RunDetails> =>
  within(store, project, await store.runs.ofTask(taskRunId), `task instance ${taskRunId}`);

const within = async (store: Store, project: string, run: RunDetails, what: string): Promise<RunDetails> => {
  const name = await projectName(store, project);
  if (run.project === name) return run;
  throw new SluiceError('NOT_FOUND', `Look for ${what} in another project: "${name}" has none of this number.`);
};
