import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FRAMEWORKS } from '../../core/compliance/frameworks.ts';
import { reportHtml } from '../../core/evidence/reports/report-html.ts';
import { hasBrowser, openBrowser } from '../kits/process/browser.ts';
import { aboutArchive, anAssessment, HOSTILE_NAMES } from '../kits/records/assessments.ts';

/** Inches. */
const PAPERS = { A4: { paperWidth: 8.27, paperHeight: 11.69 }, Letter: { paperWidth: 8.5, paperHeight: 11 } };

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
  test.each(FRAMEWORKS)(
    'of %s is shown and prints on one to three pages, with nothing fetched or refused',
    async (framework) => {
      const { url, asked } = await served(reportHtml(anAssessment(framework), aboutArchive()));
      await using page = await openBrowser();
      await page.open(url);
      await expect.poll(() => page.text('h1')).toMatch(/: production$/);
      for (const paper of Object.values(PAPERS)) {
        const { data } = await page.send('Page.printToPDF', { ...paper, printBackground: false });
        const pages =
          Buffer.from(data, 'base64')
            .toString('latin1')
            .match(/\/Type\s*\/Page\b/g) ?? [];
        expect(pages.length).toBeGreaterThanOrEqual(1);
        expect(pages.length).toBeLessThanOrEqual(3);
      }
      expect(asked.filter((path) => path !== '/favicon.ico')).toEqual(['/']);
      expect(page.complaints).toEqual([]);
    },
  );

  test('is readable in light and in dark, and fits a narrow screen', async () => {
    const { url } = await served(reportHtml(anAssessment(), aboutArchive()));
    await using page = await openBrowser();
    await page.open(url);
    await expect.poll(() => page.text('h1')).toMatch(/: production$/);
    for (const value of ['light', 'dark']) {
      await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
      for (const selector of ['h1', '.quiet', 'th', '.fail', '.pass', '.open']) {
        expect(await page.run(`(${contrast})(${JSON.stringify(selector)})`), `${selector} in ${value}`).toBeGreaterThan(
          4.5,
        );
      }
    }
    await page.send('Emulation.setDeviceMetricsOverride', {
      width: 360,
      height: 800,
      deviceScaleFactor: 1,
      mobile: true,
    });
    expect(await page.run('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  });

  test('shows hostile names as text: no script runs, and no element comes of them', async () => {
    await using page = await openBrowser();
    for (const name of HOSTILE_NAMES) {
      const { url, asked } = await served(reportHtml(anAssessment('soc2', { name }), aboutArchive({ name })));
      await page.open(url);
      await expect.poll(() => page.run('[location.href, document.readyState].join(" ")')).toBe(`${url} complete`);
      expect(await page.run('document.querySelectorAll("h2").length')).toBe(6);
      expect(await page.run('document.querySelectorAll("script, img, a, iframe, object, form").length')).toBe(0);
      expect(asked.filter((path) => path !== '/favicon.ico')).toEqual(['/']);
      expect(page.complaints, name).toEqual([]);
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
