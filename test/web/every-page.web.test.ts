import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isLong } from '../kits/lab/privileged.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { HOSTILE_WORDS } from '../kits/web/network-words.ts';
import { addressesOf, namesIn } from '../kits/web/page-addresses.ts';
import { PASSWORD } from '../kits/web/page-people.ts';
import { NOW, PEOPLE, type SeededNetwork, seededNetwork } from '../kits/web/seeded-network.ts';
import { type Walked, walk } from '../kits/web/walk.ts';
import { withholdWrites } from '../kits/web/withheld.ts';

/** All pages on a machine with other work. */
const WALK_MS = 1_200_000;
/** Words that stand in YAML, in JSON or in a field. */
const QUOTED: ReadonlySet<string> = new Set(['annotation', 'question', 'lookedUp']);
const LINKS = `[...document.querySelectorAll('main a[href^="#/"]')].map((link) => link.getAttribute('href'))`;
/** The role that is offered least presses every button each time; all roles in the long run. */
const isThorough = (role: string) => isLong || role === 'viewer';
/** What a text became that was taken for markup or for a program. */
const ALIVE = `[
  ...(globalThis.ran ? ['a program ran'] : []),
  ...document.querySelectorAll('img, iframe, script:not([src^="/assets/"]), [onload], [onerror], a[href^="javascript:" i]'),
].map(String)`;

describe.skipIf(!hasBrowser)('every page, its details and dialogs', () => {
  let browser: Browser;
  let network: SeededNetwork;
  let walked: Walked;
  beforeAll(async () => {
    [browser, network] = await Promise.all([launchBrowser(), seededNetwork(HOSTILE_WORDS)]);
    walked = { addresses: Object.values(addressesOf(network)).flat(), names: namesIn(network) };
  });
  afterAll(async () => {
    await browser.close();
    await network[Symbol.asyncDispose]();
  });

  async function open(username: string) {
    const dashboard = await openDashboard(browser, network, { now: NOW });
    await dashboard.signIn(username, PASSWORD);
    await dashboard.page.getByRole('heading', { name: 'Home' }).waitFor();
    return dashboard;
  }

  test('hostile names stay text, nothing scrolls sideways, and axe finds no fault in both themes, from a phone to a wide screen', {
    timeout: WALK_MS,
  }, async () => {
    await using dashboard = await open('admin');
    const { page, complaints } = dashboard;
    const refused = await withholdWrites(page, 'platform_admin');
    const faults: string[] = [];
    const asTheyAre = Object.entries(HOSTILE_WORDS).filter(([name]) => !QUOTED.has(name));
    const unread = new Set(textsOf(Object.fromEntries(asTheyAre)));
    for await (const { address, button } of walk(dashboard, walked)) {
      const found = [...(await accessibilityFaults(page)), ...(await page.evaluate<string[]>(ALIVE))];
      faults.push(...found.map((fault) => `${address}${button ? `, ${button}` : ''}: ${fault}`));
      const shown = plain((await page.locator('body').textContent()) ?? '');
      for (const text of unread) if (shown.includes(plain(text))) unread.delete(text);
    }
    expect(faults).toEqual([]);
    expect([...complaints, ...refused]).toEqual([]);
    expect([...unread]).toEqual([]);
  });

  test.each(Object.entries(PEOPLE))(
    '%s, of the role %s, is offered nothing that would be refused, and hostile names stay text',
    {
      timeout: WALK_MS,
    },
    async (username, role) => {
      await using dashboard = await open(username);
      const { page, complaints } = dashboard;
      const refused = await withholdWrites(page, role);
      const linked = new Set<string>();
      const withoutPage = new Set<string>();
      const shown = new Set<string>();
      const faults: string[] = [];
      const how = { skipsSorting: true, pressesNothing: !isThorough(role) };
      for await (const { address } of walk(dashboard, { ...walked, ...how })) {
        faults.push(...(await page.evaluate<string[]>(ALIVE)).map((fault) => `${address}: ${fault}`));
        for (const href of await page.evaluate<string[]>(LINKS)) linked.add(pageOf(href.replace(/^#\/prod\//, '')));
        const isNone = (await page.getByRole('heading', { name: 'Not shown to your role' }).count()) > 0;
        (isNone ? withoutPage : shown).add(pageOf(address));
      }
      expect([...faults, ...complaints, ...refused]).toEqual([]);
      expect([...linked].filter((name) => withoutPage.has(name))).toEqual([]);
      expect(shown).toContain('peers');
    },
  );
});

/** Returns the first part of an address below the workspace. */
function pageOf(address: string): string {
  return address.split(/[/?]/, 1)[0] ?? '';
}

function textsOf(words: object): string[] {
  return Object.values(words).flatMap((value) => (typeof value === 'string' ? [value] : textsOf(value)));
}

/** Line ends become spaces where they are shown. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ');
}
