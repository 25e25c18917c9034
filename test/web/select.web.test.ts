import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { webAndDatabase } from '../kits/http/network-setup.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { ownPassword, PASSWORD } from '../kits/web/page-people.ts';
import { tabTo } from '../kits/web/tab-to.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';
const LONG = `long-${'x'.repeat(200)}`;
const NAMES = [HOSTILE, LONG, ...Array.from({ length: 5000 }, (_, index) => `person-${index}`)];
const MEMBERS = NAMES.map((username) => ({ username, role: 'operator', since: '2026-01-01T00:00:00.000Z' }));

describe.skipIf(!hasBrowser)('one of many names on the dashboard', () => {
  let browser: Browser;
  let harness: Harness;
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness()]);
    await webAndDatabase(harness);
    await ownPassword(harness);
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  async function openApprovers() {
    const dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await page.route('**/members?*', (route) => route.fulfill({ json: { items: MEMBERS } }));
    await dashboard.go(
      'prod/change?intent=let%20the%20web%20servers%20reach%20the%20database%20on%20port%205432%20and%20nobody%20else',
    );
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('button', { name: 'Preview' }).click();
    const field = page.getByRole('combobox', { name: 'Approver' });
    await field.waitFor();
    const options = page.getByRole('listbox', { name: 'Approver' }).getByRole('option');
    return { ...dashboard, field, options };
  }

  test('keys open it, find one of thousands by a part of its name and choose it; Escape and leaving it change nothing', async () => {
    await using opened = await openApprovers();
    const { page, field, options } = opened;
    const before = await field.inputValue();
    await tabTo(page, field);
    expect(await options.count()).toBe(0);
    await page.keyboard.press('ArrowDown');
    expect(await options.count()).toBe(50);
    await page
      .getByRole('status')
      .filter({ hasText: /^50 of 5,00\d/ })
      .waitFor();
    await page.keyboard.type('person-49');
    await page.keyboard.press('ArrowDown');
    expect(await options.and(page.locator('[aria-selected="true"]')).textContent()).toBe('person-490');
    await page.keyboard.press('Escape');
    expect(await field.inputValue()).toBe(before);
    await page.keyboard.type('4999');
    expect(await options.allTextContents()).toEqual(['person-4999']);
    await page.keyboard.press('Enter');
    expect(await field.inputValue()).toBe('person-4999');
    await page.keyboard.type('nobody');
    await page.getByText('Nothing matches.').waitFor();
    await page.keyboard.press('Tab');
    expect(await field.inputValue()).toBe('person-4999');
    expect(opened.complaints).toEqual([]);
  });

  test('another workspace among thousands is opened by a part of its name, whenever the page itself comes', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: held, resolve: letCome } = Promise.withResolvers<void>();
    await page.route('**/assets/settings-*.js', async (route) => {
      ask();
      await held;
      await route.continue();
    });
    await page.route('**/api/v1/users/me', async (route) => {
      const response = await route.fetch();
      const me = await response.json();
      const workspaces = NAMES.map((name, index) => ({
        ...me.workspaces[0],
        id: `ws-${index}`,
        slug: `ws-${index}`,
        displayName: name,
      }));
      await route.fulfill({ response, json: { ...me, workspaces: [...me.workspaces, ...workspaces] } });
    });
    await dashboard.go('prod/settings');
    await dashboard.signIn('admin', PASSWORD);
    const field = page.getByRole('combobox', { name: 'Workspace' });
    await asked;
    await field.fill('person-4321');
    letCome();
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    const found = page.getByRole('listbox', { name: 'Workspace' }).getByRole('option');
    expect(await found.allTextContents()).toEqual(['person-4321 (ws-4323)']);
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/ws-4323\/settings$/);
  });

  test('hostile and long names are text that stays in its place, in both themes', async () => {
    await using opened = await openApprovers();
    const { page, field, options } = opened;
    await field.click();
    await options.filter({ hasText: HOSTILE }).waitFor();
    await options.filter({ hasText: LONG }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await options.filter({ hasText: HOSTILE }).click();
    expect(await field.inputValue()).toBe(HOSTILE);
    expect(opened.complaints).toEqual([]);
  });
});
