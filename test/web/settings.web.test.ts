import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_PASSWORD, type Harness, loginWithOwn, startHarness } from '../kits/http/harness.ts';
import { buildSettableClock } from '../kits/plane/settable-clock.ts';
import {
  accessibilityFaults,
  type Dashboard,
  hasBrowser,
  launchBrowser,
  openDashboard,
} from '../kits/web/dashboard.ts';

const OWN_PASSWORD = 'a password of my own 42';
const HOSTILE = '<img src=x onerror="alert(1)">';
const CODE_STEP_MS = 30_000;

/** The code that an authenticator app shows (RFC 6238: SHA-1, six digits, 30 seconds). */
function codeOf(secret: string, now: number): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / CODE_STEP_MS)));
  const digest = createHmac('sha1', key).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 0xf;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

describe.skipIf(!hasBrowser)('settings on the dashboard', () => {
  const clock = buildSettableClock();
  let browser: Browser;
  let harness: Harness;
  let workspace: string;
  const session = async () => ({ token: await harness.login('admin', OWN_PASSWORD), workspace });

  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness({ clock })]);
    const made = await harness.workspace();
    workspace = made.workspace;
    const body = { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD };
    await harness.api('PUT', '/api/v1/users/me/password', { token: made.token, body });
    const admin = await session();
    for (const username of ['olga', 'vic', 'pat', 'kim']) {
      const account = { username, password: `${username} has an initial one 7`, displayName: HOSTILE };
      await harness.api('POST', '/api/v1/users', { ...admin, body: account });
    }
    for (const [username, role] of [
      ['olga', 'operator'],
      ['vic', 'viewer'],
      ['kim', 'admin'],
    ]) {
      const route = `/api/v1/workspaces/${workspace}/members/${username}`;
      await harness.api('PUT', route, { ...admin, body: { role } });
    }
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  async function open(options?: Parameters<typeof openDashboard>[2]) {
    const dashboard = await openDashboard(browser, harness, options);
    await dashboard.signIn('admin', OWN_PASSWORD);
    await dashboard.page.getByRole('heading', { name: 'Home' }).waitFor();
    return dashboard;
  }

  const said = ({ page }: Dashboard, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();

  /** Puts the focus on a control and presses a key, as whoever has no mouse. */
  async function press({ page }: Dashboard, name: string | RegExp, key = 'Enter') {
    const control = page.getByRole('button', { name }).first();
    await control.focus();
    await page.keyboard.press(key);
  }

  test('an administrator adds a member, changes the role and removes them, with the name typed', async () => {
    await using dashboard = await open();
    const { page } = dashboard;
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByText('Add a member').click();
    const form = page.locator('form').filter({ hasText: 'Exact user name' });
    await form.getByLabel('User name').fill('pat');
    await form.getByLabel('Role').selectOption('auditor');
    await form.getByRole('button', { name: 'Add member' }).click();
    await said(dashboard, 'pat is now auditor.');
    await press(dashboard, 'Change role pat');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Role of pat').selectOption('operator');
    await dialog.getByRole('button', { name: 'Change role' }).click();
    await said(dashboard, 'pat is now operator.');
    await press(dashboard, 'Remove pat');
    const remove = dialog.getByRole('button', { name: 'Remove' });
    expect(await remove.isDisabled()).toBe(true);
    await dialog.getByLabel('Type pat to confirm').fill('pat');
    await page.keyboard.press('Enter');
    await said(dashboard, 'pat is removed.');
    await page.getByRole('button', { name: 'Change role pat' }).waitFor({ state: 'detached' });
    const { body } = await harness.api('GET', `/api/v1/workspaces/${workspace}/members`, await session());
    expect(body.items.map(({ username }: { username: string }) => username)).toEqual(['admin', 'kim', 'olga', 'vic']);
    expect(dashboard.complaints).toEqual([]);
  });

  test('on a phone no button of a table is cut', async () => {
    await using dashboard = await openDashboard(browser, harness, { width: 390 });
    const { page } = dashboard;
    await dashboard.go('prod/settings/people');
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page
      .getByRole('region', { name: 'Members' })
      .getByRole('button', { name: /^Remove/ })
      .first()
      .waitFor();
    const cut = `[...document.querySelectorAll('td')]
      .filter((cell) => cell.querySelector('button') && cell.scrollWidth > cell.clientWidth)
      .map((cell) => cell.textContent)`;
    expect(await page.evaluate(cut)).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a platform administrator creates an account, disables and enables it, deletes it, and takes its agents over', async () => {
    await using dashboard = await open();
    const { page } = dashboard;
    await dashboard.go('prod/settings/people');
    await page.getByText('Create an account').click();
    const form = page.locator('form').filter({ hasText: 'Initial password' });
    await form.getByLabel('User name').fill('new.person');
    await form.getByLabel('Display name').fill(HOSTILE);
    await form.getByLabel('Initial password').fill('short');
    await form.getByRole('button', { name: 'Create account' }).click();
    // What is wrong with a field stands at the field, and is read aloud with it; no name of the API is said.
    await form
      .getByRole('alert')
      .filter({ hasText: /^Correct the marked fields\./ })
      .waitFor();
    const marked = form.getByLabel('Initial password');
    expect(await marked.getAttribute('aria-invalid')).toBe('true');
    expect(await marked.evaluate((field) => field.ariaDescribedByElements?.[0]?.textContent)).toMatch(/8 characters/);
    await form.getByLabel('Initial password').fill('begin with this one 9');
    await form.getByRole('button', { name: 'Create account' }).click();
    await said(dashboard, 'new.person can sign in.');
    await page.getByRole('link', { name: 'new.person' }).click();
    const account = page.getByRole('article', { name: 'new.person' });
    await account.getByText(HOSTILE).waitFor();
    await account.getByRole('button', { name: 'Disable' }).click();
    // Its agents end for good.
    await page.getByLabel('Type new.person to confirm').fill('new.person');
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await account.getByText('disabled').waitFor();
    await account.getByRole('button', { name: 'Enable' }).click();
    await account.getByText('has an initial password').first().waitFor();
    const admin = await session();
    const membership = `/api/v1/workspaces/${workspace}/members/new.person`;
    await harness.api('PUT', membership, { ...admin, body: { role: 'admin' } });
    const token = await loginWithOwn(harness.api, 'new.person', 'begin with this one 9', 'chosen by the person 9');
    const theirs = { token, workspace };
    await harness.api('POST', '/api/v1/agents', { ...theirs, body: { name: 'left-behind' } });
    await account.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel('Take over their agents where you are a member').check();
    await page.getByLabel('Type new.person to confirm').fill('new.person');
    await page.keyboard.press('Enter');
    await said(dashboard, 'new.person is deleted.');
    const { body } = await harness.api('GET', '/api/v1/users', { token: admin.token });
    expect(JSON.stringify(body.items)).not.toContain('new.person');
    const { body: agent } = await harness.api('GET', '/api/v1/agents/left-behind', admin);
    expect([agent.phase, agent.person]).toEqual(['Active', 'admin']);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a person sets up a second factor, is shown recovery codes once, and removes it again', async () => {
    await using dashboard = await open();
    const { page } = dashboard;
    await dashboard.go('prod/settings/account');
    await page.getByText('Set up a second factor').click();
    await page.getByLabel('Your password').fill(OWN_PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('img', { name: /^QR code/ }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const secret = (await page.locator('p code').first().textContent()) ?? '';
    await page.getByLabel('Code of the app').fill('000000');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    const read = Promise.withResolvers<void>();
    await page.route('**/api/v1/users/me/otp', async (route) => {
      await read.promise;
      await route.continue();
    });
    await page.getByLabel('Code of the app').fill(codeOf(secret, clock.now()));
    await page.keyboard.press('Enter');
    await said(dashboard, 'The second factor is on.');
    const codes = await page.locator('.codes code').allTextContents();
    expect(new Set(codes).size).toBe(10);
    expect(await page.locator('body').textContent()).not.toContain(secret);
    read.resolve();
    await page.getByRole('button', { name: 'I stored them' }).click();
    await page.getByText('10 recovery codes left.').waitFor();
    expect(await page.locator('body').textContent()).not.toContain(codes[0]);
    await page.getByText('Remove the second factor').first().click();
    const form = page.locator('details[open] form').filter({ hasText: 'The password alone' });
    await form.getByLabel('Your password').fill(OWN_PASSWORD);
    await form.getByLabel('Code of the app').fill(codes[0] ?? '');
    await page.keyboard.press('Enter');
    await page.getByText('Off. Your password alone signs you in.').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('a person changes the password and goes on, and ends a session elsewhere', async () => {
    const [initial, before, next] = ['kim has an initial one 7', 'the first of kim 41', 'the second of kim 42'];
    const token = await harness.login('kim', initial);
    const passwords = { oldPassword: initial, newPassword: before };
    await harness.api('PUT', '/api/v1/users/me/password', { token, body: passwords });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.signIn('kim', before);
    await dashboard.go('prod/settings/account');
    await page.getByText('Change password').first().click();
    const form = page.locator('form').filter({ hasText: 'Repeat new password' });
    await form.getByLabel('Current password').fill(before);
    await form.getByLabel(/^New password8/).fill(next);
    await form.getByLabel('Repeat new password').fill('the third of kim 43');
    await page.keyboard.press('Enter');
    await form.locator('.fault').filter({ hasText: 'do not match' }).waitFor();
    await form.getByLabel('Repeat new password').fill(next);
    await page.keyboard.press('Enter');
    await said(dashboard, 'The password is changed.');
    const elsewhere = await harness.login('kim', next);
    await dashboard.go('prod/settings/people');
    await page.getByRole('heading', { name: 'Members' }).waitFor();
    await dashboard.go('prod/settings/account');
    const meOf = async () => (await harness.api('GET', '/api/v1/users/me', { token: elsewhere })).status;
    expect(await meOf()).toBe(200);
    await page.getByRole('button', { name: /^End session/ }).waitFor();
    await press(dashboard, /^End session/);
    await said(dashboard, 'The session is ended.');
    await page.getByRole('button', { name: /^End session/ }).waitFor({ state: 'detached' });
    expect(await meOf()).toBe(401);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a token is shown once, lists what it may in words, and is revoked', async () => {
    await using dashboard = await open();
    const { page } = dashboard;
    await dashboard.go('prod/settings/tokens');
    await page.getByText('No API tokens.').waitFor();
    await page.getByText('Create an API token').click();
    await page.getByLabel('Name').fill(HOSTILE);
    await page.getByLabel('Permissions').selectOption('own');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByRole('alert').filter({ hasText: 'Choose at least one.' }).waitFor();
    await page.getByLabel('see peers, policies and who reaches whom').check();
    await page.getByRole('button', { name: 'Create token' }).click();
    const dialog = page.getByRole('dialog');
    const token = ((await dialog.locator('pre').textContent()) ?? '').trim();
    const peers = () => harness.api('GET', '/api/v1/peers', { token, workspace });
    expect((await peers()).status).toBe(200);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.content()).not.toContain(token);
    await page.getByRole('cell', { name: 'see peers, policies and who reaches whom', exact: true }).waitFor();
    await press(dashboard, `Revoke ${HOSTILE}`);
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No API tokens.').waitFor();
    expect((await peers()).status).toBe(401);
    expect(dashboard.complaints).toEqual([]);
  });

  test('an administrator changes what needs approval and whom assessments are about, and deletes a workspace', async () => {
    const { body: spare } = await harness.api('POST', '/api/v1/workspaces/add', {
      token: (await session()).token,
      body: { slug: 'spare', namespace: 'spare', displayName: HOSTILE, maxNodeCount: 10 },
    });
    await using dashboard = await open();
    const { page } = dashboard;
    await dashboard.go('spare/settings/workspace');
    await page.getByLabel('New devices wait for approval').check();
    await page.getByLabel('Require a 2FA code').check();
    await page.getByLabel('Requesters may approve their own changes').selectOption('no');
    await page.getByLabel('Apply without approval').selectOption('critical');
    await page.getByText('Agents change the network without review.').waitFor();
    await page.getByLabel('Apply without approval').selectOption('low');
    // What is typed below stays while this is saved and read again.
    await page.getByLabel('Labels of peers with cardholder data').fill('zone');
    const save = page.getByRole('button', { name: 'Save' }).nth(1);
    await save.click();
    await said(dashboard, 'The settings are saved.');
    await expect.poll(() => save.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Save' }).nth(2).click();
    await page.getByRole('alert').filter({ hasText: 'Correct the marked fields.' }).waitFor();
    await page.getByText(/^Entry 1: .*write a label as key=value/).waitFor();
    await page.getByLabel('Labels of peers with cardholder data').fill('zone=card zone=vault');
    await page.getByLabel('these:').check();
    await page.getByLabel('PCI DSS').check();
    await page.getByLabel('of access').fill('90');
    await page.keyboard.press('Enter');
    const route = `/api/v1/workspaces/${spare.data.id}`;
    const settings = async () => (await harness.api('GET', route, { token: (await session()).token })).body.settings;
    await expect.poll(settings).toMatchObject({
      requirePeerApproval: true,
      requireApproval: false,
      selfApproval: false,
      approvalCode: true,
      autoApprove: { maxRisk: 'low' },
      compliance: { cde: ['zone=card', 'zone=vault'], frameworks: ['pci-dss'] },
      reviews: { access: 90 },
    });
    await page.getByRole('button', { name: 'Delete workspace' }).click();
    await page.getByLabel('Type spare to confirm').fill('spare');
    await page.keyboard.press('Enter');
    await said(dashboard, 'spare is deleted.');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('a webhook is made with its secret shown once, tested, its delivery looked at, rotated and deleted', async () => {
    await using dashboard = await open();
    const { page } = dashboard;
    await dashboard.go('prod/settings/webhooks');
    await page.getByText('No webhooks yet.').waitFor();
    await page.getByText('New webhook').click();
    await page.getByLabel('URL').fill('https://127.0.0.1/hook');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('URL').fill('https://hooks.invalid/mesh');
    await page.getByLabel('Description').fill(HOSTILE);
    await page.getByRole('button', { name: 'Create webhook' }).click();
    const dialog = page.getByRole('dialog', { name: 'Signing secret' });
    const secret = ((await dialog.locator('pre').textContent()) ?? '').trim();
    expect(secret).toMatch(/^whsec_/);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.content()).not.toContain(secret);
    await page.getByRole('link', { name: HOSTILE }).click();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await press(dashboard, 'webhook.test');
    await page.getByRole('dialog').getByText('"type": "webhook.test"').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
    expect(await dialog.locator('pre').textContent()).not.toContain(secret);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel(`Type ${HOSTILE} to confirm`).fill(HOSTILE);
    await page.keyboard.press('Enter');
    await page.getByText('No webhooks yet.').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('a viewer is offered nothing that would be refused', async () => {
    const token = await harness.login('vic', 'vic has an initial one 7');
    const passwords = { oldPassword: 'vic has an initial one 7', newPassword: OWN_PASSWORD };
    await harness.api('PUT', '/api/v1/users/me/password', { token, body: passwords });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/settings/people');
    await dashboard.signIn('vic', OWN_PASSWORD);
    await page.getByRole('cell', { name: 'olga' }).waitFor();
    const tabs = page.getByRole('navigation', { name: 'Settings' }).getByRole('link');
    expect(await tabs.allTextContents()).toEqual(['My account', 'People', 'API tokens', 'Workspace', 'System']);
    expect(await page.getByText('Add a member').count()).toBe(0);
    expect(await page.getByRole('heading', { name: 'Accounts' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /Change role|Remove/ }).count()).toBe(0);
    await dashboard.go('prod/settings/workspace');
    await page.getByText('Only workspace administrators can change these settings.').waitFor();
    expect(await page.getByRole('button', { name: /Save|Delete/ }).count()).toBe(0);
    await dashboard.go('prod/settings/webhooks');
    await page.getByRole('heading', { name: 'Profile' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });
});
