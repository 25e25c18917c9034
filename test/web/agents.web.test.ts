import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentsNetwork, HOSTILE, startAgentsNetwork } from '../kits/web/agents-network.ts';
import { hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { PASSWORD } from '../kits/web/page-people.ts';
import { tabTo } from '../kits/web/tab-to.ts';

describe.skipIf(!hasBrowser)('agents on the dashboard', () => {
  let browser: Browser;
  let network: AgentsNetwork;
  beforeAll(async () => {
    [browser, network] = await Promise.all([launchBrowser(), startAgentsNetwork()]);
  });
  afterAll(async () => {
    await browser.close();
    await network[Symbol.asyncDispose]();
  });

  test('agents are a tree with time left and bounds in words; one shows its line, its changes and what it called', async () => {
    await using dashboard = await openDashboard(browser, network);
    const { page } = dashboard;
    await dashboard.go('prod/agents');
    await dashboard.signIn('admin', PASSWORD);
    const table = page.getByRole('table');
    await table.getByRole('link', { name: 'scout' }).waitFor();
    const names = await table.getByRole('link').allTextContents();
    expect(names).toEqual(['auditor-bot', 'ops-agent', 'scout']);
    await table.getByText(/^in (2\d|30) minutes$/).waitFor();
    const row = (name: string) => table.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await row('auditor-bot').getByRole('cell', { name: 'nothing', exact: true }).waitFor();
    await row('scout').getByText('role=web').waitFor();
    expect(await table.getByText(/waits? for approval/).count()).toBe(0);
    await page.getByLabel('Search agents').fill('scout');
    await table.getByRole('link', { name: 'ops-agent' }).waitFor({ state: 'detached' });
    await table.getByRole('link', { name: 'scout' }).click();
    const scout = page.getByRole('article', { name: 'scout' });
    await scout.getByText('admin (person)').waitFor();
    await scout.getByText('May see peers, policies and who reaches whom.').waitFor();
    await scout.getByText('May open', { exact: true }).waitFor();
    await scout.getByText('role=web on TCP 443').waitFor();
    await scout.getByRole('link', { name: 'Access of scout' }).waitFor();
    await scout.getByText('No recent calls.').waitFor();
    expect(page.url()).toContain('q=scout');
    await scout.getByRole('link', { name: 'ops-agent' }).click();

    const ops = page.getByRole('article', { name: 'ops-agent' });
    await ops.getByText('nothing: it has no peer').waitFor();
    await ops
      .getByText('Never approves. Changes beyond what it may open, or to what others made, wait for approval.')
      .waitFor();
    await ops.getByText('executed').waitFor();
    await ops.getByText('pending', { exact: true }).waitFor();
    const call = ops.getByRole('listitem').filter({ hasText: 'get_peer' });
    await call.getByText('not_found').waitFor();
    await call.getByText('selects peers by label').first().waitFor();
    await call.getByText('get_peer').click();
    await call.getByRole('figure', { name: 'Arguments' }).getByText('<img src=x').waitFor();
    expect(await call.textContent()).toContain(JSON.stringify(HOSTILE));
    const delegation = ops.getByRole('listitem').filter({ hasText: 'delegate_agent' });
    await delegation.getByText('delegate_agent').click();
    await delegation.getByText('"enrollmentToken": "(secret)"').waitFor();
    expect(await page.locator('body').textContent()).not.toMatch(/mesh-(dlg|agt)-\w/);
    await network.api('GET', '/api/v1/policies', network.agent);
    await ops.getByRole('listitem').filter({ hasText: 'list_policies' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('an operator and a viewer see agents without their calls and cannot end them', async () => {
    for (const who of ['olga', 'vera']) {
      await using dashboard = await openDashboard(browser, network);
      const { page } = dashboard;
      await dashboard.go('prod/agents/ops-agent');
      await dashboard.signIn(who, PASSWORD);
      const ops = page.getByRole('article', { name: 'ops-agent' });
      await ops.getByText('Only auditors and admins see calls.').waitFor();
      await ops.getByText('executed').waitFor();
      expect(await ops.getByRole('button', { name: 'Revoke agent' }).count()).toBe(0);
      expect(dashboard.complaints).toEqual([]);
    }
  });

  test('who confirms before it is shown what ends is told so, and that it is shown by then', async () => {
    await using dashboard = await openDashboard(browser, network);
    const { page } = dashboard;
    const asked = Promise.withResolvers<void>();
    await page.route('**/api/v1/agents/*', async (route) => {
      if (route.request().method() === 'DELETE') await asked.promise;
      await route.fallback();
    });
    await dashboard.go('prod/agents/ops-agent');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('button', { name: 'Revoke agent' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type ops-agent to confirm.').fill('ops-agent');
    await page.keyboard.press('Enter');
    await dialog.getByText('still being computed. Nothing was done').waitFor();
    asked.resolve();
    await dialog.getByText('shown now. Press again').waitFor();
    await dialog.getByText('2: ops-agent, scout').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(dashboard.complaints).toEqual([]);
  });

  test('who confirms with another name is told what is awaited and that nothing was done, each time, until that is typed', async () => {
    await using dashboard = await openDashboard(browser, network);
    const { page } = dashboard;
    const deleted: string[] = [];
    page.on('request', (request) => request.method() === 'DELETE' && deleted.push(request.url()));
    await dashboard.go('prod/agents/ops-agent');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('button', { name: 'Revoke agent' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2: ops-agent, scout').waitFor();
    const shown = deleted.length;
    const field = dialog.getByLabel('Type ops-agent to confirm.');
    const told = dialog.getByRole('alert');
    for (const text of ['', 'ops-agnet', 'Ops-Agent']) {
      await field.fill(text);
      await expect.poll(() => told.count()).toBe(0);
      await field.press('Enter');
      await told.getByText('Nothing was done: the name does not match. Type ops-agent exactly.').waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      // As who cannot see it is told of the field.
      expect(await field.getAttribute('aria-describedby')).toBe(await told.getAttribute('id'));
      expect(await field.evaluate((element) => element.matches(':focus'))).toBe(true);
    }
    await dialog.getByRole('button', { name: 'Revoke agent' }).click({ force: true });
    await told.getByText('Nothing was done:').waitFor();
    expect(deleted).toHaveLength(shown);
    await field.fill('ops-agent');
    await expect.poll(() => told.count()).toBe(0);
    expect(await dialog.getByRole('button', { name: 'Revoke agent' }).isEnabled()).toBe(true);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    const opener = page.getByRole('button', { name: 'Revoke agent' });
    expect(await opener.evaluate((element) => element.matches(':focus'))).toBe(true);
    // Keys go on where they were, and it opens again.
    await page.keyboard.press('Enter');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await opener.evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(dashboard.complaints).toEqual([]);
  });

  test('with the keyboard alone an agent is revoked, once it is said what ends with it and its name is typed', async () => {
    await using dashboard = await openDashboard(browser, network);
    const { page } = dashboard;
    await dashboard.go('prod/agents/ops-agent');
    await dashboard.signIn('admin', PASSWORD);
    await tabTo(page, page.getByRole('button', { name: 'Revoke agent' }));
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2: ops-agent, scout').waitFor();
    await dialog.getByText('1: scout').waitFor();
    const revoke = dialog.getByRole('button', { name: 'Revoke agent' });
    expect(await revoke.isDisabled()).toBe(true);
    await tabTo(page, dialog.getByLabel('Type ops-agent to confirm.'));
    await page.keyboard.type('ops-agent');
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'ops-agent is revoked, and 1 below it.' }).waitFor();
    await page.getByRole('article', { name: 'ops-agent' }).getByText('revoked').waitFor();
    await page.getByRole('table').getByRole('link', { name: 'scout' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show ended' }).click();
    await page.getByRole('table').getByRole('link', { name: 'scout' }).waitFor();
    const { body } = await network.api('GET', `/api/v1/workflows/${network.waits}`, network.own);
    expect(body.status).not.toBe('pending');
    expect(dashboard.complaints).toEqual([]);
  });
});
