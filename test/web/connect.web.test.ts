import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLIENTS, entryOf, groupOf } from '../../cli/mcp-entry.ts';
import { connectMcp } from '../kits/http/agent-client.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { member, ownPassword, PASSWORD } from '../kits/web/page-people.ts';
import { tabTo } from '../kits/web/tab-to.ts';

describe.skipIf(!hasBrowser)('connecting an agent on the dashboard', () => {
  let browser: Browser;
  let harness: Harness;
  let own: { token: string; workspace: string };
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness()]);
    const { workspace } = await harness.workspace();
    own = { workspace, token: await ownPassword(harness) };
    await member(harness, own, 'vera', 'viewer');
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  test('an agent is bound in words, its token is shown once for each client, and its first call arrives by itself', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/connect');
    await dashboard.signIn('admin', PASSWORD);
    const main = page.getByRole('main');
    await main.getByRole('textbox', { name: /^Name/ }).fill('deploy-agent');
    await main.getByLabel('Ends after').selectOption({ label: '8 hours' });
    await main.getByText('deploy-agent may see peers, policies and who reaches whom').waitFor();
    await main.getByText('Never approves. Opens nothing by itself').waitFor();
    await main.getByLabel('delegate to sub-agents').check();
    await main.getByLabel('Its sub-agents at most').selectOption('isolated');
    const reach = main.getByLabel('What it may open by itself');
    await reach.fill('role=web http');
    await main.getByText('This is no line of a reach: role=web http').waitFor();
    await reach.fill('role=web TCP 443');
    await main.getByText('Reach: role=web on TCP 443.').waitFor();
    await main.getByRole('button', { name: 'Make the token' }).click();

    const ready = page.getByRole('region', { name: 'deploy-agent is ready to connect' });
    const token = (await ready.getByRole('figure', { name: 'Token alone' }).locator('pre').textContent()) ?? '';
    expect(token).toMatch(/^mesh-agt-/);
    const shown = ready.getByRole('figure', { name: /^Goes into/ }).locator('pre');
    const access = { server: harness.url, token, workspace: own.workspace, launcher: 'mesh' };
    const tabs = ready.getByRole('group', { name: 'Client' }).getByRole('button');
    expect(await tabs.count()).toBe(CLIENTS.length);
    const configurations = new Set<string>();
    for (const tab of await tabs.all()) {
      await tab.click();
      configurations.add(JSON.stringify(JSON.parse((await shown.textContent()) ?? '')));
    }
    const expected = CLIENTS.map((client) => JSON.stringify({ [groupOf(client)]: { mesh: entryOf(client, access) } }));
    expect(configurations).toEqual(new Set(expected));

    await ready.getByText('Waiting for deploy-agent.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await using client = await connectMcp(harness.url, token);
    await client.use('list_peers');
    await ready.getByText('deploy-agent is connected.').waitFor();
    await ready.getByText('deploy-agent called list_peers').waitFor();

    const { body: agent } = await harness.api('GET', '/api/v1/agents/deploy-agent', own);
    expect(agent).toMatchObject({
      policyPreset: 'isolated',
      ttl: '8h',
      reach: [{ to: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 443 }] }],
    });
    expect(new Set(agent.scopes)).toEqual(
      new Set(['network:read', 'snapshots:read', 'intents:plan', 'intents:apply', 'agents:delegate']),
    );
    const kept = await page.evaluate('JSON.stringify([location.href, sessionStorage, localStorage, document.cookie])');
    expect(kept).not.toContain('mesh-agt');
    await ready.getByRole('link', { name: 'See deploy-agent' }).click();
    await page.getByRole('article', { name: 'deploy-agent' }).getByText('list_peers').waitFor();
    expect(await page.locator('body').textContent()).not.toContain(token);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a viewer connects a client in their own name, with no more than they hold, by keyboard alone', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/connect');
    await dashboard.signIn('vera', PASSWORD);
    await page.getByText('A client that speaks in your name.').waitFor();
    expect(await page.getByRole('radio').count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(2);
    await tabTo(page, page.getByLabel('see the past'));
    await page.keyboard.press('Space');
    await tabTo(page, page.getByRole('button', { name: 'Make the token' }));
    await page.keyboard.press('Enter');
    const ready = page.getByRole('region', { name: 'ops-agent is ready to connect' });
    const token = (await ready.getByRole('figure', { name: 'Token alone' }).locator('pre').textContent()) ?? '';
    expect(token).toMatch(/^mesh-api-/);
    await harness.api('GET', '/api/v1/policies', { token });
    await ready.getByText('ops-agent called list_policies').waitFor();
    const vera = { token: await harness.login('vera', PASSWORD), workspace: own.workspace };
    const { body } = await harness.api('GET', '/api/v1/users/me/api-tokens', vera);
    expect(body.items).toMatchObject([{ name: 'ops-agent', scopes: ['network:read'] }]);
    expect(dashboard.complaints).toEqual([]);
  });
});
