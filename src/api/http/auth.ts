import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import { SluiceError } from '../../core/errors.ts';
import { sha256 } from '../../runtime/hash.ts';
import { type ApiToken, PERMISSIONS, type Permission } from '../deps.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    permission?: Permission;
  }
}

const rank = (permission: Permission): number => PERMISSIONS.indexOf(permission);

/** Refuses at start every route that does not say what it asks of its caller: what is forgotten must never be open. */
export const requirePermissions = (app: App): void => {
  app.addHook('onRoute', ({ method, url, config }) => {
    const permission = config?.permission;
    if (permission === undefined || !PERMISSIONS.includes(permission))
      throw new Error(`The route ${String(method)} ${url} declares no permission: add config: { permission }.`);
  });
};

/** Answers 401 or 403 before a body is read. Decides by the route that matched, never by the text of the path. */
export const authenticate = (app: App, tokens: readonly ApiToken[]): void => {
  const known = tokens.map(({ token, grants }) => ({ hash: digest(token), grants }));
  app.addHook('onRequest', async (request) => {
    if (request.is404) return;
    const needed = request.routeOptions.config.permission ?? 'admin';
    if (needed === 'public') return;
    const presented = digest(bearer(request));
    // Every hash is compared, each in constant time, so that the time taken tells nothing about the tokens.
    const matches = known.filter(({ hash }) => timingSafeEqual(hash, presented));
    const [match] = matches;
    if (match === undefined)
      throw new SluiceError(
        'UNAUTHENTICATED',
        'Send a valid token as "Authorization: Bearer …": the server keeps its first one in admin.token in its data folder.',
      );
    if (rank(match.grants) < rank(needed))
      throw new SluiceError('FORBIDDEN', `Use a token that may ${needed}: this one may only ${match.grants}.`);
  });
};

const digest = (text: string): Buffer => Buffer.from(sha256(text), 'hex');

const bearer = (request: FastifyRequest): string =>
  /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';

const IP_HOST = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/i;

/**
 * Refuses requests for a host name that is not ours. A web page that lets its own name point at this machine (DNS rebinding) can reach a
 * loopback port with the browser's help; it cannot do so under an IP address or localhost.
 */
export const checkHost = (app: App, allowed: readonly string[]): void => {
  const names = new Set(['localhost', ...allowed.map((name) => name.toLowerCase())]);
  app.addHook('onRequest', async (request) => {
    const host = (request.headers.host ?? '').replace(/:\d*$/, '').toLowerCase();
    if (IP_HOST.test(host) || names.has(host)) return;
    const other = host === '' ? '' : `, or add "${host.slice(0, 100)}" to server.allowed-hosts`;
    throw new SluiceError('FORBIDDEN', `Call the server by its IP address or localhost${other}.`);
  });
};
