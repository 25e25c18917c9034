import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { joinDevice, webAndDatabase } from '../kits/http/network-setup.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { member, ownPassword, PASSWORD } from '../kits/web/page-people.ts';
import { tabTo } from '../kits/web/tab-to.ts';

const HOSTILE = '<img src=x onerror="alert(1)">';
const WEB_TO_DB = {
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'db' } },
  ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
};
const NOBODY = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'vpn' } }, ingress: [{}] };

describe.skipIf(!hasBrowser)('policies on the dashboard', () => {
  let browser: Browser;
  let harness: Harness;
  let own: { token: string; workspace: string };
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness()]);
    const { workspace, token } = await webAndDatabase(harness);
    await joinDevice(harness, { token, workspace }, 'metrics', { role: 'monitoring' });
    const held = await harness.workspace('held');
    const settings = { settings: { requireApproval: true } };
    await harness.api('PATCH', `/api/v1/workspaces/${held.workspace}`, { token, body: settings });
    own = { workspace, token: await ownPassword(harness) };
    await member(harness, own, 'vera', 'viewer');
    const annotations = { note: HOSTILE };
    for (const body of [
      { name: 'web-to-db', spec: WEB_TO_DB, annotations },
      { name: 'old-vpn', spec: NOBODY },
    ]) {
      expect((await harness.api('POST', '/api/v1/policies', { ...own, body })).status).toBe(201);
    }
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  const specOf = async (name: string) => (await harness.api('GET', `/api/v1/policies/${name}`, own)).body.spec;
  const yaml = (page: Page) => page.getByRole('textbox', { name: 'YAML' });
  const effect = (page: Page) => page.getByRole('region', { name: 'Effect preview' });

  test('a list says what each policy does and what is probably not meant; form and YAML keep step, and show the effect before it is saved', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/policies');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('cell', { name: 'role=web to role=db on TCP 5432' }).waitFor();
    await page.getByText('its peerSelector matches no peer').waitFor();
    await page.getByLabel('Only with findings').check();
    await page.getByRole('link', { name: 'web-to-db' }).waitFor({ state: 'detached' });
    expect(page.url()).toContain('findings=1');
    await page.getByLabel('Only with findings').uncheck();
    await page.getByLabel('Search policies').fill('TCP 5432');
    await page.getByRole('table').getByRole('link', { name: 'old-vpn' }).waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'web-to-db' }).click();
    await yaml(page).getByText(HOSTILE).waitFor();
    await page.getByLabel('Ports').fill('TCP 5432, TCP 22');
    await yaml(page).getByText('port: 22').waitFor();
    await effect(page).getByText('web-1, web-2').waitFor();
    await effect(page).getByText('TCP 22').waitFor();

    await yaml(page).getByText('port: 22').click();
    await page.keyboard.press('End');
    await page.keyboard.type('22');
    await expect.poll(() => page.getByLabel('Ports').inputValue()).toBe('TCP 5432, TCP 2222');
    await effect(page).getByText('TCP 2222').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('kind: [');
    await page.getByText('The YAML cannot be read').waitFor();
    await effect(page).getByRole('alert').waitFor();
    expect(await page.getByRole('button', { name: /^Save/ }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByLabel('Ports').fill('TCP 5432, http');
    await page.getByText('“http” is not a port').waitFor();
    await page.getByLabel('Ports').fill('TCP 5432, TCP 5433');
    await page.getByRole('button', { name: 'Save web-to-db' }).click();
    await page.getByRole('status').filter({ hasText: 'web-to-db is saved.' }).waitFor();
    await page.getByText('Allows role=web → role=db on TCP 5432, TCP 5433').waitFor();
    expect((await specOf('web-to-db')).ingress[0].ports).toHaveLength(2);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a policy is made by keyboard alone, and deleted once its name is typed', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/policies');
    await dashboard.signIn('admin', PASSWORD);
    const keys = page.keyboard;
    const type = async (field: Locator, text: string) => {
      await tabTo(page, field);
      await keys.type(text);
    };
    await tabTo(page, page.getByRole('link', { name: 'New policy' }));
    await keys.press('Enter');
    await page.getByRole('heading', { name: 'New policy' }).waitFor();
    await type(page.getByLabel(/^Name/), 'scrape');
    await type(page.getByLabel('Labels'), 'role=web');
    await tabTo(page, page.getByRole('button', { name: 'Add a rule' }));
    await keys.press('Enter');
    await type(page.getByLabel('Labels').nth(1), 'role in (monitoring)');
    await type(page.getByLabel('Ports'), 'TCP 9100');
    await tabTo(page, yaml(page));
    await effect(page).getByText('Nothing changes before you save').waitFor();
    await effect(page).getByText('db-1, laptop, web-1, web-2').waitFor();
    const save = page.getByRole('button', { name: 'Save scrape' });
    await expect.poll(() => save.isEnabled()).toBe(true);
    await tabTo(page, save);
    await keys.press('Enter');
    await page.getByRole('status').filter({ hasText: 'scrape is saved.' }).waitFor();
    expect(await specOf('scrape')).toMatchObject({
      ingress: [
        {
          from: [{ peerSelector: { matchExpressions: [{ key: 'role', operator: 'In', values: ['monitoring'] }] } }],
          ports: [{ protocol: 'TCP', port: 9100 }],
        },
      ],
    });

    await page.getByRole('heading', { name: 'scrape' }).waitFor();
    await tabTo(page, page.getByRole('button', { name: 'Delete scrape' }));
    await keys.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'Opens' }).waitFor();
    const leave = dialog.getByRole('button', { name: 'Delete' });
    expect(await leave.isDisabled()).toBe(true);
    await type(dialog.getByRole('textbox'), 'scrape');
    await keys.press('Enter');
    await page.getByRole('status').filter({ hasText: 'scrape is deleted.' }).waitFor();
    expect((await harness.api('GET', '/api/v1/policies/scrape', own)).status).toBe(404);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a new policy opens nothing by itself, and the field that is missing says so until every peer is chosen', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/policies?view=new');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByText('No rules: nothing is allowed.').waitFor();
    await page.getByLabel(/^Name/).fill('quiet');
    const whom = page.getByRole('group', { name: 'Applies to' });
    await whom.getByText(/Required, unless you name peers/).waitFor();
    await whom.locator('.fault').waitFor();
    expect(await page.getByRole('button', { name: 'Save quiet' }).isDisabled()).toBe(true);
    await whom.getByRole('checkbox', { name: 'Every peer' }).check();
    await whom.locator('.fault').waitFor({ state: 'detached' });
    await yaml(page).getByText('peerSelector: {}').waitFor();
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await yaml(page).getByText('port: 443').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Save quiet' }).isEnabled()).toBe(true);
    // What the control plane says of a field stands at the field, and nowhere else.
    await page.getByRole('combobox', { name: 'Who, 1' }).selectOption('addresses');
    const addresses = page.getByRole('textbox', { name: /^Addresses/ });
    await addresses.fill('10.0.0.0/40');
    const fault = page.getByText(/A CIDR such as 10\.96\.0\.0\/24/i);
    await fault.waitFor();
    expect(await fault.count()).toBe(1);
    expect(await addresses.getAttribute('aria-describedby')).toBe(await fault.getAttribute('id'));
    await page.getByRole('alert').getByText('Correct the marked fields.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  });

  test('what is typed into a policy is there again when a person comes back to it, by the address of a new one too', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/policies/new');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('heading', { name: 'New policy' }).waitFor();
    await page.getByRole('textbox', { name: /^Name/ }).fill('half-done');
    await dashboard.go('prod/policies/web-to-db');
    const ports = () => page.getByLabel('Ports').inputValue();
    await expect.poll(ports).toContain('TCP 5432');
    const stored = await ports();
    await page.getByLabel('Ports').fill('TCP 5434');
    await dashboard.go('prod/policies?view=new');
    await expect.poll(() => page.getByRole('textbox', { name: /^Name/ }).inputValue()).toBe('half-done');
    await dashboard.go('prod/policies/web-to-db');
    await expect.poll(ports).toBe('TCP 5434');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await dashboard.go('prod/policies');
    await page.getByRole('link', { name: 'web-to-db' }).click();
    await expect.poll(ports).toBe(stored);
    expect(dashboard.complaints).toEqual([]);
  });

  test('on a phone the columns of a list that one acts on fit the screen', async () => {
    const name = `a-policy-with-quite-a-long-name-${'x'.repeat(30)}`;
    const made = { name, spec: { action: 'DENY', peerSelector: {}, ingress: [{ ports: [{ port: 25 }] }] } };
    expect((await harness.api('POST', '/api/v1/policies', { ...own, body: made })).status).toBe(201);
    const closed = { name: 'closed', spec: { action: 'ALLOW', peerSelector: {}, ingress: [] } };
    expect((await harness.api('POST', '/api/v1/policies', { ...own, body: closed })).status).toBe(201);
    const token = { name: `a-token-with-quite-a-long-name-${'x'.repeat(30)}`, usageLimit: 3, expiry: '24h' };
    expect((await harness.api('POST', '/api/v1/token/generate', { ...own, body: token })).status).toBe(200);
    await using dashboard = await openDashboard(browser, harness, { width: 390 });
    const { page } = dashboard;
    await dashboard.go('prod/policies');
    await dashboard.signIn('admin', PASSWORD);
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'closed', exact: true }) });
    await row.getByText('default deny', { exact: true }).waitFor();
    await row.getByText('Default deny for every peer, ingress').waitFor();
    const over: Record<string, number> = {};
    for (const address of ['policies', 'join', 'peers', 'networks', 'settings/people', 'audit']) {
      await dashboard.go(`prod/${address}`);
      await page.locator('section.table tbody tr').first().waitFor();
      const by = await page.evaluate<number>(
        "Math.max(...[...document.querySelectorAll('section.table')].map((one) => one.scrollWidth - one.clientWidth))",
      );
      if (by > 0) over[address] = by;
    }
    expect(over).toEqual({});
    for (const one of [name, 'closed']) await harness.api('DELETE', `/api/v1/policies/${one}`, { ...own, body: {} });
    expect(dashboard.complaints).toEqual([]);
  });

  test('a policy that waits is told in the future, with its begin and end by the clocks of the workspace, on a phone too', async () => {
    const route = `/api/v1/workspaces/${own.workspace}`;
    await harness.api('PATCH', route, { ...own, body: { settings: { timeZone: 'Asia/Tokyo' } } });
    const times = { startsAt: '2090-01-31T08:00:00Z', expiresAt: '2090-02-01T08:00:00Z' };
    const body = {
      name: 'late',
      spec: { action: 'DENY', peerSelector: {}, ingress: [{ ports: [{ port: 25 }] }], ...times },
    };
    expect((await harness.api('POST', '/api/v1/policies', { ...own, body })).status).toBe(201);
    const at = new Date().toISOString();
    await using dashboard = await openDashboard(browser, harness, { width: 390, timeZone: 'America/New_York' });
    const { page } = dashboard;
    await dashboard.go('prod/policies');
    await dashboard.signIn('admin', PASSWORD);
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'late', exact: true }) });
    await row.getByText('will deny', { exact: true }).waitFor();
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('button', { name: 'Begins' }).waitFor();
    await expect
      .poll(() => row.getByRole('time').allTextContents())
      .toEqual([expect.stringContaining('years'), expect.stringContaining('years')]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await dashboard.go(`prod/policies?at=${at}`);
    const then = ['31 Jan 2090, 03:00', '1 Feb 2090, 03:00'];
    await expect.poll(() => row.getByRole('time').allTextContents()).toEqual(then);

    await dashboard.go('prod/policies/late');
    await page.getByText('Will deny anyone → every peer on TCP 25').waitFor();
    await page.getByText('31 Jan 2090, 17:00 Asia/Tokyo (31 Jan 2090, 03:00 America/New_York)').waitFor();
    const begins = page.getByLabel('Begins at');
    await expect.poll(() => begins.inputValue()).toBe('2090-01-31T17:00');
    await page.getByText('In Asia/Tokyo. That is 31 Jan 2090, 03:00 America/New_York. Empty: at once.').waitFor();
    await begins.fill('2090-01-31T18:30');
    await yaml(page).getByText('2090-01-31T09:30:00Z').waitFor();
    await harness.api('DELETE', '/api/v1/policies/late', { ...own, body: {} });
    await harness.api('PATCH', route, { ...own, body: { settings: { timeZone: 'UTC' } } });
    expect(dashboard.complaints).toEqual([]);
  });

  test('what others save meanwhile is shown, and what is typed is kept and refused rather than written over it', async () => {
    const body = { name: 'shared', spec: NOBODY };
    await harness.api('POST', '/api/v1/policies', { ...own, body });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/policies/shared');
    await dashboard.signIn('admin', PASSWORD);
    const ports = page.getByLabel('Ports');
    await ports.waitFor();
    const put = (port: number) => {
      const spec = { ...NOBODY, ingress: [{ ports: [{ protocol: 'TCP', port }] }] };
      return harness.api('PUT', '/api/v1/policies/shared', { ...own, body: { spec } });
    };
    await put(81);
    await expect.poll(() => ports.inputValue()).toBe('TCP 81');
    await ports.fill('TCP 82');
    await put(83);
    await page.getByText('Somebody has changed this policy').waitFor();
    expect(await ports.inputValue()).toBe('TCP 82');
    await page.getByRole('button', { name: 'Save shared' }).click();
    await page.getByRole('alert').filter({ hasText: 'Conflict' }).waitFor();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await expect.poll(() => ports.inputValue()).toBe('TCP 83');
    await harness.api('DELETE', '/api/v1/policies/shared', own);
  });

  test('a viewer reads policies of now and of then, and finds nothing to change them with', async () => {
    // What is written within this millisecond is not before it.
    const before = new Date(Date.now() - 1).toISOString();
    await harness.api('POST', '/api/v1/policies', { ...own, body: { name: 'later', spec: NOBODY } });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/policies/later');
    await dashboard.signIn('vera', PASSWORD);
    await yaml(page).getByText('role: vpn').waitFor();
    expect(await yaml(page).getAttribute('contenteditable')).toBe('false');
    expect(
      await page
        .getByRole('main')
        .getByRole('button', { name: /Save|Delete/ })
        .count(),
    ).toBe(0);
    await dashboard.go('prod/policies?view=new');
    await page.getByText('You can read policies but not change them.').waitFor();
    await dashboard.go('prod/policies?view=tests');
    await page.getByText('No tests yet.').waitFor();
    expect(await page.getByRole('button', { name: 'New test' }).count()).toBe(0);

    await dashboard.go(`prod/policies?at=${before}`);
    await page.getByRole('link', { name: 'web-to-db' }).waitFor();
    expect(await page.getByRole('link', { name: 'later' }).count()).toBe(0);
    await dashboard.go(`prod/policies/later?at=${before}`);
    await page.getByRole('alert').filter({ hasText: 'The policy later did not exist then.' }).waitFor();
    await harness.api('DELETE', '/api/v1/policies/later', own);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a test of what must stay true is made, stops a change that would break it, and is deleted', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/policies?view=tests');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('button', { name: 'New test' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('laptops-not-db');
    await dialog.getByLabel('From').fill('laptop');
    await dialog.getByLabel('To').fill('role=db');
    await dialog.getByLabel('Port').fill('http');
    await dialog.getByText('Write one port or range').waitFor();
    await dialog.getByLabel('Port').fill('22/tcp');
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create test' }).click();
    await page.getByRole('cell', { name: 'laptop never reaches role=db on TCP 22' }).waitFor();
    await page.getByRole('cell', { name: 'holds' }).waitFor();

    await dashboard.go('prod/policies/web-to-db');
    await page.getByLabel('Labels').nth(1).fill('');
    await page.getByLabel('Ports').fill('TCP 22');
    await effect(page).getByRole('alert').filter({ hasText: 'laptops-not-db' }).waitFor();
    expect(await page.getByRole('button', { name: /^Save/ }).isDisabled()).toBe(true);

    await dashboard.go('prod/policies?view=tests');
    await page.getByRole('button', { name: 'Delete laptops-not-db' }).click();
    await dialog.getByRole('textbox').fill('laptops-not-db');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No tests yet.').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('a change that needs approval is sent for it, and leads to where it is decided', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('held/policies');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByText('No policies yet').waitFor();
    await page.getByRole('link', { name: 'New policy' }).click();
    await page.getByLabel(/^Name/).fill('all-in');
    await page.getByRole('group', { name: 'Applies to' }).getByText('whom the policy is about').waitFor();
    expect(await page.getByRole('button', { name: 'Save all-in' }).isDisabled()).toBe(true);
    await page.getByLabel('Labels').fill('role=db');
    await effect(page).getByText('waits for approval').waitFor();
    // However long the effect below it: the YAML is not squeezed.
    await page.setViewportSize({ width: 1280, height: 480 });
    const [frame, editor] = await Promise.all(['.yaml', '.cm-editor'].map((part) => page.locator(part).boundingBox()));
    expect(frame?.height).toBeGreaterThanOrEqual(editor?.height ?? Number.POSITIVE_INFINITY);
    await page.getByRole('button', { name: 'Send all-in for approval' }).click();
    await page
      .getByRole('article')
      .getByRole('button', { name: /^Approve: / })
      .waitFor();
    expect(page.url()).toContain('/held/review/wf_');
  });
});
