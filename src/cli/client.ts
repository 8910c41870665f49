import { resolve } from 'node:path';
import type { ProjectBody } from '../api/contract/common.ts';
import type { FileProblem } from '../core/declaration/read.ts';
import { type ErrorCode, ERRORS, SluiceError } from '../core/errors.ts';
import { addressIn, tokenIn } from '../runtime/data-folder.ts';

/** How a command finds its server (contract.md 1). */
export interface Connection {
  readonly server?: string;
  readonly data?: string;
  readonly project?: string;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

/** A refusal by the server, with everything that it found wrong with a declaration. */
export class ServerRefusal extends SluiceError {
  readonly problems: readonly FileProblem[];
  constructor(code: ErrorCode, detail: string, problems: readonly FileProblem[]) {
    super(code, detail);
    this.problems = problems;
  }
}

/** The server over HTTP. Answers are the shapes of api/contract, which the server's routes are typed by. Every method throws SluiceError. */
export interface Client {
  readonly url: string;
  get<T>(path: string, query?: Query): Promise<T>;
  post<T>(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<T>;
  /** The chunks of a stream of server-sent events, as text. */
  stream(path: string): Promise<AsyncIterable<string>>;
  /**
   * The path of a project's resource, its parts percent-encoded. The project is the one asked for, else the only one there is, else
   * the only one that has what the first two parts name (`assets`, KEY); a command has one project, that of its first path.
   */
  path(...parts: readonly (string | number)[]): Promise<string>;
}

const BASE = '/api/v1';

/** Where a server is and the token for it; `unreachable` says what to do when nobody answers there. */
export interface ServerPlace {
  readonly url: string;
  readonly token: string | null;
  /** The data folder, if the server was found by it. */
  readonly folder: string | null;
  readonly unreachable: string;
}

/** By --server or SLUICE_SERVER, else by server.json in the data folder; the token by SLUICE_TOKEN, else from admin.token there. */
export const locate = (connection: Connection): ServerPlace => {
  const folder = resolve(connection.data ?? process.env['SLUICE_DATA_DIR'] ?? '.sluice');
  const where = connection.server ?? process.env['SLUICE_SERVER'];
  const url = (where ?? runningServer(folder)).replace(/\/+$/, '');
  const token = process.env['SLUICE_TOKEN'] ?? tokenIn(folder);
  return where === undefined
    ? { url, token, folder, unreachable: startHint(folder) }
    : { url, token, folder: null, unreachable: `No server answers at ${url}: start one there, or correct --server.` };
};

/** The server that `locate` finds. */
export const connect = (connection: Connection): Client => {
  const { url, token, unreachable } = locate(connection);
  const call = (path: string, init: RequestInit): Promise<Response> => send(url + path, token, init, unreachable);
  const json = async <T>(path: string, init: RequestInit): Promise<T> => (await (await call(path, init)).json()) as T;
  const client: Client = {
    url,
    get: (path, query = {}) => json(path + queryText(query), {}),
    post: (path, body, headers = {}) => json(path, posting(body, headers)),
    stream: async (path) => decode((await call(path, { headers: { accept: 'text/event-stream' } })).body),
    path: async (...parts) => {
      project ??= connection.project === undefined ? projectFor(client, parts) : Promise.resolve(connection.project);
      return `${BASE}/projects/${[await project, ...parts].map(encodeURIComponent).join('/')}`;
    },
  };
  let project: Promise<string> | undefined;
  return client;
};

const posting = (body: unknown, headers: Readonly<Record<string, string>>): RequestInit =>
  body === undefined
    ? { method: 'POST', headers }
    : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };

const queryText = (query: Query): string => {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given as string[][]).toString()}`;
};

/** What a path's second part names, in the words of people. */
const NAMED: Readonly<Record<string, string>> = {
  assets: 'asset',
  'workflow-definitions': 'workflow',
  'workflow-instances': 'run',
};

const projectFor = async (client: Client, [kind, name]: readonly (string | number)[]): Promise<string> => {
  const { items } = await client.get<{ items: ProjectBody[] }>(`${BASE}/projects`);
  const projects = items.map((project) => project.name);
  const [first, second] = projects;
  if (first === undefined)
    throw new SluiceError('NOT_FOUND', 'Apply a file first (sluice apply -f FILE): there is no project yet.');
  if (second === undefined) return first;
  if (kind === undefined || name === undefined) throw sayWhich(projects);
  const holders = await holding(client, projects, `${kind}/${encodeURIComponent(name)}`);
  const [holder, another] = holders;
  if (holder === undefined)
    throw new SluiceError(
      'NOT_FOUND',
      `Correct the ${NAMED[kind] ?? kind} ${name}: none of the projects ${projects.join(', ')} has it.`,
    );
  if (another !== undefined) throw sayWhich(holders);
  return holder;
};

const sayWhich = (projects: readonly string[]): SluiceError =>
  new SluiceError('NOT_FOUND', `Say which project you mean with --project: there are ${projects.join(', ')}.`);

/** The projects in which something answers at the path; a refusal for another reason than its absence is thrown. */
const holding = async (client: Client, projects: readonly string[], path: string): Promise<string[]> => {
  const answers = projects.map(async (project) => {
    try {
      await client.get(`${BASE}/projects/${encodeURIComponent(project)}/${path}`);
      return [project];
    } catch (error) {
      if (error instanceof SluiceError && ERRORS[error.code].status === 404) return [];
      throw error;
    }
  });
  return (await Promise.all(answers)).flat();
};

const startHint = (folder: string): string =>
  `No server is running on ${folder}: start one with "sluice server --data ${folder}", or name another with --server or --data.`;

const runningServer = (folder: string): string => {
  const url = addressIn(folder);
  if (url === null) throw new SluiceError('SERVER_UNREACHABLE', startHint(folder));
  return url;
};

const send = async (url: string, token: string | null, init: RequestInit, unreachable: string): Promise<Response> => {
  const headers = {
    ...(init.headers as Record<string, string>),
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  let response: Response;
  try {
    response = await fetch(url, { ...init, headers });
  } catch (error) {
    throw new SluiceError('SERVER_UNREACHABLE', unreachable, { cause: error });
  }
  if (response.ok) return response;
  throw refusal(await response.text(), response.status, url);
};

const refusal = (text: string, status: number, url: string): SluiceError => {
  try {
    const { code, detail, problems } = JSON.parse(text) as { code: string; detail: string; problems?: FileProblem[] };
    if (Object.hasOwn(ERRORS, code)) return new ServerRefusal(code as ErrorCode, detail, problems ?? []);
  } catch {
    // Said below: this is not our server.
  }
  return new SluiceError(
    'SERVER_UNREACHABLE',
    `Check the address: ${new URL(url).origin} answered ${status} and does not speak as Sluice does.`,
  );
};

async function* decode(body: Response['body']): AsyncIterable<string> {
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) yield decoder.decode(chunk as Uint8Array, { stream: true });
}
