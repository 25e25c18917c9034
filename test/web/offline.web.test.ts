import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinDevice } from '../kits/http/network-setup.ts';
import { type AgentsNetwork, startAgentsNetwork } from '../kits/web/agents-network.ts';
import { hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { PASSWORD } from '../kits/web/page-people.ts';
import { stillnessOf } from '../kits/web/walk.ts';

/** From when the browser is online again. */
const RECOVERY_MS = 5_000;

describe.skipIf(!hasBrowser)('a browser that was offline', () => {
  let browser: Browser;
  let network: AgentsNetwork;
  beforeAll(async () => {
    [browser, network] = await Promise.all([launchBrowser(), startAgentsNetwork()]);
  });
  afterAll(async () => {
    await browser.close();
    await network[Symbol.asyncDispose]();
  });

  test('says since when on each page, and has the state, the list and what failed again within 5 seconds of its return', async () => {
    await using dashboard = await openDashboard(browser, network);
    const { page } = dashboard;
    await dashboard.go('prod/audit');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('table').waitFor();
    await dashboard.go('prod/policies');
    await page.getByRole('heading', { name: 'Policies' }).waitFor();
    await dashboard.go('prod/peers');
    await page.getByRole('link', { name: 'web-1' }).waitFor();
    await page
      .getByRole('status')
      .filter({ hasText: /^live$/ })
      .waitFor();

    await page.context().setOffline(true);
    const since = page.getByText(/^Connection lost since \d\d:\d\d:\d\d\./);
    await since.waitFor();
    await page.getByRole('status').filter({ hasText: 'connection lost' }).waitFor();
    await page.getByRole('link', { name: 'web-1' }).waitFor();
    await joinDevice(network, network.own, 'meanwhile');
    // The log is read once, and not for each change.
    await dashboard.go('prod/audit');
    await page.getByRole('alert').filter({ hasText: 'Not reachable' }).first().waitFor();
    await since.waitFor();

    await dashboard.go('prod/policies');
    const alerts = page.getByRole('main').getByRole('alert').filter({ hasText: 'Not reachable' });
    await alerts.first().waitFor();
    await stillnessOf(page)();
    expect(await alerts.count()).toBe(1);
    await dashboard.go('prod/audit');
    await alerts.first().waitFor();

    await page.context().setOffline(false);
    await Promise.all([
      page
        .getByRole('status')
        .filter({ hasText: /^live$/ })
        .waitFor({ timeout: RECOVERY_MS }),
      page.getByRole('table').waitFor({ timeout: RECOVERY_MS }),
      page.getByRole('alert').first().waitFor({ state: 'detached', timeout: RECOVERY_MS }),
      since.waitFor({ state: 'detached', timeout: RECOVERY_MS }),
    ]);
    await dashboard.go('prod/peers');
    await page.getByRole('link', { name: 'meanwhile' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('shows what changed meanwhile on the page that stayed open', async () => {
    await using dashboard = await openDashboard(browser, network);
    const { page } = dashboard;
    await dashboard.go('prod/peers');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('link', { name: 'web-1' }).waitFor();
    await page
      .getByRole('status')
      .filter({ hasText: /^live$/ })
      .waitFor();
    await page.context().setOffline(true);
    await page.getByRole('status').filter({ hasText: 'connection lost' }).waitFor();
    await joinDevice(network, network.own, 'later');
    await page.context().setOffline(false);
    await page.getByRole('link', { name: 'later' }).waitFor({ timeout: RECOVERY_MS });
    expect(dashboard.complaints).toEqual([]);
  });

  test('a control plane that ends the stream of changes, or refuses it for a while, is no lost connection', async () => {
    await using dashboard = await openDashboard(browser, network);
    const { page } = dashboard;
    const answers = [
      { status: 200, contentType: 'text/event-stream', body: 'retry: 3000\n\nevent: end\ndata: {}\n\n' },
      { status: 429, contentType: 'application/problem+json', body: '{"code":"rate_limited"}' },
    ];
    await page.route('**/api/v1/events', (route) => {
      const answer = answers.shift();
      return answer ? route.fulfill(answer) : route.continue();
    });
    await page.evaluate(`new MutationObserver(() => {
      globalThis.saidLost ||= /connection lost/i.test(document.body.textContent);
    }).observe(document.body, { subtree: true, childList: true, characterData: true })`);
    await dashboard.go('prod/peers');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('link', { name: 'web-1' }).waitFor();
    await expect.poll(() => answers).toEqual([]);
    await page
      .getByRole('status')
      .filter({ hasText: /^live$/ })
      .waitFor();
    expect(await page.evaluate('globalThis.saidLost')).toBe(false);
    expect(dashboard.complaints).toEqual([]);
  });
});
