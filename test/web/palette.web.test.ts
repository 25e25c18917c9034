import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { webAndDatabase } from '../kits/http/network-setup.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';

const OWN_PASSWORD = 'a password of my own 42';

describe.skipIf(!hasBrowser)('going somewhere by its name', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  test('finds pages, peers and pairs, by keyboard alone', async () => {
    await using harness = await startHarness();
    const { token } = await webAndDatabase(harness);
    const body = { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD };
    await harness.api('PUT', '/api/v1/users/me/password', { token, body });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page.getByRole('heading', { name: 'Home' }).waitFor();

    await page.keyboard.press('Control+k');
    const list = page.getByRole('listbox');
    await page.keyboard.type('web');
    await list.getByRole('option', { name: /^web-1/ }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'web-1' }).waitFor();
    expect(page.url()).toMatch(/#\/prod\/peers\/web-1$/);

    await page.getByRole('button', { name: 'Search or go to' }).click();
    await page.keyboard.type('revi');
    await list.getByRole('option', { name: /^Review/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Review' }).waitFor();

    await page.keyboard.press('Control+k');
    await page.keyboard.type('nobody-has-this-name');
    await page.getByText('Nothing has this name.').waitFor();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    expect(dashboard.complaints).toEqual([]);
  });
});
