import Type from 'typebox';
import type { Routes } from '../app.ts';
import { type ApiDocument, renderDocs } from '../docs/render.ts';
import { languageOf } from '../http/language.ts';

const POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** What the server can be asked, as a page for people: made of the same document that programs read. */
export const docsRoutes: Routes = (app) => {
  app.get(
    '/docs',
    {
      config: { permission: 'public' },
      schema: { hide: true, querystring: Type.Object({ lang: Type.Optional(Type.Unknown()) }) },
    },
    ({ query, headers, host }, reply) => {
      const language = languageOf(query.lang, headers['accept-language']);
      const document = app.swagger() as unknown as ApiDocument;
      return reply
        .headers({ 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer', 'cache-control': 'no-cache' })
        .header('vary', 'accept-language')
        .type('text/html; charset=utf-8')
        .serializer(String)
        .send(renderDocs(document, language, `http://${host}`));
    },
  );
};
