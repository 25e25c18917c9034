import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
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

  /** Somebody on Home, in a network with web-1, web-2, db-1 and laptop. */
  async function onHome() {
    const harness = await startHarness();
    onTestFinished(() => harness[Symbol.asyncDispose]());
    const { token } = await webAndDatabase(harness);
    const body = { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD };
    await harness.api('PUT', '/api/v1/users/me/password', { token, body });
    const dashboard = await openDashboard(browser, harness);
    onTestFinished(() => dashboard[Symbol.asyncDispose]());
    await dashboard.signIn('admin', OWN_PASSWORD);
    await dashboard.page.getByRole('heading', { name: 'Home' }).waitFor();
    return dashboard;
  }

  test('finds pages, peers and pairs, by keyboard alone', async () => {
    const { page, complaints } = await onHome();
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
    await list.getByRole('option', { name: /^Review Page/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Review' }).waitFor();

    await page.keyboard.press('Control+k');
    await page.keyboard.type('nobody-has-this-name');
    await page.getByText('Nothing has this name.').waitFor();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  test('offers the history first for a question, and a change first for a sentence', async () => {
    const { page, complaints } = await onHome();
    const options = page.getByRole('listbox').getByRole('option');
    for (const [text, first, second] of [
      ['who could reach db-1 yesterday', 'Ask the history', 'Plan a change'],
      ['is db-1 reachable today?', 'Ask the history', 'Plan a change'],
      ['let web-1 reach db-1', 'Plan a change', 'Ask the history'],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(text);
      const offered = [expect.stringContaining(`${first}: ${text}`), expect.stringContaining(`${second}: ${text}`)];
      await expect.poll(() => options.allTextContents()).toEqual(offered);
      await page.keyboard.press('Escape');
    }
    expect(complaints).toEqual([]);
  });

  test('finds a peer by its address, and does what is asked for by its name', async () => {
    const { page, complaints } = await onHome();
    const list = page.getByRole('listbox');
    const take = async (text: string, name: RegExp) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(text);
      await list.getByRole('option', { name }).waitFor();
      await list.getByRole('option', { name }).click();
      await list.waitFor({ state: 'detached' });
    };
    await take('10.96.0.2', /^web-2 \(10\.96\.0\.2\)/);
    await page.getByRole('heading', { name: 'web-2' }).waitFor();
    await take('dark', /^Dark mode/);
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    await take('new pol', /^New policy/);
    await page.getByRole('heading', { name: 'New policy' }).waitFor();
    await take('sign out', /^Sign out/);
    await page.getByLabel('User name').waitFor();
    expect(complaints).toEqual([]);
  });

  test.each([
    ['oauth', 'Signing in an MCP client'],
    ['backup', 'Backups · Reliability: what can be lost, and how it comes back'],
    ['github', 'A job of GitHub Actions · Workloads without a secret'],
    ['readme', 'Mesh'],
  ])('finds documentation by its name, headings and first words: %s', async (text, title) => {
    const { page, complaints } = await onHome();
    await page.keyboard.press('Control+k');
    await page.keyboard.type(text);
    const list = page.getByRole('listbox');
    await list.getByRole('option', { name: `${title} Documentation`, exact: true }).waitFor();
    expect(await list.getByRole('option').count()).toBeLessThanOrEqual(12);
    expect(complaints).toEqual([]);
  });

  test('leads nowhere by what was found for another text', async () => {
    const { page, complaints } = await onHome();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('web');
    const option = (name: RegExp) => page.getByRole('listbox').getByRole('option', { name });
    await option(/^web-1/).waitFor();
    const here = page.url();
    const read = Promise.withResolvers<void>();
    await page.route('**/api/v1/peers?prefix=**', async (route) => {
      await read.promise;
      await route.continue();
    });
    await page.keyboard.press('Control+a');
    await page.keyboard.type('laptop');
    await page.keyboard.press('Enter');
    expect([await option(/./).allTextContents(), page.url()]).toEqual([[], here]);
    read.resolve();
    await option(/^laptop/).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'laptop' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
