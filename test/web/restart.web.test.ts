import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { webAndDatabase } from '../kits/http/network-setup.ts';
import { freshKey } from '../kits/plane/devices.ts';
import { freePort } from '../kits/servers/free-port.ts';
import { hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';

const OWN_PASSWORD = 'a password of my own 42';

describe.skipIf(!hasBrowser)('a control plane that is restarted under an open page', () => {
  let browser: Browser;
  let directory: string;
  beforeAll(async () => {
    browser = await launchBrowser();
    directory = mkdtempSync(path.join(tmpdir(), 'mesh-'));
  });
  afterAll(async () => {
    await browser.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test('is said to be lost, is found again with the same session, and what changed meanwhile is shown', async () => {
    const env = { MESH_LISTEN: `127.0.0.1:${await freePort()}` };
    const before = await startHarness({ directory, env });
    const { token, workspace } = await webAndDatabase(before);
    const passwords = { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD };
    await before.api('PUT', '/api/v1/users/me/password', { token, body: passwords });
    await using dashboard = await openDashboard(browser, before);
    const { page } = dashboard;
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page.getByRole('link', { name: 'Network', exact: true }).click();
    await page.getByRole('link', { name: 'web-1' }).waitFor();
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();

    await before.stop();
    await page.getByRole('status').filter({ hasText: 'connection lost' }).waitFor();
    await page.getByRole('button', { name: 'Search or go to' }).click();
    await page.getByText('Not everything could be searched').waitFor();
    await page.getByRole('option', { name: /^Review/ }).click();
    await page.getByRole('alert').filter({ hasText: 'This page could not be read' }).waitFor();
    await page.getByRole('link', { name: 'Network', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'The control plane does not answer' }).first().waitFor();

    await using after = await startHarness({ directory, env });
    const own = { token: await after.login('admin', OWN_PASSWORD), workspace };
    const { body: join } = await after.api('POST', '/api/v1/token/generate', {
      ...own,
      body: { name: 'join', expiry: '' },
    });
    const device = { token: join.token, name: 'build-7', publicKey: freshKey().publicKey };
    await after.api('POST', '/api/v1/devices/register', { body: device });
    await page.getByRole('link', { name: 'build-7' }).waitFor();
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    await page.getByRole('alert').first().waitFor({ state: 'detached' });
    expect(dashboard.complaints).toEqual([]);
  });
});
