import { EXAMPLES } from './examples.ts';
import { type Schema, shapeOf } from './shape.ts';
import { CHINESE, CHINESE_MEANINGS, type Language, type Word, WORDS } from './words.ts';

/** As much of an OpenAPI document as the page shows. */
export interface ApiDocument {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
}

interface ApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly 'x-permission': string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Route extends ApiOperation {
  readonly method: string;
  readonly path: string;
}

/** The whole page as HTML without a script. `origin`: where the reader reached the server. */
export const renderDocs = (document: ApiDocument, language: Language, origin: string): string => {
  const say = (word: Word): string => escape(WORDS[language][word]);
  const routes = routesOf(document);
  const tags = [...new Set(routes.flatMap(({ tags: [tag = ''] }) => tag))];
  const other = language === 'en' ? 'zh-CN' : 'en';
  const sections = tags.map((tag) => section(tag, routes, { language, origin }));
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${say('title')}</title>
<link rel="icon" href="/page/icon.svg">
<link rel="stylesheet" href="/page/docs.css">
</head>
<body>
<header>
<h1>${say('title')} <small>${escape(document.info.version)}</small></h1>
<p><a href="/">${say('live')}</a> <a href="/api/v1/openapi.json">${say('document')}</a> <a href="/docs?lang=${other}" lang="${other}">${say('other')}</a></p>
</header>
<main>
<p>${say('intro')}</p>
<p>${say('problems')}</p>
<nav><ul>${tags.map((tag) => `<li><a href="#${tag}">${named(tag, tag, language)}</a></li>`).join('')}</ul></nav>
${sections.join('\n')}
</main>
</body>
</html>
`;
};

const routesOf = ({ paths }: ApiDocument): readonly Route[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );

interface Reader {
  readonly language: Language;
  readonly origin: string;
}

const section = (tag: string, routes: readonly Route[], reader: Reader): string => {
  const own = routes.filter(({ tags }) => tags[0] === tag).map((route) => routeHtml(route, reader));
  return `<section id="${tag}">\n<h2>${named(tag, tag, reader.language)}</h2>\n${own.join('\n')}\n</section>`;
};

const routeHtml = (route: Route, reader: Reader): string => {
  const { method, path, operationId, summary } = route;
  const say = (word: Word): string => escape(WORDS[reader.language][word]);
  return `<details id="${operationId}">
<summary><b class="${method}">${method}</b> <code>${escape(path)}</code> <span class="permission" title="${say('permission')}">${escape(route['x-permission'])}</span>
<span class="does">${named(operationId, summary, reader.language)}</span></summary>
${parametersHtml(route, reader.language)}${bodyHtml(route, say)}<h3>${say('example')}</h3>
<pre>${escape(curlOf(route, reader.origin))}</pre>
<h3>${say('answers')}</h3>
${answersHtml(route, say)}
</details>`;
};

type Say = (word: Word) => string;

const parametersHtml = ({ parameters = [] }: Route, language: Language): string => {
  if (parameters.length === 0) return '';
  const say = (word: Word): string => escape(WORDS[language][word]);
  const meaning = (english: string): string => (language === 'en' ? english : (CHINESE_MEANINGS[english] ?? english));
  const rows = parameters.map(
    ({ name, in: place, required, description = '', schema }) =>
      `<tr><td><code>${escape(name)}</code></td><td>${escape(place)}${required === true ? `, ${say('required')}` : ''}</td><td><code>${escape(shapeOf(schema))}</code></td><td>${escape(meaning(description))}</td></tr>`,
  );
  const head = (['name', 'place', 'type', 'meaning'] as const).map((word) => `<th>${say(word)}</th>`).join('');
  return `<h3>${say('parameters')}</h3>\n<table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table>\n`;
};

const bodyHtml = ({ requestBody }: Route, say: Say): string => {
  if (requestBody === undefined) return '';
  const note = requestBody.required === true ? '' : ` <small>${say('mayBeLeftOut')}</small>`;
  return `<h3>${say('body')}${note}</h3>\n<pre>${escape(shapeOf(schemaIn(requestBody.content) ?? {}))}</pre>\n`;
};

const answersHtml = ({ responses }: Route, say: Say): string =>
  Object.entries(responses)
    .filter(([status]) => status !== 'default')
    .map(([status, { content }]) => {
      const schema = content === undefined ? undefined : schemaIn(content);
      const shape =
        schema?.type === 'null' ? say('nothing') : schema === undefined ? say('stream') : escape(shapeOf(schema));
      return `<p><b>${status}</b></p>\n<pre>${shape}</pre>`;
    })
    .join('\n');

const schemaIn = (content: Content): Schema | undefined => Object.values(content)[0]?.schema;

const SAMPLES: Readonly<Record<string, string>> = {
  projectCode: 'gmv',
  assetKey: encodeURIComponent('paimon://ods_db/ods_order_latest'),
  workflowDefinitionCode: 'trade',
  code: 'trade',
  group: 'orders',
  task: 'dwd',
  version: '1',
  id: '1',
};

/** A command that can be pasted. */
const curlOf = ({ method, path, operationId, ...route }: Route, origin: string): string => {
  const url = origin + path.replace(/\{(\w+)\}/g, (whole, name: string) => SAMPLES[name] ?? whole);
  const example = EXAMPLES[operationId];
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`}`,
    ...(route['x-permission'] === 'public' ? [] : ['-H "Authorization: Bearer $SLUICE_TOKEN"']),
    ...(example === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d '${JSON.stringify(example).replaceAll("'", String.raw`'\''`)}'`]),
    `'${url}'`,
  ];
  return parts.join(' \\\n  ');
};

/** The name of a tag or what an operation does, in the reader's language. */
const named = (id: string, english: string, language: Language): string =>
  escape(language === 'en' ? english : (CHINESE[id] ?? english));

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
