import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';

/** Gives the page an authenticator that verifies its person and is touched at once. */
async function plugIn(page: Page): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  } as const;
  await cdp.send('WebAuthn.addVirtualAuthenticator', { options });
}

describe.skipIf(!hasBrowser)('passkeys on the dashboard', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  test('one is added, signs in alone and beside the password, and is removed by itself', async () => {
    await using harness = await startHarness();
    await harness.workspace();
    const named = { url: harness.url.replace('127.0.0.1', 'localhost') };
    await using dashboard = await openDashboard(browser, named);
    const { page } = dashboard;
    await plugIn(page);
    await dashboard.signIn('admin', ADMIN_PASSWORD);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await dashboard.go('prod/settings/account');
    const other = page.getByRole('button', { name: /^End session/ });
    await other.first().waitFor();
    await page.getByText('Add a passkey').click();
    const form = page.locator('form').filter({ hasText: 'Name of the passkey' });
    await form.getByLabel('Name of the passkey').fill('This laptop');
    await form.getByLabel('Your password').fill(ADMIN_PASSWORD);
    await form.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('region', { name: 'Recovery codes' }).waitFor();
    await other.first().waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'I stored them' }).click();
    const listed = page.getByRole('list', { name: 'Passkeys' });
    await listed.getByText('This laptop').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    await dashboard.signOut();
    const alone = page.getByRole('button', { name: 'Sign in with a passkey' });
    await alone.waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await alone.click();
    await listed.waitFor();

    await dashboard.signOut();
    await dashboard.signIn('admin', ADMIN_PASSWORD);
    await page.getByLabel('Code of your second factor').waitFor();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await listed.getByText('Remove This laptop').click();
    await listed.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('Off. Your password alone signs you in.').waitFor();

    await dashboard.signOut();
    await alone.click();
    await page.getByRole('alert').filter({ hasText: 'This passkey signs nobody in here' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('are not offered under an IP address, and Settings say where to open the dashboard', async () => {
    await using harness = await startHarness();
    await harness.workspace();
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.signIn('admin', ADMIN_PASSWORD);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await dashboard.go('prod/settings/account');
    const { port } = new URL(harness.url);
    await page.getByText(`Open the dashboard at http://localhost:${port} to use one.`).waitFor();
    expect(await page.getByText('Add a passkey').count()).toBe(0);
    await dashboard.signOut();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });
});
