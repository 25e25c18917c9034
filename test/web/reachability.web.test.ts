import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { HOSTILE, OWN_PASSWORD, shopNetwork, VIEWER_PASSWORD } from '../kits/web/shop-network.ts';

describe.skipIf(!hasBrowser)('reachability on the dashboard', () => {
  let browser: Browser;
  let harness: Harness;
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness()]);
    await shopNetwork(harness);
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  test('a name that is not there offers the near ones, each a link to the same question', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/reachability?src=laptop-ana&dst=web-1');
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page.getByRole('alert').getByRole('link', { name: 'laptop-anna' }).click();
    await page.getByRole('region', { name: 'Answer: laptop-anna to web-1' }).getByText('reachable').first().waitFor();
    await dashboard.go('prod/peers/laptop-ana');
    await page.getByRole('alert').getByRole('link', { name: 'laptop-anna' }).click();
    await page.getByRole('article', { name: 'laptop-anna' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('what a device has to do before it is reached leads to the device', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/reachability?src=web-1&dst=build-1');
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page
      .getByRole('listitem')
      .filter({ hasText: 'build-1 is offline' })
      .getByRole('link', { name: 'Open build-1' })
      .click();
    await page.getByRole('article', { name: 'build-1' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('an administrator goes from the matrix to the pairs, checks one pair, and asserts it', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/reachability?by=role');
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page.getByText('8 groups: 122 of 342 ordered pairs of peers are reachable.').waitFor();
    await page.getByRole('rowheader', { name: HOSTILE }).waitFor();
    await page.getByLabel('web to db: nothing').waitFor();

    await page.getByRole('link', { name: 'web to api: 24 of 24 pairs, TCP 8080' }).click();
    const answer = page.getByRole('region', { name: 'Answer: ' });
    await answer.getByText('24 of 24 pairs are reachable on some ports.').waitFor();
    await answer.getByText('role=web (6 peers)').waitFor();

    await page.getByRole('combobox', { name: 'From', exact: true }).fill('web-1');
    await page.getByRole('combobox', { name: 'To', exact: true }).fill('api-1');
    await page.getByLabel('Port').fill('8080');
    await page.getByRole('button', { name: 'Check' }).click();
    await answer.getByText('web-1 may reach api-1 on TCP port 8080.').waitFor();
    await answer.getByText('direct', { exact: true }).waitFor();
    await answer.getByText('api-in, rule 0').waitFor();
    expect(page.url()).toContain('src=web-1&dst=api-1&port=8080');

    await answer.getByRole('button', { name: 'Assert this' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create assertion' }).click();
    await page.getByRole('status').filter({ hasText: 'web-1-to-api-1-8080 is created' }).waitFor();
    const assertions = page.getByRole('region', { name: 'Assertions' });
    await assertions.getByText('web-1 must reach api-1 on TCP 8080').waitFor();
    await assertions.getByRole('button', { name: 'Delete web-1-to-api-1-8080' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete assertion' }).click();
    await assertions.getByText('web-1 must reach api-1').waitFor({ state: 'detached' });

    await answer.getByRole('link', { name: 'Other direction' }).click();
    await answer.getByText('No policy allows api-1 → web-1.').waitFor();
    await answer.getByText('A policy change that opens 1 pair').waitFor();
    await answer.getByRole('button', { name: 'Plan this change' }).click();
    await page.getByRole('heading', { name: 'New change' }).waitFor();
    await page.getByText('The effect matches what is listed below.').waitFor();
    await page.getByText('Mesh, as a suggestion of Reachability').waitFor();
    await page.getByRole('list', { name: 'Demands' }).getByText('api-1').waitFor();
    await page.getByRole('list', { name: 'Planning' }).getByText('Computing: done').waitFor();
    await page.getByRole('heading', { name: /^Opens TCP 8080 from api-1 to web-1; closes nothing/ }).waitFor();
    await page.getByRole('button', { name: 'Send for approval', exact: true }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('with keys alone one finds who reaches a peer, and sees the peers of a group one by one', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/reachability?by=role');
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page.getByRole('combobox', { name: 'To', exact: true }).focus();
    await page.keyboard.type('db-1');
    await page.keyboard.press('Enter');
    const answer = page.getByRole('region', { name: 'Answer: ' });
    await answer.getByText('4 of 18 pairs are reachable.').waitFor();
    await answer.getByText('role=api (4 peers)').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('anyone →to db-1');

    const expand = page.getByRole('button', { name: 'api', exact: true });
    await expand.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'api-3 to db: 2 of 2 pairs, TCP 5432' }).waitFor();
    await page.getByRole('button', { name: 'Collapse' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'api to db: 8 of 8 pairs, TCP 5432' }).waitFor();

    await page.getByLabel('Only peers with').focus();
    await page.keyboard.type('env=test');
    await page.keyboard.press('Enter');
    await page.getByText('2 groups: 0 of 6 ordered pairs of peers are reachable.').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('what is not there, or cannot be, is told with what to do', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/reachability?src=web-9&dst=db-1');
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page.getByRole('alert').filter({ hasText: 'web-9' }).waitFor();
    await dashboard.go('prod/reachability?src=web-1&dst=db-1&port=99999');
    await page.getByRole('alert').filter({ hasText: 'port' }).first().waitFor();
    await dashboard.go('prod/reachability?label=nonsense');
    await page.getByRole('alert').filter({ hasText: 'Write key=value' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('a viewer sees the same, now and as it was, and nothing that would be refused', async () => {
    const before = formatInstant(Date.now());
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/reachability?src=web-1&dst=api-1&by=role');
    await dashboard.signIn('vera', VIEWER_PASSWORD);
    const answer = page.getByRole('region', { name: 'Answer: ' });
    await answer.getByText('web-1 may reach api-1 only in part').waitFor();
    await page.getByText('role=web must not reach role=db').waitFor();
    expect(await page.getByRole('button', { name: /^(Assert this|Delete )/ }).count()).toBe(0);

    await dashboard.go(`prod/reachability?src=web-1&dst=api-1&by=role&at=${encodeURIComponent(before)}`);
    await answer.getByText('not recorded: paths are known only for now').waitFor();
    await page.getByText('These are the assertions of now').waitFor();
    await page.getByText('8 groups: 122 of 342').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });
});
