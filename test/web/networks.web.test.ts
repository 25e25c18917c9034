import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { webAndDatabase } from '../kits/http/network-setup.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { member, ownPassword, PASSWORD } from '../kits/web/page-people.ts';
import { tabTo } from '../kits/web/tab-to.ts';

describe.skipIf(!hasBrowser)('networks on the dashboard', () => {
  let browser: Browser;
  let harness: Harness;
  let own: { token: string; workspace: string };
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness()]);
    const { workspace } = await webAndDatabase(harness);
    own = { workspace, token: await ownPassword(harness) };
    await member(harness, own, 'vera', 'viewer');
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  const specOf = async (name: string) => (await harness.api('GET', `/api/v1/networks/${name}`, own)).body.spec;

  test('a network is made and deleted by keyboard alone, and wrong addresses say what is needed', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/networks');
    await dashboard.signIn('admin', PASSWORD);
    await tabTo(page, page.getByRole('link', { name: 'New network' }));
    await page.keyboard.press('Enter');
    const made = page.getByRole('region', { name: 'New network' });
    await tabTo(page, made.getByLabel(/^Name/));
    await page.keyboard.type('lab');
    await tabTo(page, made.getByLabel(/^Addresses/));
    await page.keyboard.type('10.97.0.1/24');
    await made.locator('.fault').filter({ hasText: 'The block must begin at its first address' }).waitFor();
    for (let count = 0; count < '1/24'.length; count += 1) await page.keyboard.press('Backspace');
    await page.keyboard.type('0/24');
    const save = made.getByRole('button', { name: 'Save lab' });
    await expect.poll(() => save.isEnabled()).toBe(true);
    await tabTo(page, save);
    await page.keyboard.press('Enter');
    const shown = page.getByRole('article', { name: 'lab' });
    await shown.getByText('Addresses in use').waitFor();
    await shown.getByText('0 of 254', { exact: true }).waitFor();
    expect(await specOf('lab')).toEqual({ cidr: '10.97.0.0/24', mtu: 1280, defaultAction: 'DENY' });

    await tabTo(page, shown.getByRole('button', { name: 'Delete lab' }));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('dialog').getByRole('textbox'));
    await page.keyboard.type('lab');
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'lab is deleted.' }).waitFor();
    await page.getByRole('link', { name: 'lab' }).waitFor({ state: 'detached' });
    expect(dashboard.complaints).toEqual([]);
  });

  test('what closing a network would cut is shown before it is saved', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/networks');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('link', { name: 'default' }).click();
    const shown = page.getByRole('article', { name: 'default' });
    await shown.getByText('It cannot be deleted').waitFor();
    await shown.getByText('Edit network').click();
    await shown.getByLabel('Where no policy applies').selectOption('DENY');
    const effect = page.getByRole('region', { name: 'Effect preview' });
    await effect.getByRole('region', { name: 'Closes' }).getByText('12 pairs').waitFor();
    await effect.getByText('critical risk').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await shown.getByRole('button', { name: 'Save default' }).click();
    await page.getByRole('status').filter({ hasText: 'default is saved.' }).waitFor();
    expect(await specOf('default')).toMatchObject({ defaultAction: 'DENY' });
    await page.getByRole('table').getByText('closed').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('a viewer sees networks of now and of then, and nothing to change them with', async () => {
    // What is written within this millisecond is not before it.
    const before = new Date(Date.now() - 1).toISOString();
    await harness.api('POST', '/api/v1/networks', { ...own, body: { name: 'later', spec: { cidr: '10.98.0.0/24' } } });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/networks/later');
    await dashboard.signIn('vera', PASSWORD);
    await page.getByRole('article', { name: 'later' }).waitFor();
    expect(await page.getByText('Edit network').count()).toBe(0);
    expect(
      await page
        .getByRole('main')
        .getByRole('button', { name: /Delete/ })
        .count(),
    ).toBe(0);
    expect(await page.getByRole('link', { name: 'New network' }).count()).toBe(0);
    await dashboard.go(`prod/networks/later?at=${before}`);
    await page.getByText('The network later did not exist then.').waitFor();
    await harness.api('DELETE', '/api/v1/networks/later', own);
    expect(dashboard.complaints).toEqual([]);
  });
});
