import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { enrol } from '../kits/plane/devices.ts';
import { type AgentsNetwork, startAgentsNetwork } from '../kits/web/agents-network.ts';
import { hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { PASSWORD } from '../kits/web/page-people.ts';

describe.skipIf(!hasBrowser)('what devices reach, on the dashboard', () => {
  let browser: Browser;
  let network: AgentsNetwork;
  beforeAll(async () => {
    [browser, network] = await Promise.all([launchBrowser(), startAgentsNetwork()]);
    const { api, own } = network;
    const role = (value: string) => ({ peerSelector: { matchLabels: { role: value } } });
    const toDb = { action: 'ALLOW', ...role('db'), ingress: [{ from: [role('web')], ports: [{ port: 5432 }] }] };
    for (const [name, spec] of [
      ['base', { action: 'ALLOW', peerSelector: {}, ingress: [] }],
      ['web-to-db', toDb],
    ] as const)
      expect((await api('POST', '/api/v1/policies', { ...own, body: { name, spec } })).status).toBe(201);
    const settings = { settings: { requirePeerApproval: true } };
    await api('PATCH', `/api/v1/workspaces/${own.workspace}`, { ...own, body: settings });
    const made = { name: 'laptops of June', expiry: '1h', labels: { role: 'web' } };
    const { body: join } = await api('POST', '/api/v1/token/generate', { ...own, body: made });
    await enrol(network, join.token, 'gina-mbp');
  });
  afterAll(async () => {
    await browser.close();
    await network[Symbol.asyncDispose]();
  });
  const openAs = async (name: string, address: string) => {
    const dashboard = await openDashboard(browser, network);
    await dashboard.go(address);
    await dashboard.signIn(name, PASSWORD);
    return dashboard;
  };

  test('who lets a device in sees what it will reach, who will reach it, by which policy, and whose token it used', async () => {
    await using dashboard = await openAs('admin', 'prod/review/peer/gina-mbp');
    const { page } = dashboard;
    const access = page.getByRole('article', { name: 'gina-mbp' }).getByRole('region', { name: 'Access' });
    await access.getByRole('heading', { name: 'Access after approval' }).waitFor();
    const row = access.getByRole('listitem').filter({ hasText: 'orders-db' });
    await row.getByText('everything').waitFor();
    await row.getByRole('link', { name: 'only-to-db' }).waitFor();
    await access.getByText(/^join token laptops of June of admin$/).waitFor();
    await page.getByRole('button', { name: 'Approve gina-mbp' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('the page of a peer answers what it reaches, who reaches it and by which policy', async () => {
    await using dashboard = await openAs('vera', 'prod/peers/orders-db');
    const { page } = dashboard;
    const card = page.getByRole('article', { name: 'orders-db' });
    await card.getByRole('button', { name: 'Access' }).click();
    const access = card.getByRole('region', { name: 'Access' });
    const row = access.getByRole('listitem').filter({ hasText: 'role=web' });
    await row.getByText('everything').waitFor();
    const outside = access.getByRole('listitem').filter({ hasText: 'outside' });
    await outside.getByText('outside', { exact: true }).first().waitFor();
    expect(await access.textContent()).not.toMatch(/\d - \d/);
    await card.getByRole('button', { name: 'History' }).click();
    const history = card.getByRole('region', { name: 'History' });
    await history.getByText('peer orders-db created').waitFor();
    await history.getByText('policy only-to-db created').waitFor();
    expect(page.url()).toContain('tab=history');
    await history.getByRole('link', { name: 'View in Time' }).click();
    await page.getByRole('searchbox', { name: 'Affected peer' }).waitFor();
    expect(await page.getByRole('searchbox', { name: 'Affected peer' }).inputValue()).toBe('orders-db');
    await page.getByRole('heading', { name: 'policy only-to-db created' }).waitFor();
    await dashboard.go('prod/peers/orders-db');
    await card.getByRole('button', { name: 'Access' }).click();
    await row.getByRole('link', { name: 'only-to-db' }).click();
    await page
      .getByText(/^Allows role=web → role=db/)
      .first()
      .waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('the access of a peer is shown as it was at a moment of the past', async () => {
    const { api, own } = network;
    const at = new Date().toISOString();
    const later = { name: 'nobody-to-db', spec: { action: 'DENY', peerSelector: { matchLabels: { role: 'db' } } } };
    expect((await api('POST', '/api/v1/policies', { ...own, body: later })).status).toBe(201);
    await using dashboard = await openAs('vera', `prod/peers/orders-db?tab=access`);
    const { page } = dashboard;
    const access = page.getByRole('article', { name: 'orders-db' }).getByRole('region', { name: 'Access' });
    await access.getByText('No peers.').first().waitFor();
    await dashboard.go(`prod/peers/orders-db?tab=access&at=${at}`);
    await access.getByRole('listitem').filter({ hasText: 'role=web' }).waitFor();
    await api('DELETE', '/api/v1/policies/nobody-to-db', own);
    expect(dashboard.complaints).toEqual([]);
  });

  test('policies that were made for agents are one group, and bear the names of agents in place of their ids', async () => {
    await using dashboard = await openAs('admin', 'prod/policies');
    const { page } = dashboard;
    const group = page.getByText(/^Made for agents \(\d+\)$/);
    await group.waitFor();
    expect(await page.locator('main').textContent()).not.toMatch(/agt_/);
    await group.click();
    await page.getByRole('link', { name: 'scout · sandboxed (ops-agent)', exact: true }).click();
    await page.getByRole('heading', { name: 'scout · sandboxed (ops-agent)' }).waitFor();
    await page
      .getByText(/agent scout/)
      .first()
      .waitFor();
    await dashboard.go('prod/peers');
    await page.getByRole('cell', { name: /agent scout sub-agents of ops-agent/ }).waitFor();
    expect(await page.locator('main').textContent()).not.toMatch(/agt_/);
    await dashboard.go('prod/time');
    await page.getByRole('heading', { name: /policy scout · sandboxed \(ops-agent\) created/ }).waitFor();
    expect(await page.locator('main').textContent()).not.toMatch(/agt_[a-z0-9]+\./);
    await page.getByRole('button', { name: 'Compare start and end' }).click();
    await page.getByText('scout · sandboxed (ops-agent)', { exact: true }).waitFor();
    expect(await page.locator('main').textContent()).not.toMatch(/agt_[a-z0-9]+\./);
    expect(dashboard.complaints).toEqual([]);
  });

  test('an approved device is among what was decided, with who approved it', async () => {
    const { api, own } = network;
    expect((await api('POST', '/api/v1/peers/gina-mbp/approve', { ...own, body: {} })).status).toBe(200);
    await using dashboard = await openAs('vera', 'prod/review');
    const decided = dashboard.page.getByRole('navigation', { name: 'Decided' });
    const device = decided.getByRole('link', { name: /^gina-mbp/ });
    await device.getByText('approved', { exact: true }).waitFor();
    await device.getByText('admin', { exact: true }).waitFor();
    await device.click();
    await dashboard.page.getByRole('article', { name: 'gina-mbp' }).getByText('Approved by').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });
});
