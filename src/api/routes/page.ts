import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sha256 } from '../../runtime/hash.ts';
import type { Routes } from '../app.ts';

/** The page's files stand beside the routes, in src as in dist. */
const FOLDER = join(import.meta.dirname, '../page');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The page may load its own files and ask its own server, and nothing else; nobody may put it into a frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Asset {
  readonly body: Buffer;
  readonly type: string;
  readonly etag: string;
}

/** Served to anybody: the files hold nothing of the server; what the page shows it asks for with a token. */
export const pageRoutes: Routes = (app) => {
  for (const name of readdirSync(FOLDER)) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const body = readFileSync(join(FOLDER, name));
    const asset: Asset = { body, type, etag: `"${sha256(body.toString()).slice(0, 16)}"` };
    app.get(
      name === 'page.html' ? '/' : `/page/${name}`,
      { config: { permission: 'public' }, schema: { hide: true } },
      (request, reply) => answer(asset, request, reply),
    );
  }
};

/** The browser asks each time and is told that nothing changed, so that an upgraded server never meets an old page. */
const answer = ({ body, type, etag }: Asset, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  void reply.headers({
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
    etag,
  });
  return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.type(type).send(body);
};
