import { readFile } from 'node:fs/promises';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_PASSWORD, type Harness, startHarness } from '../kits/http/harness.ts';
import { joinDevice } from '../kits/http/network-setup.ts';
import { buildSettableClock } from '../kits/plane/settable-clock.ts';
import { type Dashboard, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';

const OWN_PASSWORD = 'a password of my own 42';
const HOSTILE = '<svg onload="alert(1)">';
const DAY_MS = 86_400_000;
const DAYS = 10;
const CDE = { 'compliance.scope': 'cde' };

/** A ZIP begins with this. */
const ZIP = 'PK\u0003\u0004';

describe.skipIf(!hasBrowser)('compliance on the dashboard', () => {
  const clock = buildSettableClock();
  clock.pass(-DAYS * DAY_MS);
  let browser: Browser;
  let harness: Harness;
  let workspace: string;
  const session = async () => ({ token: await harness.login('admin', OWN_PASSWORD), workspace });
  const call = async (method: string, route: string, body?: unknown) =>
    (await harness.api(method, route, { ...(await session()), ...(body !== undefined && { body }) })).body;
  const assess = (days: number) =>
    call('POST', '/api/v1/ai/compliance/assess', {
      framework: 'pci-dss',
      period_start: new Date(clock.now() - days * DAY_MS).toISOString(),
    });

  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness({ clock })]);
    const made = await harness.workspace();
    workspace = made.workspace;
    const body = { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD };
    await harness.api('PUT', '/api/v1/users/me/password', { token: made.token, body });
    await joinDevice(harness, await session(), 'card-1', CDE);
    await joinDevice(harness, await session(), 'web-1', { role: 'web' });
    clock.pass(3 * DAY_MS);
    await call('POST', '/api/v1/policies', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });
    clock.pass(2 * DAY_MS);
    await assess(2);
    const open = { action: 'ALLOW', peerSelector: { matchLabels: CDE }, ingress: [{ from: ['*'] }] };
    await call('POST', '/api/v1/policies', { name: 'open', spec: open });
    clock.pass(5 * DAY_MS);
    await assess(5);
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  async function open(address: string, options?: Parameters<typeof openDashboard>[2]) {
    const dashboard = await openDashboard(browser, harness, options);
    await dashboard.go(address);
    await dashboard.signIn('admin', OWN_PASSWORD);
    await dashboard.page.getByRole('heading', { name: 'Compliance', exact: true }).waitFor();
    return dashboard;
  }

  const said = ({ page }: Dashboard, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
  const control = ({ page }: Dashboard, id: string) =>
    page.locator('details.control').filter({ has: page.getByText(id, { exact: true }) });

  test('an auditor assesses a period, sees when and by which change a control failed, and compares with before', async () => {
    await using dashboard = await open('prod/compliance');
    const { page } = dashboard;
    await page.getByRole('heading', { name: 'Score over time' }).waitFor();
    const topOf = async (of: Locator) => (await of.boundingBox())?.y ?? Number.NaN;
    const form = page.getByText('Assess a period');
    expect(await topOf(form)).toBeLessThan(await topOf(page.getByRole('region', { name: 'Newest assessment' })));
    await form.click();
    await page.getByRole('button', { name: 'Last 7 days' }).click();
    await page.getByRole('button', { name: 'Assess PCI DSS' }).click();
    await page.getByRole('heading', { name: /^PCI DSS, / }).waitFor();
    await page.getByText(/\d+ controls pass, \d+ fail/).waitFor();
    await page.getByText('fails in part').waitFor();
    await page.getByRole('button', { name: /^fails \d+/ }).click();
    expect(page.url()).toContain('show=fail');
    const open13 = control(dashboard, 'PCI-DSS-1.3');
    await open13.locator('summary').focus();
    await page.keyboard.press('Enter');
    await open13.getByRole('img', { name: 'it failed 1 time' }).waitFor();
    await open13.getByText('created MeshPolicy/open').waitFor();
    await open13.getByText('not reviewed').last().waitFor();
    await page.getByLabel('Compare with').selectOption({ index: 2 });
    await page.getByText('Controls with another result').waitFor();
    expect(page.url()).toMatch(/with=ev_/);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a remedy is planned, its effect is looked at, and it goes to Review', async () => {
    const { evidence_id: id, controls } = await assess(1);
    const fixable = controls.find(({ changes }: { changes: unknown[] }) => changes.length > 0);
    await using dashboard = await open(`prod/compliance/assessments/${id}`);
    const { page } = dashboard;
    const article = control(dashboard, fixable.id);
    await article.locator('summary').click();
    await article.getByRole('button', { name: 'Plan this change' }).click();
    await article.getByText('Closes').first().waitFor();
    await article.getByRole('button', { name: 'Send for approval' }).click();
    await article.getByRole('link', { name: 'Open in Review' }).click();
    await page.getByRole('article').getByText('Fix control').first().waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('the evidence is downloaded under its name, and the page says how to verify it', async () => {
    const { evidence_id: id } = await assess(2);
    await using dashboard = await open(`prod/compliance/assessments/${id}`);
    const { page } = dashboard;
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the evidence' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^mesh-compliance-evidence-\d{4}-\d\d-\d\d\.zip$/);
    const bytes = await readFile(await download.path());
    expect(bytes.subarray(0, 4).toString('latin1')).toBe(ZIP);
    const { items } = await call('GET', '/api/v1/audit/keys');
    await page
      .getByText(`mesh evidence verify ${download.suggestedFilename()} --key ${items[0].fingerprint}`)
      .waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('a schedule is set, and what flipped is told with a way to both assessments', async () => {
    await using dashboard = await open('prod/compliance/drift');
    const { page } = dashboard;
    await page.getByText('PCI-DSS-1.3', { exact: true }).first().waitFor();
    await page.getByLabel('Cadence: SOC 2').selectOption('monthly');
    await said(dashboard, 'SOC 2 is assessed monthly.');
    const { items } = await call('GET', '/api/v1/ai/compliance/schedules');
    expect(items).toMatchObject([{ framework: 'soc2', cadence: 'monthly', enabled: true }]);
    await page.getByLabel('Cadence: SOC 2').selectOption('');
    await said(dashboard, 'SOC 2 is no longer scheduled.');
    await page.getByRole('link', { name: 'PCI DSS' }).first().click();
    await page.getByText('Controls with another result').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('a review of access is made item by item with the keyboard, and finished', async () => {
    await call('PUT', `/api/v1/workspaces/${workspace}/members/${'left.person'}`, { role: 'viewer' });
    const token = { name: HOSTILE, scopes: ['network:read'] };
    await call('POST', '/api/v1/users/me/api-tokens', token);
    await using dashboard = await open('prod/compliance/reviews');
    const { page } = dashboard;
    await page.getByRole('button', { name: 'Start a review of access' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText(HOSTILE).first().waitFor();
    await page.getByRole('button', { name: 'Flag left.person' }).focus();
    await page.keyboard.press('Enter');
    const why = page.getByRole('dialog').getByLabel('Why');
    await why.fill('left in May '.repeat(400));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('alert').getByText('Correct the marked fields.').waitFor();
    expect(await why.getAttribute('aria-invalid')).toBe('true');
    await why.fill('left in May');
    await page.keyboard.press('Enter');
    await said(dashboard, 'left.person is flagged.');
    await page.getByText('still in force', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Confirm card-1' }).click();
    await said(dashboard, 'card-1 is confirmed.');
    await page.getByRole('button', { name: /^Confirm the other \d+/ }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Confirm the other/ })
      .click();
    await page.getByLabel('Note on the whole').fill(HOSTILE);
    await page.getByRole('button', { name: 'Finish the review' }).click();
    await said(dashboard, 'The review is finished.');
    const { items } = await call('GET', '/api/v1/ai/compliance/reviews');
    expect(items).toMatchObject([{ kind: 'access', state: 'finished', finished: { flagged: 1, note: HOSTILE } }]);
    expect(dashboard.complaints).toEqual([]);
  });

  test('the inventory shows keys and tokens with their ages', async () => {
    await using dashboard = await open('prod/compliance/keys');
    const { page } = dashboard;
    const row = page.getByRole('row').filter({ hasText: 'WireGuard key' }).filter({ hasText: 'card-1' });
    await row.getByText(`${DAYS} days`).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('a viewer has no page of compliance', async () => {
    const [username, password] = ['vic', 'vic has an initial one 7'];
    await call('POST', '/api/v1/users', { username, password });
    await call('PUT', `/api/v1/workspaces/${workspace}/members/${username}`, { role: 'viewer' });
    const token = await harness.login(username, password);
    const body = { oldPassword: password, newPassword: OWN_PASSWORD };
    await harness.api('PUT', '/api/v1/users/me/password', { token, body });
    await using dashboard = await openDashboard(browser, harness);
    await dashboard.go('prod/compliance');
    await dashboard.signIn(username, OWN_PASSWORD);
    await dashboard.page.getByRole('heading', { name: 'Not shown to your role' }).waitFor();
    expect(await dashboard.page.getByRole('link', { name: /Compliance|Audit/ }).count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });
});
