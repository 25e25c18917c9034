import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { FRAMEWORKS } from '../../core/compliance/frameworks.ts';
import { reportHtml } from '../../core/evidence/reports/report-html.ts';
import { aboutArchive, anAssessment, HOSTILE_NAMES } from '../kits/records/assessments.ts';
import { hasBrowser, launchBrowser } from '../kits/web/dashboard.ts';

const PAPERS = ['A4', 'Letter'];

/** Serves one page, and remembers what else was asked for. */
async function served(page: string) {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked };
}

describe.skipIf(!hasBrowser)('the report of an evidence archive in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  /** What the page throws, and what its security policy refuses, is kept. */
  async function opened(options: BrowserContextOptions = {}) {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      // The icon that every browser asks for.
      if (!message.location().url.endsWith('/favicon.ico')) complaints.push(message.text());
    });
    return { page, complaints };
  }

  test.each(FRAMEWORKS)(
    'of %s is shown and prints on one to three pages, with nothing fetched or refused',
    async (framework) => {
      const { url, asked } = await served(reportHtml(anAssessment(framework), aboutArchive()));
      const { page, complaints } = await opened();
      await page.goto(url);
      expect(await page.textContent('h1')).toMatch(/: production$/);
      for (const format of PAPERS) {
        const pdf = await page.pdf({ format });
        const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g) ?? [];
        expect(pages.length).toBeGreaterThanOrEqual(1);
        expect(pages.length).toBeLessThanOrEqual(3);
      }
      expect(asked.filter((path) => path !== '/favicon.ico')).toEqual(['/']);
      expect(complaints).toEqual([]);
    },
  );

  test('is readable in light and in dark, and fits a narrow screen', async () => {
    const { url } = await served(reportHtml(anAssessment(), aboutArchive()));
    const { page } = await opened({ viewport: { width: 360, height: 800 }, isMobile: true });
    await page.goto(url);
    expect(await page.textContent('h1')).toMatch(/: production$/);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const selector of ['h1', '.quiet', 'th', '.fail', '.pass', '.open']) {
        const found = await page.evaluate<number>(`(${contrast})(${JSON.stringify(selector)})`);
        expect(found, `${selector} in ${colorScheme}`).toBeGreaterThan(4.5);
      }
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  });

  test('shows hostile names as text: no script runs, and no element comes of them', async () => {
    const { page, complaints } = await opened();
    for (const name of HOSTILE_NAMES) {
      const { url, asked } = await served(reportHtml(anAssessment('soc2', { name }), aboutArchive({ name })));
      await page.goto(url);
      expect(await page.locator('h2').count()).toBe(6);
      expect(await page.locator('script, img, a, iframe, object, form').count()).toBe(0);
      expect(asked.filter((path) => path !== '/favicon.ico')).toEqual(['/']);
      expect(complaints, name).toEqual([]);
    }
  });
});

/** The contrast of an element's text to the page, as WCAG 2.2 defines it. Runs in the browser. */
const contrast = `(selector) => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((part) => Number(part) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [one, other] = [getComputedStyle(document.querySelector(selector)).color, getComputedStyle(document.body).backgroundColor]
    .map(light).sort((a, b) => b - a);
  return (one + 0.05) / (other + 0.05);
}`;
