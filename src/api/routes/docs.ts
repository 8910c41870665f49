import Type from 'typebox';
import type { Routes } from '../app.ts';
import { type ApiDocument, renderDocs } from '../docs/render.ts';
import { type Language, LANGUAGES } from '../docs/words.ts';

const POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** What the server can be asked, as a page for people: made of the same document that programs read. */
export const docsRoutes: Routes = (app) => {
  app.get(
    '/docs',
    {
      config: { permission: 'public' },
      schema: { hide: true, querystring: Type.Object({ lang: Type.Optional(Type.Enum([...LANGUAGES])) }) },
    },
    ({ query, headers, host }, reply) => {
      const language = query.lang ?? preferred(headers['accept-language']);
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

/** The first language that the browser names and the page has. */
const preferred = (header: string | undefined): Language => {
  const asked = (header ?? '').toLowerCase().split(',');
  const first = asked.map((each) => each.trim()).find((each) => /^(en|zh)\b/.test(each));
  return first?.startsWith('zh') === true ? 'zh-CN' : 'en';
};
