import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { EXAMPLES } from '../../src/api/docs/examples.ts';
import { CHINESE, CHINESE_MEANINGS } from '../../src/api/docs/words.ts';
import { checkTask } from '../../src/compose/tasks.ts';
import { parseDeclaration } from '../../src/core/declaration/parse.ts';
import { PROJECT } from '../support/tree.ts';
import { bearer, openApi, TOKEN, work } from './harness.ts';

const page = (name: string): string => readFileSync(join(PROJECT, 'docs', name), 'utf8');

interface Document {
  readonly openapi: string;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties: object }>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

type Content = Readonly<Record<string, { readonly schema?: object }>>;

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly description?: string;
    readonly schema: object;
  }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

describe('the pages about the API', () => {
  test('list every route with its permission, and none that is not there', async () => {
    const { app } = await openApi();
    const { paths } = app.swagger() as unknown as { paths: Record<string, Record<string, { 'x-permission': string }>> };
    const routes = Object.entries(paths).flatMap(([url, methods]) =>
      Object.entries(methods).map(([method, route]) => `${method.toUpperCase()} ${url} ${route['x-permission']}`),
    );
    const listed = [...page('reference/api.md').matchAll(/^\| `([A-Z]+ \S+)` \| (\w+) \|/gm)];
    expect(
      listed.map(([, route, permission]) => `${route} ${permission === 'none' ? 'public' : permission}`).sort(),
    ).toEqual(routes.sort());
  });

  test('the OpenAPI document says what its readers need, in schemas that mean something', async () => {
    const { app } = await openApi();
    const document = JSON.parse(JSON.stringify(app.swagger())) as Document;
    expect(document.openapi).toBe('3.1.0');
    const ajv = new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true });
    ajv.addFormat('date-time', true);
    const { Problem, ...others } = document.components.schemas;
    expect([Object.keys(Problem?.properties ?? {}).slice(0, 2), others]).toEqual([['type', 'title'], {}]);
    const seen = new Set<string>();
    for (const [path, operations] of Object.entries(document.paths))
      for (const [method, operation] of Object.entries(operations)) {
        const where = `${method} ${path}`;
        expect(seen.has(operation.operationId), where).toBe(false);
        seen.add(operation.operationId);
        expect(operation, where).toMatchObject({
          summary: expect.stringMatching(/\.$|…$/) as string,
          tags: [expect.any(String)],
        });
        const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        const parameters = operation.parameters ?? [];
        expect(parameters.flatMap((each) => (each.in === 'path' ? each.name : [])).sort(), where).toEqual(named.sort());
        const bodies = Object.values(operation.requestBody?.content ?? {});
        const answers = Object.values(operation.responses).flatMap(({ content }) => Object.values(content ?? {}));
        const schemas = [...parameters, ...bodies, ...answers].flatMap(({ schema }) => schema ?? []);
        for (const schema of schemas.filter((each) => !('$ref' in each)))
          expect(() => ajv.compile(schema), where).not.toThrow();
        for (const [status, { description }] of Object.entries(operation.responses))
          expect([status, description], where).toEqual([status, expect.stringMatching(/\.$/)]);
      }
    const optional = (path: string) =>
      document.paths[`/api/v1/projects/{projectCode}${path}`]?.['post']?.requestBody?.required;
    expect([optional('/workflow-instances/{id}/rerun'), optional('/assets')]).toEqual([false, true]);
    const pushed = document.paths['/api/v1/projects/{projectCode}/asset-events']?.['post']?.requestBody;
    expect(JSON.stringify(pushed)).toContain('deltaRecordCount');
  });

  test('/docs shows every route in both languages, by itself', async () => {
    const { app, inject } = await openApi();
    const operations = Object.values((app.swagger() as unknown as Document).paths).flatMap((each) =>
      Object.values(each),
    );
    const pages = {
      en: await inject({ url: '/docs' }),
      zh: await inject({ url: '/docs', headers: { 'accept-language': 'fr, zh-CN;q=0.9, en;q=0.8' } }),
    };
    expect((await inject({ url: '/docs?lang=zh-CN' })).text).toBe(pages.zh.text);
    for (const lang of ['zh', 'zh-Hans', 'zh_CN', 'ZH-cn', 'zh-Hant-TW', '%20zh'])
      expect((await inject({ url: `/docs?lang=${lang}` })).text, lang).toBe(pages.zh.text);
    const chinese = { 'accept-language': 'zh' };
    for (const lang of ['en', 'en-US', 'EN_gb', 'tlh', 'zhx'])
      expect((await inject({ url: `/docs?lang=${lang}`, headers: chinese })).text, lang).toBe(pages.en.text);
    expect((await inject({ url: '/docs?lang=', headers: chinese })).text).toBe(pages.zh.text);
    for (const { status, headers, text } of Object.values(pages)) {
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(String(headers['content-security-policy'])).toMatch(/default-src 'none'/);
      expect(text).not.toMatch(/<script|\sstyle=|\son\w+=|src="http|href="http/);
      for (const { operationId } of operations) expect(text).toContain(`<details id="${operationId}">`);
    }
    for (const { operationId, summary, tags } of operations) {
      expect(CHINESE[operationId], operationId).toMatch(/\p{Script=Han}.*。$|^Prometheus 指标。$/u);
      expect(pages.zh.text).toContain(CHINESE[tags[0] ?? '']);
      expect(pages.zh.text).not.toContain(`>${summary}<`);
    }
    expect(Object.keys(CHINESE).sort()).toEqual(
      [...new Set(operations.flatMap(({ operationId, tags }) => [operationId, ...tags]))].sort(),
    );
    const meanings = operations.flatMap(({ parameters = [] }) => parameters.flatMap((one) => one.description ?? []));
    expect(Object.keys(CHINESE_MEANINGS).sort()).toEqual([...new Set(meanings)].sort());
    for (const meaning of Object.values(CHINESE_MEANINGS)) expect(pages.zh.text).toContain(`<td>${meaning}</td>`);
    expect(pages.zh.text).not.toContain('nextCursor of the page before.');
    expect(pages.en.text).toContain('<td>nextCursor of the page before.</td>');
    expect(pages.en.text).toContain('<span class="does">Running tasks are killed.</span>');
    expect(pages.en.text).toContain('deltaRecordCount?: string | integer | null');
    expect((await inject({ url: '/page/docs.css' })).status).toBe(200);
  });

  test('what the page shows as examples is taken', async () => {
    const api = await openApi();
    const operations = (api.app.swagger() as unknown as Document).paths;
    const keys = {
      projectCode: 'gmv',
      assetKey: 'paimon%3A%2F%2Fods_db%2Fods_order_latest',
      code: 'trade',
      group: 'orders',
      id: '1',
    };
    const taken: string[] = [];
    const send = async (operationId: string, payload: unknown) => {
      const [path = '', method = ''] =
        Object.entries(operations)
          .flatMap(([url, each]) => Object.entries(each).map(([verb, operation]) => [url, verb, operation.operationId]))
          .find(([, , id]) => id === operationId) ?? [];
      const url = path.replace(/\{(\w+)\}/g, (_, name: keyof typeof keys) => keys[name]);
      const answer = await api.inject({
        method: method.toUpperCase() as 'POST',
        url,
        payload: payload as object,
        headers: bearer(TOKEN),
      });
      taken.push(operationId);
      return [answer.status, answer.status < 300 ? '' : answer.text];
    };
    const example = (id: string) => [id, EXAMPLES[id]] as const;
    const file = EXAMPLES['applyDeclaration'] as { declaration: object };
    await send('applyDeclaration', { declaration: file.declaration });
    await send('pushAssetEvents', EXAMPLES['pushAssetEvents']);
    for (const [id, body, status] of [
      [...example('applyDeclaration'), 200],
      [...example('registerAsset'), 200],
      [...example('scanAsset'), 200],
      [...example('approveSchema'), 202],
      [...example('pushAssetEvents'), 202],
      [...example('declareAssetDependencies'), 200],
      [...example('createWorkflow'), 201],
      [...example('updateWorkflow'), 200],
      [...example('startWorkflow'), 201],
      [...example('releaseWorkflow'), 200],
      ['pauseGroup', undefined, 200],
      [...example('resumeGroup'), 200],
      ['pauseProject', undefined, 200],
      [...example('resumeProject'), 200],
    ] as const)
      expect([id, ...(await send(id, body))]).toEqual([id, status, '']);
    await work(api, 'FAILURE');
    expect(await send('recoverWorkflowInstance', EXAMPLES['recoverWorkflowInstance'])).toEqual([200, '']);
    await work(api);
    expect(await send('rerunWorkflowInstance', EXAMPLES['rerunWorkflowInstance'])).toEqual([200, '']);
    expect(Object.keys(EXAMPLES).filter((id) => !taken.includes(id))).toEqual([]);
  });

  test('the example of the guide can be applied as it stands', () => {
    const yaml = /```yaml\n([\s\S]*?)```/.exec(page('guide/apply-files.md'))?.[1] ?? '';
    const file = parse(yaml) as { assets: { location: string }[] };
    for (const asset of file.assets) asset.location = join('/', asset.location);
    const result = parseDeclaration(file, { timezone: 'UTC', checkTask });
    expect(result.ok ? [] : result.problems).toEqual([]);
  });
});

test('an address may end with a slash', async () => {
  const api = await openApi();
  for (const path of ['/docs/', '/docs', '/api/v1/projects/', '/api/v1/openapi.json/'])
    expect((await api.get(path)).status, path).toBe(200);
});
