import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isLong } from '../kits/lab/privileged.ts';
import { type Dashboard, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { addressesOf } from '../kits/web/page-addresses.ts';
import { PASSWORD } from '../kits/web/page-people.ts';
import { NOW, type SeededNetwork, seededNetwork } from '../kits/web/seeded-network.ts';
import { stillnessOf } from '../kits/web/walk.ts';

/** All pages on a machine with other work. */
const WALK_MS = 1_200_000;
const UNFOLD = "for (const one of document.querySelectorAll('main details')) one.open = true";
const TRY_AGAIN = `[...document.querySelectorAll('main [role=alert] button')]
  .find((button) => button.textContent === 'Try again')?.click()`;
/** Each text of the page, folded or not, but for what failures say. */
const TEXTS = `(() => {
  const seen = [];
  const nodes = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) {
    const { data, parentElement } = nodes.currentNode;
    const text = data.trim();
    if (text !== '' && !parentElement.closest('[role=alert]')) seen.push(text);
  }
  return [...new Set(seen)];
})()`;

/** Stands where the name of an agent was not read. */
const AN_ID = /\bagt_[a-z0-9]+/;

const refusal = (status: number, title: string) => ({
  status,
  contentType: 'application/problem+json',
  body: JSON.stringify({ type: 'urn:mesh:problem:test', title, status, code: 'test', requestId: 'r_test' }),
});
const FAILURES: readonly ((route: Route) => Promise<void>)[] = [
  (route) => route.fulfill(refusal(503, 'Not ready')),
  (route) => route.abort(),
  (route) => route.fulfill(refusal(403, 'Not allowed')),
];

describe.skipIf(!hasBrowser)('a read that fails, on each page', () => {
  let browser: Browser;
  let network: SeededNetwork;
  beforeAll(async () => {
    [browser, network] = await Promise.all([launchBrowser(), seededNetwork()]);
  });
  afterAll(async () => {
    await browser.close();
    await network[Symbol.asyncDispose]();
  });

  async function open() {
    const dashboard = await openDashboard(browser, network, { now: NOW });
    await dashboard.signIn('admin', PASSWORD);
    await dashboard.page.getByRole('heading', { name: 'Home' }).waitFor();
    await dashboard.page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    const visits = visitsOf(dashboard);
    // The edition is asked for once; where it is not known, what a page reads is refused.
    await visits.arrive('ask');
    return { ...dashboard, ...visits };
  }

  test('is told with a way to try again, and shows nothing that was not read', { timeout: WALK_MS }, async () => {
    await using dashboard = await open();
    const { page, arrive, leave, still } = dashboard;
    const reads = readsOf(page);
    let failing: { readonly key: string; readonly fail: (route: Route) => Promise<void> } | undefined;
    await page.route('**/api/v1/**', (route) => {
      const { key, fail } = failing ?? {};
      return fail && key === keyOf(route.request()) ? fail(route) : route.fallback();
    });
    const faults: string[] = [];
    let turn = 0;
    for (const address of addresses()) {
      await leave(address);
      reads.clear();
      await arrive(address);
      const texts = new Set(await page.evaluate<string[]>(TEXTS));
      // The long run has each read fail, and each time one of each page does.
      const keys = [...reads];
      for (const key of isLong ? keys : keys.slice(turn % keys.length).slice(0, 1)) {
        await leave(address);
        const fail = FAILURES[turn++ % FAILURES.length] as (typeof FAILURES)[number];
        failing = { key, fail };
        await arrive(address);
        const retry = page.locator('main').getByRole('alert').getByRole('button', { name: 'Try again' });
        const others = (await page.evaluate<string[]>(TEXTS)).filter((text) => !texts.has(text) && !AN_ID.test(text));
        if (others.length > 0) faults.push(`${address}, without ${key}: shows ${JSON.stringify(others)}`);
        failing = undefined;
        const count = await retry.count();
        if (count === 0) faults.push(`${address}, without ${key}: no failure with a retry`);
        for (let left = count; left > 0; left = await retry.count()) {
          // A read that is tried again by itself may take the button away meanwhile.
          await page.evaluate(TRY_AGAIN);
          await still();
        }
        await page.evaluate(UNFOLD);
        await still();
        const again = new Set(await page.evaluate<string[]>(TEXTS));
        const missing = [...texts].filter((text) => !again.has(text));
        if (missing.length > 0) faults.push(`${address}, after ${key}: lacks ${JSON.stringify(missing)}`);
      }
    }
    expect(faults).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  });

  test('leaves what was shown before, and says as of when that is', { timeout: WALK_MS }, async () => {
    await using dashboard = await open();
    const { page, arrive, leave, still } = dashboard;
    let isFailing = false;
    await page.route('**/api/v1/**', (route) =>
      isFailing && keyOf(route.request()) ? route.fulfill(refusal(503, 'Not ready')) : route.fallback(),
    );
    const { token, workspace } = await network.session();
    const changeNetwork = async () => {
      const body = { name: 'changed', src: 'role=web', dst: 'role=db', port: 22, expect: 'unreachable' };
      const asked = page.waitForRequest((request) => request.url().includes('status=pending'));
      expect((await network.api('POST', '/api/v1/assertions', { token, workspace, body })).status).toBeLessThan(300);
      await asked;
    };
    const faults: string[] = [];
    const told = new Set<string>();
    for (const address of addresses()) {
      await leave(address);
      await arrive(address);
      const texts = await page.evaluate<string[]>(TEXTS);
      isFailing = true;
      await changeNetwork();
      await still();
      const after = new Set(await page.evaluate<string[]>(TEXTS));
      const missing = texts.filter((text) => !after.has(text));
      if (missing.length > 0) faults.push(`${address}: lacks ${JSON.stringify(missing)}`);
      for (const alert of await page.locator('main').getByRole('alert').allTextContents()) {
        told.add(address.split(/[/?]/, 1)[0] ?? '');
        if (!/Showing data as of \d\d:\d\d:\d\d\./.test(alert)) faults.push(`${address}: ${alert}`);
      }
      isFailing = false;
      await network.api('DELETE', '/api/v1/assertions/changed', { token, workspace, body: {} });
    }
    expect(faults).toEqual([]);
    expect([...told].sort()).toEqual(
      expect.arrayContaining([
        'agents',
        'home',
        'join',
        'networks',
        'peers',
        'policies',
        'reachability',
        'review',
        'topology',
      ]),
    );
    expect(dashboard.complaints).toEqual([]);
  });

  const addresses = () => Object.values(addressesOf(network)).flat();
});

/** Each address is come to from another page, so that all of it is read anew. */
function visitsOf({ page, go }: Pick<Dashboard, 'page' | 'go'>) {
  const still = stillnessOf(page);
  const goTo = async (address: string) => {
    await go(`prod/${address}`);
    await still();
    await page.evaluate(UNFOLD);
    await still();
  };
  return {
    still,
    arrive: goTo,
    leave: (address: string) => goTo(address === 'connect' ? 'settings/account' : 'connect'),
  };
}

interface Asked {
  method(): string;
  url(): string;
}

/** Returns the path of a page's read; undefined for the event stream and all else. */
function keyOf(request: Asked): string | undefined {
  const { pathname, search } = new URL(request.url());
  const isRead = request.method() === 'GET' && pathname.startsWith('/api/v1/') && !pathname.endsWith('/events');
  return isRead ? pathname + search : undefined;
}

function readsOf(page: Page): Set<string> {
  const reads = new Set<string>();
  page.on('request', (request) => {
    const key = keyOf(request);
    if (key) reads.add(key);
  });
  return reads;
}
