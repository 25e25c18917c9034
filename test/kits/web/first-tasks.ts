import { readFile } from 'node:fs/promises';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Dashboard, launchBrowser, openDashboard } from './dashboard.ts';
import { type Hand, handWith, type Tool } from './hand.ts';
import { PASSWORD } from './page-people.ts';
import { NOW, type SeededNetwork, seededNetwork } from './seeded-network.ts';

const MOST_PRESSES = 4;
const WAITING = 'Opens TCP 5432 from ci-1';

/** Somebody who has never been here has something to do, on Home, and does it in at most four clicks or keys. Registers tests. */
export function firstTasks(tool: Tool): void {
  let browser: Browser;
  let network: SeededNetwork;
  let dashboard: Dashboard;
  beforeAll(async () => {
    [browser, network] = await Promise.all([launchBrowser(), seededNetwork()]);
    dashboard = await openDashboard(browser, network, { now: NOW });
    await dashboard.signIn('admin', PASSWORD);
  });
  afterAll(async () => {
    await browser.close();
    await network[Symbol.asyncDispose]();
  });

  interface Place {
    readonly hand: Hand;
    readonly main: Locator;
    readonly dialog: Locator;
    /** To a section, and to one of its pages. */
    readonly go: (section: string, page?: string) => Promise<void>;
    /** Of the control plane, as its administrator. */
    readonly ask: (route: string) => Promise<{ readonly [field: string]: unknown }>;
  }

  const task = (title: string, run: (place: Place) => Promise<void>) =>
    test(title, async () => {
      const { page, complaints } = dashboard;
      await dashboard.go('prod/home');
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      await page.getByRole('heading', { name: 'Waiting for you' }).waitFor();
      const hand = handWith(tool, page);
      const side = page.getByRole('navigation', { name: 'Pages' });
      await run({
        hand,
        main: page.getByRole('main'),
        dialog: page.getByRole('dialog'),
        async go(section, name) {
          await hand.press(side.getByRole('link', { name: section, exact: true }));
          const tabs = page.getByRole('navigation', { name: section, exact: true });
          if (name !== undefined) await hand.press(tabs.getByRole('link', { name, exact: true }));
        },
        ask: async (route) => (await network.api('GET', `/api/v1/${route}`, await network.session())).body,
      });
      expect(hand.presses).toBeLessThanOrEqual(MOST_PRESSES);
      expect(complaints).toEqual([]);
    });

  task('seeing what changed last night', async ({ main, go }) => {
    await go('Time');
    const deleted = main.getByRole('listitem').filter({ hasText: 'support-access' });
    await deleted.getByText('olga', { exact: true }).waitFor();
    await deleted.getByText('Closes').first().waitFor();
  });

  task('finding who deleted a policy', async ({ hand, main, go }) => {
    await go('Audit');
    await hand.type(main.getByLabel('Name of what changed'), 'support-access', 'Enter');
    const entry = main.getByRole('row').filter({ hasText: /deleted/i });
    await entry.getByText('olga', { exact: true }).waitFor();
  });

  task('finding why one peer cannot reach another', async ({ hand, main, go }) => {
    await go('Network', 'Reachability');
    await hand.type(main.getByLabel('From', { exact: true }), 'web-1');
    await hand.type(main.getByLabel('To', { exact: true }), 'db-1', 'Enter');
    const answer = main.getByRole('region', { name: 'Answer: web-1 to db-1' });
    await answer.getByText('not reachable').first().waitFor();
    await answer.getByText('has ingress for this').waitFor();
    await answer.getByText('How to allow it').waitFor();
  });

  task('seeing who can reach the database', async ({ hand, main, go }) => {
    await go('Network', 'Reachability');
    await hand.type(main.getByLabel('To', { exact: true }), 'role=db', 'Enter');
    const answer = main.getByRole('region', { name: 'Answer: anyone to role=db' });
    await answer.getByText('api').first().waitFor();
  });

  task('approving the change of the agent', async ({ hand, main, ask }) => {
    await hand.press(main.getByRole('link', { name: WAITING }));
    await hand.press(main.getByRole('button', { name: /^Approve: / }));
    await expect.poll(() => ask(`workflows/${network.ids.waits}`)).toMatchObject({ status: 'executed' });
  });

  task('putting a change back', async ({ hand, main, dialog, go, ask }) => {
    await go('Time');
    const approved = main.getByRole('listitem').filter({ hasText: 'ci-to-db' });
    await hand.press(approved.getByRole('button', { name: /^Revert/ }));
    await hand.press(dialog.getByRole('button', { name: 'Send for approval' }));
    await dialog.waitFor({ state: 'detached' });
    const { items } = await ask('workflows?limit=1');
    expect(items).toMatchObject([{ status: expect.stringMatching(/pending|executed/) }]);
  });

  task('adding a laptop', async ({ hand, main, go }) => {
    await go('Network', 'Add a device');
    await hand.press(main.getByRole('button', { name: 'Create join token' }));
    const invitation = main.getByRole('region', { name: 'Join token device' });
    await invitation
      .getByText(/mesh-join-/)
      .first()
      .waitFor();
  });

  task('connecting an agent', async ({ hand, main, go, ask }) => {
    await go('Agents');
    await hand.press(main.getByRole('link', { name: 'Connect an agent' }));
    await hand.type(main.getByRole('textbox', { name: /^Name/ }), 'deploy-agent');
    await hand.press(main.getByRole('button', { name: 'Create token' }));
    await main.getByRole('region', { name: 'deploy-agent is ready to connect' }).waitFor();
    const { items } = await ask('agents');
    expect(items).toContainEqual(expect.objectContaining({ name: 'deploy-agent', phase: 'Active' }));
  });

  task('revoking an agent', async ({ hand, main, dialog, ask }) => {
    await hand.press(main.getByRole('link', { name: 'ops-agent' }));
    await hand.press(main.getByRole('button', { name: 'Revoke agent' }));
    // What ends with it, which a person reads before they confirm.
    await dialog.getByText(/^\d+: ops-agent/).waitFor();
    await hand.type(dialog.getByLabel('Type ops-agent to confirm'), 'ops-agent', 'Enter');
    await dialog.waitFor({ state: 'detached' });
    const { items } = await ask('agents?phase=Revoked');
    expect(items).toContainEqual(expect.objectContaining({ name: 'ops-agent' }));
  });

  task('assessing PCI DSS and taking the evidence away', async ({ hand, main, go }) => {
    await go('Compliance');
    await hand.press(main.getByText('Assess a period'));
    await hand.press(main.getByRole('button', { name: 'Assess PCI DSS' }));
    const archive = dashboard.page.waitForEvent('download');
    await hand.press(main.getByRole('button', { name: 'Download the evidence' }));
    const zip = await readFile(await (await archive).path());
    expect(zip.subarray(0, 2).toString()).toBe('PK');
  });
}
