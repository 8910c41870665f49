import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { parseDocument, stringify } from 'yaml';
import { SluiceError } from '../core/errors.ts';
import { maskText } from '../core/mask.ts';
import { nearest } from '../core/nearest.ts';
import { type Config, SCHEMA } from './schema.ts';
import { camelCase, isSetting, kebabCase, type Section, type Setting } from './setting.ts';

/** Where a configuration comes from; later ones win: defaults, file, environment, flags. */
export interface Sources {
  /** The YAML file: its name for messages, and its text. null: none. */
  readonly file: { readonly name: string; readonly text: string } | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Key path (`server.port`) → value, from the command line; undefined ones were not given. */
  readonly flags: Readonly<Record<string, string | undefined>>;
}

export interface Loaded {
  readonly config: Config;
  /** Sentences about keys that were taken but do nothing: for the log. */
  readonly notes: readonly string[];
}

/** Key path in kebab-case → its value. */
type Values = Map<string, unknown>;

const fail = (detail: string): never => {
  throw new SluiceError('BAD_CONFIG', detail);
};

/** Every setting with its key path, in the order of the schema. */
export function allSettings(section: Section = SCHEMA, prefix = ''): readonly (readonly [string, Setting<unknown>])[] {
  return Object.entries(section).flatMap(([key, node]) =>
    isSetting(node) ? [[`${prefix}${key}`, node] as const] : allSettings(node, `${prefix}${key}.`),
  );
}

const SETTINGS = new Map(allSettings());

/** `server.port` → `SLUICE_SERVER_PORT`. */
export const environmentName = (path: string): string => `SLUICE_${path.replace(/[.-]/g, '_').toUpperCase()}`;

/**
 * The configuration out of its sources. Throws BAD_CONFIG for an unknown key, with the nearest known one, or a value of the wrong kind,
 * with where it stands and what the key takes.
 */
export function loadConfig(sources: Sources): Loaded {
  const values: Values = new Map();
  if (sources.file !== null) readFile(sources.file, values);
  readEnvironment(sources.env, values);
  for (const [path, value] of Object.entries(sources.flags))
    if (value !== undefined) setValue(values, path, value, `--${path.split('.').at(-1)}`);
  const config = build(SCHEMA, '', values) as Config;
  checkDatabase(config.database.url);
  return { config, notes: notesOn(values) };
}

/** As loadConfig, with the file from disk: `path` as given (it must be there), or `./sluice.yaml` if present. */
export function readConfig(
  path: string | undefined,
  env: Sources['env'],
  flags: Sources['flags'],
): Loaded & { readonly file: string | null } {
  const file = path ?? (existsSync('sluice.yaml') ? 'sluice.yaml' : null);
  return { ...loadConfig({ file: file === null ? null : { name: file, text: readText(file) }, env, flags }), file };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = (error as Error).message;
    throw new SluiceError(
      'BAD_CONFIG',
      `The configuration file ${path} cannot be read (${why}); name another with --config.`,
    );
  }
}

// The file

function readFile({ name, text }: { name: string; text: string }, values: Values): void {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) fail(`${name} is not valid YAML: ${error.message.split('\n')[0]}`);
  const root: unknown = document.toJS() ?? {};
  const tree = asMap(root) ?? fail(`${name} must hold keys and values, as in "server:" and below it "  port: 8484".`);
  const { dolphinscheduler, ...own } = tree;
  readSection(own, SCHEMA, '', name, values);
  if (dolphinscheduler === undefined || dolphinscheduler === null) return;
  const inner =
    asMap(dolphinscheduler) ?? fail(`${name}: dolphinscheduler must hold the section asset-event-scheduling.`);
  const known = { 'asset-event-scheduling': SCHEMA['asset-event-scheduling'] };
  readSection(inner, known, '', name, values);
}

const asMap = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;

function readSection(
  tree: Record<string, unknown>,
  section: Section,
  prefix: string,
  name: string,
  values: Values,
): void {
  for (const [written, value] of Object.entries(tree)) {
    const key = kebabCase(written);
    const path = `${prefix}${key}`;
    const node = Object.hasOwn(section, key) ? section[key] : undefined;
    if (node === undefined) throw unknownKey(`${prefix}${written}`, name, Object.keys(section), prefix);
    if (isSetting(node)) {
      if (values.has(path)) fail(`${name} gives ${path} twice; remove one.`);
      if (value !== null) setValue(values, path, value, name);
      continue;
    }
    if (value === null) continue; // a section whose keys are all commented out
    readSection(asMap(value) ?? notASection(name, path, node), node, `${path}.`, name, values);
  }
}

const notASection = (name: string, path: string, section: Section): never =>
  fail(`${name}: ${path} is a section, not a value; give its keys, such as ${Object.keys(section)[0]}, below it.`);

function unknownKey(written: string, where: string, siblings: readonly string[], prefix: string): SluiceError {
  const last = kebabCase(written.slice(prefix.length));
  const sibling = nearest(last, siblings);
  const elsewhere = [...SETTINGS.keys()].find((path) => path.split('.').at(-1) === last);
  const meant = sibling === undefined ? elsewhere : `${prefix}${sibling}`;
  const hint = meant === undefined ? `known here: ${siblings.join(', ')}.` : `did you mean ${meant}?`;
  return new SluiceError('BAD_CONFIG', `${where} has the unknown key ${written}; ${hint}`);
}

function setValue(values: Values, path: string, value: unknown, where: string): void {
  const setting = SETTINGS.get(path) ?? fail(`${where} sets ${path}, which is no key of the configuration.`);
  const read = setting.read(value);
  if (read === undefined) fail(`${where}: ${path} takes ${setting.takes}, not ${JSON.stringify(value)}.`);
  values.set(path, read);
}

// The environment

/** Kubernetes sets variables of such names in every container where a service is called sluice-…: they are no settings. */
const SERVICE_LINK = /_SERVICE_(HOST|PORT)|_PORT_\d+_(TCP|UDP)/;

/** Only variables that begin with the name of a section can be misspelt keys: others (SLUICE_TOKEN, a task's SLUICE_CONTEXT) are read elsewhere. */
const SECTIONS = Object.keys(SCHEMA)
  .filter((key) => !isSetting(SCHEMA[key as keyof typeof SCHEMA]))
  .map((key) => `${environmentName(key)}_`);

function readEnvironment(env: Sources['env'], values: Values): void {
  const byName = new Map([...SETTINGS.keys()].map((path) => [environmentName(path), path]));
  for (const [name, value] of Object.entries(env)) {
    const path = byName.get(name);
    if (path !== undefined && value !== undefined && value !== '') setValue(values, path, value, name);
    if (path !== undefined || SERVICE_LINK.test(name) || !SECTIONS.some((section) => name.startsWith(section)))
      continue;
    const meant = nearest(name, [...byName.keys()]);
    fail(
      `The environment variable ${name} is no key of the configuration; ${meant === undefined ? 'unset it.' : `did you mean ${meant}?`}`,
    );
  }
}

// The result

function build(section: Section, prefix: string, values: Values): unknown {
  const entries = Object.entries(section).map(([key, node]) => {
    const path = `${prefix}${key}`;
    const value = isSetting(node) ? (values.get(path) ?? node.fallback) : build(node, `${path}.`, values);
    return [camelCase(key), value];
  });
  return Object.freeze(Object.fromEntries(entries));
}

const POSTGRES = /^postgres(ql)?:\/\//;

function checkDatabase(url: string | null): void {
  if (url === null || /^sqlite:./.test(url)) return;
  const shown = url.split(':')[0];
  if (!POSTGRES.test(url))
    fail(
      `database.url begins with "${shown}:", but this version knows sqlite:PATH and postgres://USER:PASSWORD@HOST:PORT/DATABASE; leave it out to use the data folder.`,
    );
  if (!URL.canParse(url))
    fail(
      `database.url is no address: write postgres://USER:PASSWORD@HOST:PORT/DATABASE, and in the password % and a code for what is not a letter or digit (@ is %40, / is %2F).`,
    );
}

const WITHOUT_EFFECT = 'Taken, but without effect: ';

/** Keys that are there so that a file made for another scheduler can be used as it stands: whoever sets one hears that it does nothing. */
function notesOn(values: Values): readonly string[] {
  return [...values.keys()].flatMap((path) => {
    const doc = SETTINGS.get(path)?.doc ?? '';
    return doc.startsWith(WITHOUT_EFFECT)
      ? [`${path} is taken but has no effect: ${doc.slice(WITHOUT_EFFECT.length)}`]
      : [];
  });
}

/** The database that the configuration means. */
export interface DatabasePlace {
  /** What the store opens: an address, or the path of the SQLite file, relative to where the server was started. */
  readonly url: string;
  readonly isFile: boolean;
  /** Without the password. */
  readonly shown: string;
}

export function databaseOf(config: Config): DatabasePlace {
  const { url } = config.database;
  if (url !== null && POSTGRES.test(url)) return { url, isFile: false, shown: maskText(url) };
  const path = databasePath(config);
  return { url: path, isFile: true, shown: path };
}

function databasePath(config: Config): string {
  const { url } = config.database;
  if (url === null) return join(config.dataDir, 'sluice.db');
  const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
  return isAbsolute(path) ? path : join('.', path);
}

/** The effective configuration as a file that loadConfig reads back, passwords in addresses hidden. */
export function printConfig(config: Config): string {
  return stringify(toFile(SCHEMA, config as unknown as Record<string, unknown>));
}

function toFile(section: Section, values: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(section).map(([key, node]): [string, unknown] => {
    const value = values[camelCase(key)];
    return [key, isSetting(node) ? hidePassword(value) : toFile(node, value as Record<string, unknown>)];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}

const hidePassword = (value: unknown): unknown => (typeof value === 'string' ? maskText(value) : value);
