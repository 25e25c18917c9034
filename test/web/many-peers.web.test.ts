import type { Browser, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { seedPeers } from '../kits/records/seed-peers.ts';
import { hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { ownPassword, PASSWORD } from '../kits/web/page-people.ts';

const PEERS = 5_000;
const ROLES = 50;
const ZONES = 7;
/** In one commit there is room for so many. */
const BATCH = 500;
const MOST_LINES = 2_000;

describe.skipIf(!hasBrowser)('a network of 5,000 peers on the dashboard', () => {
  let browser: Browser;
  let harness: Harness;
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness()]);
    const { workspace } = await harness.workspace();
    for (let from = 0; from < PEERS; from += BATCH) {
      const some = Array.from({ length: BATCH }, (_, n) => labelled(from + n));
      await seedPeers(harness.plane.services, workspace, Object.fromEntries(some));
    }
    await ownPassword(harness);
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  async function open(address: string) {
    const dashboard = await openDashboard(browser, harness);
    await dashboard.signIn('admin', PASSWORD);
    await dashboard.page.getByRole('heading', { name: 'Home' }).waitFor();
    await dashboard.go(address);
    return dashboard;
  }

  test('is listed whole, drawn as far as it is in sight, and searched', async () => {
    await using dashboard = await open('prod/peers?sort=Name&desc=');
    const { page } = dashboard;
    const table = page.locator(`table[aria-rowcount="${PEERS + 1}"]`);
    await table.getByRole('link', { name: 'node-999', exact: true }).waitFor();
    expect(await table.getByRole('row').count()).toBeLessThan(100);
    await page.getByRole('searchbox').fill('node-1234');
    await page.locator('table[aria-rowcount="2"]').getByRole('link', { name: 'node-1234' }).waitFor();
    expect(page.url()).toContain('node-1234');
    expect(dashboard.complaints).toEqual([]);
  });

  test('is read once: a search, an order and an opened peer ask for no list again', async () => {
    await using dashboard = await open('prod/home');
    const { page } = dashboard;
    const lists: string[] = [];
    let unanswered = 0;
    const isList = (request: Request) => /^\/api\/v1\/(?:paths\/)?peers$/.test(new URL(request.url()).pathname);
    page.on('request', (request) => {
      if (!isList(request)) return;
      lists.push(request.url());
      unanswered += 1;
    });
    page.on('requestfinished', (request) => {
      if (isList(request)) unanswered -= 1;
    });
    await dashboard.go('prod/peers');
    await page.locator(`table[aria-rowcount="${PEERS + 1}"]`).waitFor();
    await expect.poll(() => unanswered).toBe(0);
    const before = lists.length;
    expect(before).toBeGreaterThan(PEERS / 200);
    await page.getByRole('searchbox').pressSequentially('node-12');
    await page.getByRole('button', { name: 'Name' }).click();
    await page.getByRole('link', { name: 'node-12', exact: true }).click();
    await page.getByRole('article', { name: 'node-12', exact: true }).waitFor();
    expect(lists.slice(before)).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  });

  test('is a picture of its groups, and with a group opened of no more lines than can be told apart', async () => {
    await using dashboard = await open('prod/topology?by=role');
    const { page } = dashboard;
    await page.getByRole('img', { name: new RegExp(`^${ROLES} groups and peers`) }).waitFor();
    await dashboard.go('prod/topology?by=zone&expand=label+z0');
    await page.getByText('more, narrow it').waitFor();
    const name = (await page.getByRole('img', { name: /^\d+ groups and peers/ }).getAttribute('aria-label')) ?? '';
    const [, lines] = /and (\d+) lines/.exec(name) ?? [];
    expect(Number(lines)).toBeLessThanOrEqual(MOST_LINES);
    expect(Number(lines)).toBeGreaterThan(MOST_LINES / 2);
    expect(dashboard.complaints).toEqual([]);
  });
});

function labelled(number: number): readonly [string, Readonly<Record<string, string>>] {
  return [`node-${number}`, { role: `r${number % ROLES}`, zone: `z${number % ZONES}` }];
}
