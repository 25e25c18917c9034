import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { ownPassword, PASSWORD } from '../kits/web/page-people.ts';

const PRO = ['New change', 'Time', 'Ask', 'Compliance'];
const exact = true;

describe.skipIf(!hasBrowser)('the dashboard of the Community edition', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  test('says of each page of the Pro edition what it is and how to have it, once, and the others work', async () => {
    await using harness = await startHarness({ env: { MESH_EDITION: 'community' } });
    await harness.workspace();
    await ownPassword(harness);
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.signIn('admin', PASSWORD);
    const main = page.getByRole('main');
    await main.getByRole('region', { name: 'Setup' }).waitFor();
    for (const name of PRO) {
      await page.getByRole('link', { name, exact }).first().click();
      await main.getByRole('heading', { name, exact }).waitFor();
      await main.getByText('This page is part of the Pro edition').waitFor();
      expect(await main.getByRole('alert').count()).toBe(0);
    }
    await main.getByRole('link', { name: 'Back to Home' }).click();
    await page.getByRole('link', { name: 'Audit', exact }).click();
    await main.getByText('1 entry shown.').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });
});
