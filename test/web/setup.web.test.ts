import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { joinDevice } from '../kits/http/network-setup.ts';
import { enrol } from '../kits/plane/devices.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { handWith, type Tool } from '../kits/web/hand.ts';
import { member, ownPassword, PASSWORD } from '../kits/web/page-people.ts';
import { tabTo } from '../kits/web/tab-to.ts';

/** Of app.initAdmins, and not yet changed. */
const INITIAL_PASSWORD = 'given to the admin';
/** From the first password to the first agent, without what is typed. */
const MOST_PRESSES = 7;
const TOOLS: readonly Tool[] = ['mouse', 'keyboard'];

describe.skipIf(!hasBrowser)('the setup on the dashboard', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  test.each(TOOLS)('leads from the first password to the first agent in seven presses, by %s', async (tool) => {
    const initAdmins = [{ username: 'admin', password: INITIAL_PASSWORD }];
    await using harness = await startHarness({ config: { app: { initAdmins } } });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    const hand = handWith(tool, page);
    const main = page.getByRole('main');
    const isAt = (step: string) => main.locator('[aria-current=step]').filter({ hasText: step }).waitFor();
    const isDone = (step: string) =>
      main
        .getByRole('listitem')
        .filter({ hasText: `${step}, done` })
        .waitFor();
    const press = (name: string) => hand.press(main.getByRole('button', { name }));
    const goOn = () => hand.press(main.getByRole('link', { name: 'Continue' }));

    await dashboard.signIn('admin', INITIAL_PASSWORD);
    // The initial password was just typed, and is not asked for again.
    await page.getByLabel(/^New password/).fill(PASSWORD);
    await page.getByLabel('Repeat new password').fill(PASSWORD);
    await press('Change password');
    await isAt('Create a workspace');
    await isDone('Choose a password');
    await press('Create workspace');

    await isAt('Add a device');
    await press('Create join token');
    const commands = main.getByRole('figure', { name: 'Run on the device' }).locator('pre');
    const [, token = ''] = /token=([\w-]+)/.exec((await commands.textContent()) ?? '') ?? [];
    await enrol(harness, token, 'ada-laptop');
    await main.getByRole('link', { name: 'ada-laptop' }).waitFor();
    await isDone('Add a device');
    // The token stays in sight until the person goes on.
    await isAt('Add a device');
    await goOn();

    await isAt('Write a policy');
    await main.getByRole('button', { name: 'Save first-policy', disabled: false }).waitFor();
    // The example closes nothing: no warning, and nothing that was typed to discard.
    const preview = main.getByRole('region', { name: 'Effect preview' });
    await preview.getByText('low risk').waitFor();
    expect(await preview.locator('.warn').count()).toBe(0);
    expect(await main.getByRole('button', { name: 'Discard changes' }).count()).toBe(0);
    await press('Save first-policy');
    await isDone('Write a policy');
    await goOn();

    await isAt('Connect an agent');
    await press('Create token');
    await isDone('Connect an agent');
    await main.getByText('Waiting for ops-agent.').waitFor();
    expect(hand.presses).toBe(MOST_PRESSES);
    await hand.press(main.getByRole('link', { name: 'Finish setup' }));
    await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
    await page.getByRole('status').filter({ hasText: 'The setup is done.' }).waitFor();
    await main.getByRole('link', { name: /^Peers online/ }).waitFor();
    expect(await main.getByRole('region', { name: 'Setup' }).count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });

  describe('of a workspace', () => {
    let harness: Harness;
    let own: { token: string; workspace: string };
    beforeAll(async () => {
      harness = await startHarness();
      const { workspace } = await harness.workspace();
      own = { workspace, token: await ownPassword(harness) };
      await member(harness, own, 'vera', 'viewer');
    });
    afterAll(() => harness[Symbol.asyncDispose]());

    test('is left at any time and found again on Home, until it is put away', async () => {
      await using dashboard = await openDashboard(browser, harness);
      const { page } = dashboard;
      const main = page.getByRole('main');
      await dashboard.signIn('admin', PASSWORD);
      const line = main.getByRole('region', { name: 'Setup' });
      await line.getByText('Setup: 2 of 5 steps done. Next: add a device.').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await line.getByRole('link', { name: 'Continue setup' }).click();
      await main.getByRole('button', { name: 'Create join token' }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await main.getByRole('link', { name: 'Skip this step' }).click();
      await main.getByRole('heading', { name: 'Write a policy' }).waitFor();
      await main.getByText('A policy says who reaches a peer, and there is none yet.').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await main.getByRole('link', { name: 'Connect an agent' }).click();
      await main.getByRole('heading', { name: 'Connect an agent' }).waitFor();
      // What was an example alone is not kept as somebody's draft.
      await dashboard.go('prod/policies?view=new');
      await main.getByRole('heading', { name: 'New policy' }).waitFor();
      expect(await main.getByRole('textbox', { name: /^Name/ }).inputValue()).toBe('');

      await dashboard.go('prod/home');
      await tabTo(page, line.getByRole('button', { name: 'Hide the setup' }));
      await page.keyboard.press('Enter');
      await line.waitFor({ state: 'detached' });
      await page.reload();
      await dashboard.signIn('admin', PASSWORD);
      await main.getByRole('link', { name: /^Peers online/ }).waitFor();
      expect(await line.count()).toBe(0);
      await page.keyboard.press('Control+k');
      await page.keyboard.type('setup');
      await page
        .getByRole('option', { name: /^Setup/ })
        .first()
        .waitFor();
      await page.keyboard.press('Enter');
      await main.getByRole('heading', { name: 'Add a device' }).waitFor();
      expect(dashboard.complaints).toEqual([]);
    });

    test('is known from what there is: an agent that was made elsewhere is a step that is done', async () => {
      await harness.api('POST', '/api/v1/agents', { ...own, body: { name: 'made-elsewhere' } });
      await using dashboard = await openDashboard(browser, harness);
      await dashboard.signIn('admin', PASSWORD);
      const main = dashboard.page.getByRole('main');
      await main.getByText('Setup: 3 of 5 steps done. Next: add a device.').waitFor();
      expect(dashboard.complaints).toEqual([]);
    });

    test('is not offered to who may set nothing up, nor while the past is looked at', async () => {
      await using dashboard = await openDashboard(browser, harness);
      const { page } = dashboard;
      const main = page.getByRole('main');
      await dashboard.signIn('vera', PASSWORD);
      await main.getByRole('link', { name: /^Peers online/ }).waitFor();
      expect(await main.getByRole('region', { name: 'Setup' }).count()).toBe(0);
      await dashboard.go('prod/setup');
      await main.getByRole('heading', { name: 'Not shown to your role' }).waitFor();

      await using other = await openDashboard(browser, harness);
      await other.go(`prod/home?at=${new Date().toISOString()}`);
      await other.signIn('admin', PASSWORD);
      await other.page.getByRole('link', { name: /^Peers online/ }).waitFor();
      expect(await other.page.getByRole('region', { name: 'Setup' }).count()).toBe(0);
      expect([...dashboard.complaints, ...other.complaints]).toEqual([]);
    });

    test('offers a first policy of a peer that there is, in the form of the page of policies', async () => {
      await joinDevice(harness, own, 'ada-laptop', {});
      await using dashboard = await openDashboard(browser, harness);
      const { page } = dashboard;
      const main = page.getByRole('main');
      await dashboard.go('prod/setup/policy');
      await dashboard.signIn('admin', PASSWORD);
      await main.getByRole('button', { name: 'Save first-policy', disabled: false }).waitFor();
      await main.getByRole('group', { name: 'Rule 1' }).waitFor();
      const frame = `getComputedStyle(document.querySelector('main .rule')).borderInlineStartWidth`;
      expect(await page.evaluate(frame)).toBe('2px');
      expect(await accessibilityFaults(page)).toEqual([]);
      const closed = { action: 'DENY', peerSelector: { peers: ['ada-laptop'] }, ingress: [{}] };
      await harness.api('POST', '/api/v1/policies', { ...own, body: { name: 'closed', spec: closed } });
      await page.reload();
      await dashboard.signIn('admin', PASSWORD);
      await main.getByText('This workspace has a policy already.').waitFor();
      expect(await main.getByRole('button', { name: 'Save first-policy' }).count()).toBe(0);
      expect(dashboard.complaints).toEqual([]);
    });
  });
});
