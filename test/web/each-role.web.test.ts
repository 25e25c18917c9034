import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { addressesOf, namesIn } from '../kits/web/page-addresses.ts';
import { PASSWORD } from '../kits/web/page-people.ts';
import { NOW, PEOPLE, type SeededNetwork, seededNetwork } from '../kits/web/seeded-network.ts';
import { walk } from '../kits/web/walk.ts';
import { withholdWrites } from '../kits/web/withheld.ts';

/** All pages on a machine with other work. */
const WALK_MS = 1_200_000;
const LINKS = `[...document.querySelectorAll('main a[href^="#/"]')].map((link) => link.getAttribute('href'))`;

/** Who administers the installation is offered everything: every-page.web.test.ts. */
describe.skipIf(!hasBrowser)('each role on every page', () => {
  let browser: Browser;
  let network: SeededNetwork;
  beforeAll(async () => {
    [browser, network] = await Promise.all([launchBrowser(), seededNetwork()]);
  });
  afterAll(async () => {
    await browser.close();
    await network[Symbol.asyncDispose]();
  });

  test.each(Object.entries(PEOPLE) as [keyof typeof PEOPLE, (typeof PEOPLE)[keyof typeof PEOPLE]][])(
    '%s, of the role %s, is offered nothing that would be refused',
    { timeout: WALK_MS },
    async (username, role) => {
      await using dashboard = await openDashboard(browser, network, { now: NOW });
      const { page, complaints } = dashboard;
      await dashboard.signIn(username, PASSWORD);
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      const refused = await withholdWrites(page, role);
      const walked = { addresses: Object.values(addressesOf(network)).flat(), names: namesIn(network) };
      const linked = new Set<string>();
      const withoutPage = new Set<string>();
      const shown = new Set<string>();
      for await (const { address } of walk(dashboard, { ...walked, skipsSorting: true })) {
        for (const href of await page.evaluate<string[]>(LINKS)) linked.add(pageOf(href.replace(/^#\/prod\//, '')));
        const isNone = (await page.getByRole('heading', { name: 'No such page' }).count()) > 0;
        (isNone ? withoutPage : shown).add(pageOf(address));
      }
      expect([...complaints, ...refused]).toEqual([]);
      expect([...linked].filter((name) => withoutPage.has(name))).toEqual([]);
      expect(shown).toContain('peers');
    },
  );
});

/** The first part of an address below the workspace. */
function pageOf(address: string): string {
  return address.split(/[/?]/, 1)[0] ?? '';
}
