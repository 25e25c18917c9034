import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_PASSWORD, type Harness, startHarness } from '../kits/http/harness.ts';
import { hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';

const OWN_PASSWORD = 'a password of my own 42';
const HOSTILE = '<a href="javascript:alert(1)">';
const POLICY = { action: 'DENY', peerSelector: {} };

describe.skipIf(!hasBrowser)('the audit log on the dashboard', () => {
  let browser: Browser;
  let harness: Harness;
  let workspace: string;
  let token: string;

  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness()]);
    const made = await harness.workspace();
    workspace = made.workspace;
    const body = { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD };
    await harness.api('PUT', '/api/v1/users/me/password', { token: made.token, body });
    token = await harness.login('admin', OWN_PASSWORD);
    for (const name of ['base', 'second', 'third']) {
      await harness.api('POST', '/api/v1/policies', { token, workspace, body: { name, spec: POLICY } });
    }
    const join = { name: HOSTILE, expiry: '' };
    await harness.api('POST', '/api/v1/token/generate', { token, workspace, body: join });
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  async function open(address: string, options?: Parameters<typeof openDashboard>[2]) {
    const dashboard = await openDashboard(browser, harness, options);
    await dashboard.go(address);
    await dashboard.signIn('admin', OWN_PASSWORD);
    await dashboard.page.getByRole('heading', { name: 'Audit', exact: true }).waitFor();
    return dashboard;
  }

  test('entries are filtered in the address, which can be shared, and one is shown whole with its proof', async () => {
    await using dashboard = await open('prod/audit');
    const { page } = dashboard;
    await page.getByText(HOSTILE).first().waitFor();
    await page.getByLabel('Kind').selectOption('MeshPolicy');
    await page.getByLabel('Name of what changed').fill('second');
    await page.keyboard.press('Enter');
    await page.getByText('1 entry shown.').waitFor();
    expect(page.url()).toContain('kind=MeshPolicy');
    const shared = new URL(page.url()).hash.slice(2);
    await page.getByRole('link', { name: /created MeshPolicy second/ }).focus();
    await page.keyboard.press('Enter');
    const entry = page.getByRole('article', { name: /^Entry \d+/ });
    await entry.getByText('admin', { exact: true }).waitFor();
    await entry.getByText(/It is in the log of \d+ entries, which is signed/).waitFor();
    await entry.getByText('The whole entry').click();
    expect(JSON.parse((await entry.locator('pre').textContent()) ?? '')).toMatchObject({ actor: 'user:admin' });
    await entry.getByRole('link', { name: 'Close' }).click();
    await page.getByText('1 entry shown.').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByText(HOSTILE).first().waitFor();
    await using other = await open(shared);
    await other.page.getByText('1 entry shown.').waitFor();
    expect(await other.page.getByLabel('Name of what changed').inputValue()).toBe('second');
    expect([...dashboard.complaints, ...other.complaints]).toEqual([]);
  });

  test('who did something is found by the name as the table shows it', async () => {
    await using dashboard = await open('prod/audit?kind=MeshPolicy');
    const { page } = dashboard;
    await page.getByText('3 entries shown.').waitFor();
    for (const [name, told] of [
      ['nobody', 'Nothing was recorded with these filters'],
      ['admin', '3 entries shown.'],
      ['agent admin', 'Nothing was recorded with these filters'],
    ] as const) {
      await page.getByLabel('Who').fill(name);
      await page.keyboard.press('Enter');
      await page.getByText(told).waitFor();
    }
    expect(page.url()).toContain('actor=agent%3Aadmin');
    await dashboard.go('prod/time');
    await page.getByText(/^[1-9]\d* changes? of peers/).waitFor();
    await page.getByLabel('Changed by').fill('admin');
    await page.keyboard.press('Enter');
    await page
      .getByText(/^[1-9]\d* changes?$/)
      .first()
      .waitFor();
  });

  test('people and agents come first: entries of the control plane are left out by the server until they are asked for', async () => {
    const presence = { type: 'presence', actor: 'system:presence', result: 'ok' } as const;
    await harness.plane.services.store.record(
      workspace,
      Array.from({ length: 250 }, () => presence),
    );
    await using dashboard = await open('prod/audit?kind=MeshPolicy');
    const { page } = dashboard;
    await page.getByText('3 entries shown.').waitFor();
    await dashboard.go('prod/audit');
    await page.getByText(HOSTILE).first().waitFor();
    expect(await page.getByRole('link', { name: 'presence' }).count()).toBe(0);
    await page.getByLabel('Show entries of the control plane').check();
    await page.getByText('100 entries shown.').waitFor();
    expect(page.url()).toContain('system=1');
    await page.getByRole('link', { name: 'presence' }).first().waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('a refused call says in its row and on its page who tried what, how often, and why it was refused', async () => {
    const reason = 'This needs the scope network:write, which you do not hold in this workspace.';
    const detail = { operation: 'create_policy', code: 'forbidden', reason, count: 3, seconds: 40 };
    const refused = { type: 'refused', actor: 'user:vera', result: 'refused', origin: '192.0.2.7', detail } as const;
    await harness.plane.services.store.record(workspace, [refused]);
    await using dashboard = await open('prod/audit?actor=user%3Avera');
    const { page } = dashboard;
    await page
      .getByRole('row', { name: /vera create policy refused 3 times: This needs the scope .* refused$/ })
      .waitFor();
    await page.getByRole('link', { name: /^create policy refused/ }).click();
    const entry = page.getByRole('article', { name: /^Entry \d+/ });
    await entry.getByText(reason, { exact: true }).waitFor();
    const facts = await entry.getByRole('definition').allTextContents();
    expect(facts.map((fact) => fact.trim())).toEqual(
      expect.arrayContaining(['vera', 'create policy refused 3 times', reason, '192.0.2.7']),
    );
    expect(dashboard.complaints).toEqual([]);
  });

  test('pages that were read stay while an entry is opened and closed', async () => {
    await using dashboard = await open('prod/audit?system=1');
    const { page } = dashboard;
    await page.getByText('100 entries shown.').waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText('200 entries shown.').waitFor();
    await page.getByRole('row').nth(1).getByRole('link').click();
    await page
      .getByRole('article', { name: /^Entry \d+/ })
      .getByText(/which is signed/)
      .waitFor();
    await page.getByText('200 entries shown.').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('a time range stands in the address and is asked for', async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    await using dashboard = await open(`prod/audit?from=${soon}`);
    await dashboard.page.getByText('Nothing was recorded with these filters.').waitFor();
    expect(await dashboard.page.getByLabel('From').inputValue()).not.toBe('');
    await dashboard.go(`prod/audit?to=${soon}`);
    await dashboard.page.getByText(HOSTILE).first().waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('the page says up to where the log is signed, by which key, and how that is verified elsewhere', async () => {
    await using dashboard = await open('prod/audit');
    const { page } = dashboard;
    await page.getByText(/^● Signed up to entry \d+/).waitFor();
    await page.getByText('No device has reported').waitFor();
    const { body } = await harness.api('GET', '/api/v1/audit/keys');
    await page.getByText('How to verify it').focus();
    await page.keyboard.press('Enter');
    await page.getByText(`mesh audit verify --key ${body.items[0].fingerprint}`).waitFor();
    await page.getByText(`mesh.internal/log/`).first().waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('the entries that are shown are downloaded as JSON lines', async () => {
    await using dashboard = await open('prod/audit?kind=MeshPolicy');
    const { page } = dashboard;
    await page.getByText('3 entries shown.').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as JSON lines' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^audit-prod-\d{4}-\d\d-\d\d\.jsonl$/);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    const names = lines.map((line) => JSON.parse(line).changes[0].name);
    expect(names).toEqual(['third', 'second', 'base']);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a platform administrator reads the log of the installation', async () => {
    await using dashboard = await open('prod/audit');
    const { page } = dashboard;
    await page.getByLabel(/^Log/).selectOption('installation');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('link', { name: /login/ }).first().waitFor();
    expect(page.url()).toContain('log=installation');
    expect(dashboard.complaints).toEqual([]);
  });

  test('an entry that there is not is told', async () => {
    await using dashboard = await open('prod/audit/999999');
    await dashboard.page.getByRole('alert').filter({ hasText: 'There is no entry 999999.' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });
});
