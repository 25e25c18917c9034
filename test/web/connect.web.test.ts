import { readFileSync } from 'node:fs';
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
    await main
      .getByText('Never approves. Changes that open something, or to what others made, wait for approval.')
      .waitFor();
    await main.getByLabel('delegate to sub-agents').check();
    await main.getByLabel('Limit of its sub-agents').selectOption('isolated');
    const reach = main.getByLabel('May open');
    await reach.fill('role=web http');
    await main.getByText('This is no line of a reach: role=web http').waitFor();
    await reach.fill('role=web TCP 443');
    await main.getByText('Reach: role=web on TCP 443.').waitFor();
    await main.getByRole('button', { name: 'Create token' }).click();

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

  test('the address comes first, with the line for each client that signs in, as docs/oauth.md has it', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/connect');
    await dashboard.signIn('admin', PASSWORD);
    const url = `${harness.url}/mcp`;
    const byAddress = page.getByRole('region', { name: 'With an address' });
    const address = byAddress.getByRole('figure', { name: 'Address of the MCP server' });
    await address.getByRole('button', { name: 'Copy' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(url);
    const documented = readFileSync('docs/oauth.md', 'utf8');
    const clients = byAddress.getByRole('group', { name: 'Client that signs in' }).getByRole('button');
    expect(await clients.allTextContents()).toEqual(['Claude Code', 'Cursor', 'VS Code', 'Others']);
    for (const client of ['Claude Code', 'Cursor', 'VS Code']) {
      await clients.filter({ hasText: client }).click();
      const text = (await byAddress.locator('pre').last().textContent()) ?? '';
      expect(text).toContain(url);
      expect(documented).toContain(`| ${client} | \`${text.replace(url, 'https://mesh.example.com/mcp')}\``);
    }
    await clients.filter({ hasText: 'Others' }).click();
    await byAddress.getByText(`npx mcp-remote ${url}`).waitFor();
    const headings = page.getByRole('main').getByRole('heading', { level: 2 });
    expect(await headings.allTextContents()).toEqual(['With an address', 'With a token']);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  });

  test('where clients cannot sign in, the page says why and who changes it', async () => {
    await using dashboard = await openDashboard(browser, harness);
    await dashboard.page.route('**/.well-known/**', (route) => route.fulfill({ status: 404 }));
    await dashboard.go('prod/connect');
    await dashboard.signIn('admin', PASSWORD);
    await dashboard.page.getByText('Clients cannot sign in under this address').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('a viewer connects a client in their own name, with no more than they hold, by keyboard alone', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/connect');
    await dashboard.signIn('vera', PASSWORD);
    await page.getByText('A client that speaks in your name.').waitFor();
    expect(await page.getByRole('region', { name: 'With an address' }).count()).toBe(0);
    expect(await page.getByRole('radio').count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(2);
    await tabTo(page, page.getByLabel('see the past'));
    await page.keyboard.press('Space');
    await tabTo(page, page.getByRole('button', { name: 'Create token' }));
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
