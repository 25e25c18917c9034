import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { member, ownPassword, PASSWORD } from '../kits/web/page-people.ts';
import { tabTo } from '../kits/web/tab-to.ts';

const SECTIONS = ['Home', 'Review', 'Network', 'Policies', 'Time', 'Agents', 'Compliance', 'Audit', 'Settings'];

/** Pairs of links and buttons of the dialog that lie on each other. */
const OVERLAPPING = `(() => {
  const controls = [...document.querySelectorAll('dialog a, dialog button')];
  const all = controls.map((one) => [one.textContent, one.getBoundingClientRect()]);
  return all.flatMap(([one, a], index) => all.slice(index + 1)
    .filter(([, b]) => a.top < b.bottom - 1 && b.top < a.bottom - 1 && a.left < b.right - 1 && b.left < a.right - 1)
    .map(([other]) => one + ' and ' + other));
})()`;

describe.skipIf(!hasBrowser)('the sections of the dashboard', () => {
  let browser: Browser;
  let harness: Harness;
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness()]);
    const { workspace } = await harness.workspace();
    const own = { workspace, token: await ownPassword(harness) };
    await member(harness, own, 'vera', 'viewer');
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  test('are nine; the pages of one are its tabs, at their addresses of old', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.signIn('admin', PASSWORD);
    const side = page.getByRole('navigation', { name: 'Pages' });
    await expect.poll(() => side.getByRole('link').allTextContents()).toEqual(SECTIONS);
    await side.getByRole('link', { name: 'Network' }).click();
    const tabs = page.getByRole('navigation', { name: 'Network' });
    const pages = ['Peers', 'Topology', 'Reachability', 'Networks', 'Add a device'];
    expect(await tabs.getByRole('link').allTextContents()).toEqual(pages);
    await tabs.getByRole('link', { name: 'Networks' }).click();
    await page.getByRole('heading', { name: 'Networks', exact: true }).waitFor();
    expect(page.url()).toMatch(/#\/prod\/networks$/);
    expect(await side.getByRole('link', { name: 'Network' }).getAttribute('aria-current')).toBe('page');
    await dashboard.go('prod/ask');
    await page.getByRole('heading', { name: 'Ask', exact: true }).waitFor();
    expect(await side.getByRole('link', { name: 'Time' }).getAttribute('aria-current')).toBe('page');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  });

  test('show a role its own pages alone', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.signIn('vera', PASSWORD);
    await page.getByRole('link', { name: 'Network' }).click();
    await page.getByRole('navigation', { name: 'Network' }).getByRole('link', { name: 'Topology' }).waitFor();
    for (const name of ['Add a device', 'New change', 'Compliance'])
      expect(await page.getByRole('link', { name, exact: true }).count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });

  test('leave theme, account and signing out to the menu of the person, by keyboard', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.signIn('admin', PASSWORD);
    await tabTo(page, page.getByRole('button', { name: 'Account of admin' }));
    await page.keyboard.press('Enter');
    const menu = page.getByRole('list', { name: 'Account' });
    await menu.getByRole('button', { name: /^Theme/ }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await tabTo(page, menu.getByRole('link', { name: 'Account and sessions' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Settings', exact: true }).waitFor();
    await menu.waitFor({ state: 'hidden' });
    await dashboard.signOut();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('stand at the foot of a narrow window, the others one step further', async () => {
    await using dashboard = await openDashboard(browser, harness, { width: 390 });
    const { page } = dashboard;
    await dashboard.signIn('admin', PASSWORD);
    const foot = page.getByRole('navigation', { name: 'Pages' });
    await expect.poll(() => foot.getByRole('link').allTextContents()).toEqual(['Home', 'Review', 'Network', 'Time']);
    await foot.getByRole('button', { name: 'More' }).click();
    const more = page.getByRole('dialog');
    await more.getByRole('link', { name: 'New change' }).waitFor();
    await more.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await page.evaluate(OVERLAPPING)).toEqual([]);
    await more.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('heading', { name: 'Audit', exact: true }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });
});
