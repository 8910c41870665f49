import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { runProcess, until as untilWithin } from '../support/server.ts';
import { describeNeeding } from '../support/shared.ts';
import { PROJECT } from '../support/tree.ts';

/** The page in a real browser, over the server of the demo. */

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
/** Runs in the browser. */
const WEAK_TEXTS = readFileSync(join(PROJECT, 'test/e2e/weak-texts.js'), 'utf8');
const LIMIT = { timeout: 180_000 };
/** A browser, a server and its tasks on a small, busy machine. */
const PATIENCE_MS = 60_000;
const until = <T>(what: string, look: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> =>
  untilWithin(what, look, PATIENCE_MS);
const SETTLED = 15;

interface Demo {
  readonly data: string;
  /** With the token, as the demo printed it. */
  readonly address: string;
  readonly run: (workflow: string) => Promise<void>;
  readonly end: () => Promise<void>;
}

async function startDemo(): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-page-'));
  const data = join(folder, 'data');
  const args = [join(PROJECT, 'demo/main.ts'), '--fast', '--serve', '--data', data, '--port', '0'];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      said += bytes.toString();
    });
  const address = await until('the demo to print its page', () => {
    if (child.exitCode !== null) throw new Error(`The demo ended: ${said}`);
    return /^page +(\S+)$/m.exec(said)?.[1];
  });
  const end = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  const run = async (workflow: string): Promise<void> => {
    const { code, stderr } = await runProcess(
      [join(PROJECT, 'src/cli/main.ts'), 'run', workflow, '--data', data],
      folder,
    );
    expect(code, stderr).toBe(0);
  };
  return { data, address, run, end };
}

describeNeeding(
  'the page in a browser',
  { found: CHROMIUM ?? null, enable: 'Chromium: apt-get install chromium' },
  (executablePath) => {
    let demo: Demo;
    let browser: Browser;

    beforeAll(async () => {
      [demo, browser] = await Promise.all([
        startDemo(),
        chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] }),
      ]);
    }, 60_000);

    afterAll(async () => {
      await browser.close();
      await demo.end();
    }, 30_000);

    /** A page in a browser profile of its own; what it complains of fails the test. */
    const open = async (address: string, options: BrowserContextOptions = {}): Promise<Page> => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en', ...options });
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
      page.on('pageerror', (error) => void complaints.push(error.stack ?? error.message));
      onTestFinished(async () => {
        await context.close();
        expect(complaints).toEqual([]);
      });
      await page.goto(address);
      return page;
    };

    const textOf = (page: Page, selector: string): Promise<string> => page.locator(selector).innerText();
    const runsOf = (page: Page): Promise<number> => page.locator('#runs > table > tbody > tr.one').count();
    const settled = async (page: Page): Promise<void> => {
      await until('all runs of the demo', async () => (await runsOf(page)) >= SETTLED);
      await until('no run under way', async () => (await textOf(page, '.head p')).includes(' 0 '));
    };

    test('shows tables, runs and why, and follows them without a reload', LIMIT, async () => {
      const page = await open(demo.address);
      let loads = 0;
      page.on('load', () => void (loads += 1));
      await page.waitForSelector('#assets tbody tr');
      expect(page.url()).not.toContain('token');
      // The demo plays while the page is open: all of it arrives here by itself.
      await settled(page);
      expect(await textOf(page, 'h1')).toBe('All is well.');
      expect(await textOf(page, '.head p')).toBe('5 tables, 3 workflows, 0 runs under way.');
      expect(await page.locator('#assets tbody tr').count()).toBe(5);
      expect(await textOf(page, '#assets tr[data-key$=ods_order_latest]')).toMatch(/v7\s*7.*passed\s*compatible\s*ok/s);
      // Its newest version is a compaction, so another one is what can be used.
      expect(await textOf(page, '#assets tr[data-key$=dws_gmv_daily]')).toMatch(/v8\s*8\s*v7\s*7/);
      const dwd = await textOf(page, '#workflows article[aria-label=dwd]');
      expect(dwd).toContain('ods_order_latest has no new version');
      expect(dwd).toContain('a version newer than 7');
      expect(dwd).toContain('BLOCKED_BY_SNAPSHOT');
      await page.click('#workflows article[aria-label=dwd] .did button[aria-expanded]');
      expect(await textOf(page, '#workflows article[aria-label=dwd] .did')).toContain('ods_order_latest holds');
      const before = await runsOf(page);
      await demo.run('ads');
      await until('the new run', async () => (await runsOf(page)) === before + 1);
      await until('its end', async () => /succeeded/.test(await textOf(page, '#runs tr.one >> nth=0')));
      expect(loads).toBe(0);
    });

    test('a run opens with its tasks and log, and the address keeps it', LIMIT, async () => {
      const page = await open(demo.address);
      await page.waitForSelector('#runs tr.one');
      await settled(page);
      await page.click('#run-3 .toggle');
      await page.click('#runs tr.inside button[data-do^=log]');
      await until('the log', async () => (await textOf(page, '#log-text')).includes('gmv 517.40'));
      expect(await textOf(page, '#runs tr.inside')).toMatch(/refresh_dashboard\s+SHELL\s+succeeded/);
      expect(new URL(page.url()).hash).toMatch(/^#run=3&log=\d+$/);
      await page.reload();
      await until('the log again', async () => (await page.locator('#log-text').count()) === 1);
      await until('its text', async () => (await textOf(page, '#log-text')).includes('gmv 517.40'));
    });

    test('nothing moves under the pointer: new runs wait until they are asked for', LIMIT, async () => {
      const page = await open(demo.address);
      await page.waitForSelector('#runs tr.one');
      await settled(page);
      const row = page.locator('#runs tr.one >> nth=2');
      const key = await row.getAttribute('data-key');
      const place = async () => (await page.locator(`[data-key="${key}"]`).boundingBox())?.y;
      await row.hover();
      const [before, count] = [await place(), await runsOf(page)];
      await demo.run('ads');
      await page.locator('#runs .pill').waitFor();
      expect([await place(), await runsOf(page)]).toEqual([before, count]);
      await page.click('#runs .pill');
      await until('the new run', async () => (await runsOf(page)) === count + 1);
    });

    test('speaks both languages and has both themes, and remembers which', LIMIT, async () => {
      const page = await open(demo.address, { colorScheme: 'light' });
      await page.waitForSelector('#runs tr.one');
      await settled(page);
      const html = (name: string) => page.locator('html').getAttribute(name);
      expect([await html('lang'), await html('data-theme')]).toEqual(['en', 'light']);
      const light = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      await page.click('[data-do=language]');
      await page.click('[data-do=theme]');
      expect([await html('lang'), await html('data-theme')]).toEqual(['zh-CN', 'dark']);
      expect(await textOf(page, 'h1')).toBe('一切正常。');
      expect(await textOf(page, '#workflows')).toContain('ods_order_latest 没有新版本');
      // What the server says in English would be marked as English.
      expect(await page.locator('main [lang=en]').count()).toBe(0);
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).not.toBe(light);
      await page.reload();
      await page.waitForSelector('#runs tr.one');
      expect([await html('lang'), await html('data-theme')]).toEqual(['zh-CN', 'dark']);
    });

    test.each(['light', 'dark'] as const)('every text stands out from its ground: %s', LIMIT, async (colorScheme) => {
      const page = await open(demo.address, { colorScheme, reducedMotion: 'reduce' });
      await page.waitForSelector('#runs tr.one');
      await page.click('#runs .toggle >> nth=0');
      await page.click('#runs tr.inside button[data-do^=log]');
      await page.waitForSelector('#log-text');
      expect(await page.evaluate(`${WEAK_TEXTS}\nweakTexts()`)).toEqual([]);
    });

    test('on a phone nothing scrolls sideways', LIMIT, async () => {
      const page = await open(demo.address, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
      await page.waitForSelector('#runs tr.one');
      await page.tap('#runs .toggle >> nth=0');
      await page.tap('#runs tr.inside button[data-do^=log]');
      await page.waitForSelector('#log-text');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    });

    test('the keyboard reaches everything', LIMIT, async () => {
      const page = await open(demo.address);
      await page.waitForSelector('#runs tr.one');
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement?.className')).toBe('skip');
      await page.locator('#runs .toggle >> nth=0').focus();
      await page.keyboard.press('Enter');
      await page.locator('#runs tr.inside button[data-do^=log]').focus();
      await page.keyboard.press('Space');
      await page.waitForSelector('#log-text');
      expect(await page.evaluate('document.activeElement?.getAttribute("aria-expanded")')).toBe('true');
    });

    test('without a token the page asks for it and says where it is', LIMIT, async () => {
      const { origin, hash } = new URL(demo.address);
      const page = await (await browser.newContext({ locale: 'en' })).newPage();
      onTestFinished(() => page.context().close());
      await page.goto(origin);
      expect(await textOf(page, '#sign')).toContain('admin.token');
      await page.fill('#token', 'not-the-token');
      await page.press('#token', 'Enter');
      await until('the refusal', async () => (await page.locator('#wrong').count()) === 1);
      await page.fill('#token', decodeURIComponent(hash.slice('#token='.length)));
      await page.press('#token', 'Enter');
      await page.waitForSelector('#assets tbody tr');
      await until('news', async () => (await textOf(page, '.live')) === 'Live');
    });

    test('many open tabs share one stream, and the next takes over from one that closes', LIMIT, async () => {
      const context = await browser.newContext({ locale: 'en' });
      onTestFinished(() => context.close());
      const streams: string[] = [];
      context.on('request', (request) => void (request.url().endsWith('/stream') && streams.push(request.url())));
      const pages: Page[] = [];
      for (let i = 0; i < 8; i += 1) {
        const page = await context.newPage();
        await page.goto(demo.address);
        await until('a live page', async () => (await page.locator('.live:not(.not)').count()) === 1);
        pages.push(page);
      }
      expect(streams).toHaveLength(1);
      await pages[0]?.close();
      await until('the second stream', () => streams.length === 2);
      const last = pages.at(-1);
      if (last === undefined) throw new Error('no page is left');
      const before = await last.locator('#runs tr.one >> nth=0').getAttribute('data-key');
      await demo.run('ads');
      await until(
        'a new run',
        async () => (await last.locator('#runs tr.one >> nth=0').getAttribute('data-key')) !== before,
      );
      expect(streams).toHaveLength(2);
    });
  },
);
