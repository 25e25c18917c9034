import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PAGE_NAMES } from '../../web/src/pages/names.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { ownPassword, PASSWORD } from '../kits/web/page-people.ts';

describe.skipIf(!hasBrowser)('the documentation that the control plane serves', () => {
  let browser: Browser;
  let harness: Harness;
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness()]);
    await harness.workspace();
    await ownPassword(harness);
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  test.each(['/docs', '/docs/readme', '/docs/changelog', '/docs/oauth', '/docs/dashboard', '/docs/nothing'])(
    '%s is read by everyone, in both themes, on a phone and at a desk',
    async (route) => {
      await using dashboard = await openDashboard(browser, { url: harness.url });
      const { page, complaints } = dashboard;
      await page.goto(harness.url + route);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  test('leads from page to page and to headings without any script, in the theme of the system', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false, colorScheme: 'dark' });
    const page = await context.newPage();
    await page.goto(`${harness.url}/docs`);
    await page.getByRole('link', { name: 'Delegation: what agents may do' }).click();
    await page.getByRole('heading', { name: 'Delegation: what agents may do', level: 1 }).waitFor();
    await page.goto(`${harness.url}/docs/policy#isolation`);
    const heading = page.getByRole('heading', { name: 'Isolation', exact: true });
    await expect.poll(() => heading.evaluate('document.querySelector(":target")?.textContent')).toBe('Isolation');
    expect(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')).toBe('rgb(13, 15, 18)');
    await page.getByRole('link', { name: 'Documentation' }).click();
    await page.getByRole('heading', { name: 'All pages' }).waitFor();
    await context.close();
  });

  test('is linked by each page of the dashboard', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page, complaints } = dashboard;
    await dashboard.signIn('admin', PASSWORD);
    for (const [name, { docs }] of Object.entries(PAGE_NAMES)) {
      await dashboard.go(`prod/${name}`);
      await page.locator(`main a[href="${docs}"][target=_blank]`, { hasText: 'Documentation' }).waitFor();
    }
    expect(complaints).toEqual([]);
  });

  test('opens beside a page of the dashboard, from the menu and by its title, in the theme that was chosen', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page, complaints } = dashboard;
    await dashboard.go('prod/policies');
    await dashboard.signIn('admin', PASSWORD);
    const opened = async (open: () => Promise<unknown>, address: string, theme?: 'dark') => {
      const [beside] = await Promise.all([page.context().waitForEvent('page'), open()]);
      await beside.getByRole('heading', { level: 1 }).waitFor();
      expect(beside.url()).toBe(`${harness.url}${address}`);
      if (theme) await beside.locator(`html[data-theme=${theme}]`).waitFor();
      await beside.close();
    };
    const main = page.getByRole('main');
    await main.getByRole('heading', { name: 'Policies' }).waitFor();
    await opened(() => main.getByRole('link', { name: 'Documentation' }).click(), '/docs/policy#meshpolicy');

    const account = page.getByRole('button', { name: 'Account of admin' });
    const menu = page.getByRole('list', { name: 'Account' });
    await account.click();
    await menu.getByRole('button', { name: 'Theme: system' }).click();
    await menu.getByRole('button', { name: 'Theme: light' }).click();
    await opened(() => menu.getByRole('link', { name: 'Documentation' }).click(), '/docs', 'dark');

    await page.keyboard.press('Control+k');
    await page.keyboard.type('lost upd');
    await page.getByRole('option', { name: /^Lost updates.*Documentation$/ }).waitFor();
    await opened(() => page.keyboard.press('Enter'), '/docs/lost-updates');
    // The session, which lives as long as the page, is still there.
    await main.getByRole('heading', { name: 'Policies' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
