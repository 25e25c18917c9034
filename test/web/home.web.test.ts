import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { type AgentsNetwork, startAgentsNetwork } from '../kits/web/agents-network.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { ownPassword, PASSWORD } from '../kits/web/page-people.ts';
import { tabTo } from '../kits/web/tab-to.ts';

describe.skipIf(!hasBrowser)('Home on the dashboard', () => {
  let browser: Browser;
  let network: AgentsNetwork;
  beforeAll(async () => {
    [browser, network] = await Promise.all([launchBrowser(), startAgentsNetwork()]);
  });
  afterAll(async () => {
    await browser.close();
    await network[Symbol.asyncDispose]();
  });

  test('it says what waits, who is online and by which paths, what changed, who works how long, and leads to each', async () => {
    const body = { framework: 'pci-dss', period_start: '2026-01-01T00:00:00Z', period_end: new Date().toISOString() };
    const assessed = await network.api('POST', '/api/v1/ai/compliance/assess', {
      ...network.own,
      body: { workspace_id: network.own.workspace, ...body },
    });
    expect(assessed.status).toBe(200);
    await using dashboard = await openDashboard(browser, network);
    const { page } = dashboard;
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(new URL(request.url()).pathname));
    // What is read before the page is told of changes is read again once it is.
    const told = Promise.withResolvers<void>();
    page.on('response', (answer) => answer.url().endsWith('/events') && told.resolve());
    await page.route(/\/api\/v1\/(?!users\/|events$)/, async (route) => {
      await told.promise;
      await route.continue();
    });
    await dashboard.signIn('admin', PASSWORD);
    const main = page.getByRole('main');
    await main.getByRole('link', { name: /^Peers online 4 of 6/ }).waitFor();
    await main.getByText('75 % of paths direct, 25 % relayed').waitFor();
    await main.getByRole('listitem').filter({ hasText: 'executed' }).getByText('olga').first().waitFor();
    await main.getByRole('link', { name: /^Compliance: PCI DSS/ }).waitFor();
    // Peers that joined without a workflow are changes too.
    await main.getByText(/^of peers, .* and /).waitFor();
    const dayAgo = new Date(Date.now() - 86_400_000).toISOString();
    const { total } = (await network.api('GET', `/api/v1/changes?limit=1&from=${dayAgo}`, network.own)).body;
    const changes = main.getByRole('link', { name: /^Changes in 24 hours/ });
    await changes.getByText(String(total), { exact: true }).waitFor();
    await main.getByText('of 100').waitFor();
    await main.getByText(/ends in (2\d|30) minutes/).waitFor();
    expect(await main.getByRole('region', { name: 'Setup' }).count()).toBe(0);
    // Each count is told once, and one assessment is no block.
    await main.getByRole('link', { name: /^Waiting for approval 1 ?1 change$/ }).waitFor();
    await main.getByRole('heading', { name: 'Waiting for you', exact: true }).waitFor();
    const trend = main.getByRole('link', { name: /^Compliance/ }).locator('svg');
    const bar = await trend.locator('rect').boundingBox();
    expect(bar?.width).toBeLessThan(((await trend.boundingBox())?.width ?? 0) / 8);
    const reads = asked.filter((path) => path.startsWith('/api/v1/') && !/login|\/me$|events$/.test(path));
    expect(reads.length).toBeLessThanOrEqual(9);

    const { summary } = (await network.api('GET', `/api/v1/workflows/${network.waits}`, network.own)).body;
    await tabTo(page, main.getByRole('link', { name: summary }));
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: summary }).waitFor();
    await page.goBack();
    await main.getByRole('link', { name: 'scout' }).click();
    await page.getByRole('article', { name: 'scout' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('the administrator of a new installation makes the first workspace, and who is in none is told whom to ask', async () => {
    await using fresh = await startHarness();
    const token = await ownPassword(fresh);
    await using dashboard = await openDashboard(browser, fresh);
    const { page } = dashboard;
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('heading', { name: 'Setup' }).waitFor();
    expect(await page.getByRole('navigation').getByRole('link').count()).toBe(0);
    expect(await page.getByText('connecting').count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    const name = page.getByLabel('Name of the workspace');
    await name.fill('Not A Slug');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'Correct the marked fields.' }).waitFor();
    // Once, though the API has three names for the field.
    await page.getByText(/begin and end with a letter or digit/).waitFor();
    await name.fill('office');
    await tabTo(page, page.getByRole('button', { name: 'Create workspace' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Add a device' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#/office/setup/device');
    await dashboard.go('elsewhere/peers');
    await page.getByText('You are a member of no workspace elsewhere.').waitFor();
    await page.getByRole('link', { name: 'Back to Home' }).click();
    await page.getByRole('region', { name: 'Setup' }).waitFor();

    await dashboard.go('office/settings/workspaces');
    await page.getByLabel('Name of the workspace').fill('lab');
    await page.getByRole('button', { name: 'Create workspace' }).click();
    await page.getByRole('region', { name: 'Setup' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#/lab');
    await page.getByRole('link', { name: /^Peers online 0 of 0 ?No devices yet\.$/ }).waitFor();
    await dashboard.go('lab/time');
    await page.getByText('Nothing changed in this range.').waitFor();
    expect(await page.getByText('Look further back').count()).toBe(0);

    await fresh.api('POST', '/api/v1/users', { token, body: { username: 'nora', password: PASSWORD } });
    const nora = await fresh.login('nora', PASSWORD);
    const own = `${PASSWORD} anew`;
    const body = { oldPassword: PASSWORD, newPassword: own };
    await fresh.api('PUT', '/api/v1/users/me/password', { token: nora, body });
    await using other = await openDashboard(browser, fresh);
    await other.signIn('nora', own);
    await other.page.getByText('Ask an administrator to add you.').waitFor();
    expect(await other.page.getByRole('button', { name: 'Create workspace' }).count()).toBe(0);
    expect([...dashboard.complaints, ...other.complaints]).toEqual([]);
  });

  test('a viewer is led nowhere that would be refused', async () => {
    await using dashboard = await openDashboard(browser, network);
    const { page } = dashboard;
    await dashboard.signIn('vera', PASSWORD);
    const main = page.getByRole('main');
    await main.getByRole('link', { name: /^Peers online 4 of 6/ }).waitFor();
    await main.getByRole('link', { name: 'ops-agent' }).waitFor();
    expect(await main.getByRole('link', { name: /^Compliance/ }).count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });
});
