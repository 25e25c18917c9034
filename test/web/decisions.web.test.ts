import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUILT_IN_PASSWORD } from '../../core/identity/first-accounts.ts';
import { ADMIN_PASSWORD, type Harness, startHarness } from '../kits/http/harness.ts';
import { webAndDatabase } from '../kits/http/network-setup.ts';
import { planIdOf } from '../kits/http/plan-id.ts';
import { freshKey } from '../kits/plane/devices.ts';
import { hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { verifies } from '../verifies.ts';

const INTENT = 'let the web servers reach the database on port 5432 and nobody else';
const OWN_PASSWORD = 'a password of my own 42';
const HOSTILE = '<b onclick="alert(1)">fine</b>';

describe.skipIf(!hasBrowser)('decisions on the dashboard', () => {
  let browser: Browser;
  let harness: Harness;
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness()]);
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  test('a person signs in, approves a change and a device, rejects others, and signs out', async () => {
    verifies('dashboard');
    const { token, workspace } = await webAndDatabase(harness);
    const session = { token, workspace };
    const ask = async () => {
      const body = { workspace_id: workspace, intent: INTENT, dry_run: false };
      const plan = await harness.api('POST', '/api/v1/ai/intent/plan', { token, body });
      const wanted = { ...session, body: { plan_id: planIdOf(plan.body), approved_by: 'admin' } };
      return (await harness.api('POST', '/api/v1/ai/intent/apply', wanted)).body;
    };
    const [first, second] = [await ask(), await ask()];
    const settings = { settings: { requirePeerApproval: true } };
    await harness.api('PATCH', `/api/v1/workspaces/${workspace}`, { token, body: settings });
    const asked = { ...session, body: { name: 'join', expiry: '' } };
    const join = await harness.api('POST', '/api/v1/token/generate', asked);
    for (const name of ['build-7', 'build-8']) {
      const device = { token: join.body.token, name, publicKey: freshKey().publicKey };
      const { body } = await harness.api('POST', '/api/v1/devices/register', { body: device });
      expect(body).toMatchObject({ phase: 'pending' });
    }

    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    // A link of a plan carries the advertised port, which is 0 here.
    await dashboard.go(new URL(first.approval_url).hash.slice(2));
    await dashboard.signIn('admin', 'not the password');
    await page.getByRole('alert').filter({ hasText: 'Sign-in failed' }).waitFor();
    await dashboard.signIn('admin', ADMIN_PASSWORD);

    const change = page.getByRole('article');
    await change.getByText(/^admin, /).waitFor();
    await change.getByText('Effect matches the orders').waitFor();
    await change.getByText('1 pair, 1 with addresses outside').waitFor();
    await change.getByText('create MeshPolicy').click();
    await change.getByText('kind: MeshPolicy').waitFor();
    await change.getByLabel('Note').fill(HOSTILE);
    await change.getByRole('button', { name: /^Approve: / }).click();
    await page.getByRole('status').filter({ hasText: 'The change is executed.' }).waitFor();
    await change.getByText(HOSTILE).waitFor();
    await change.getByRole('button', { name: /^Approve: / }).waitFor({ state: 'detached' });

    // Beside what comes next, its Undo would seem to be of that.
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByText('The change is executed.').waitFor({ state: 'detached', timeout: 5_000 });
    await page.getByRole('link', { name: 'build-7 is awaiting approval' }).click();
    await page.getByRole('button', { name: 'Approve build-7' }).click();
    await page.getByRole('status').filter({ hasText: 'build-7 is approved.' }).waitFor();
    await page.getByRole('link', { name: 'build-8 is awaiting approval' }).click();
    await page.getByRole('button', { name: 'Reject build-8' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('status').filter({ hasText: 'build-8 is revoked.' }).waitFor();
    await page.getByText('is awaiting approval').first().waitFor({ state: 'detached' });
    const inAudit = page.getByText('Decisions about devices are in Audit.').getByRole('link', { name: 'Audit' });
    expect(await inAudit.getAttribute('href')).toContain('/audit?kind=MeshPeer');

    await dashboard.go(`prod/review/${second.workflow_id}`);
    await change.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('status').filter({ hasText: 'The change is rejected.' }).waitFor();

    await dashboard.go('prod/review/wf_of_nobody');
    await page.getByRole('alert').filter({ hasText: 'Record not found' }).waitFor();

    await dashboard.signOut();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.locator('body').textContent()).not.toContain('5432');
    const kept = 'JSON.stringify([sessionStorage, localStorage, document.cookie])';
    expect(await page.evaluate(kept)).toBe('[{},{},""]');
    expect(dashboard.complaints).toEqual([]);

    const own = { token: await harness.login(), workspace };
    const stateOf = async (id: string) => (await harness.api('GET', `/api/v1/workflows/${id}`, own)).body.status;
    expect([await stateOf(first.workflow_id), await stateOf(second.workflow_id)]).toEqual(['executed', 'rejected']);
    const { body: peers } = await harness.api('GET', '/api/v1/peers?phase=pending', own);
    expect(peers.items).toEqual([]);
  });

  test('an approver sees what a held call would do and why it waits, and is told that it has to be repeated', async () => {
    await using fresh = await startHarness();
    const { token, workspace } = await fresh.workspace();
    const settings = { settings: { requireApproval: true } };
    await fresh.api('PATCH', `/api/v1/workspaces/${workspace}`, { token, body: settings });
    const body = { name: HOSTILE, expiry: '24h', labels: { role: 'db' } };
    const { body: held } = await fresh.api('POST', '/api/v1/token/generate', { token, workspace, body });
    const passwords = { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD };
    await fresh.api('PUT', '/api/v1/users/me/password', { token, body: passwords });

    await using dashboard = await openDashboard(browser, fresh);
    const { page } = dashboard;
    await dashboard.go(`workflows/${held.workflow_id}`);
    await dashboard.signIn('admin', OWN_PASSWORD);
    const change = page.getByRole('article');
    await change.getByText('generate_join_token').waitFor();
    const own = { token: await fresh.login('admin', OWN_PASSWORD), workspace };
    const { body: workflow } = await fresh.api('GET', `/api/v1/workflows/${held.workflow_id}`, own);
    expect(workflow.riskReasons.length).toBeGreaterThan(0);
    const text = await change.textContent();
    for (const line of [...workflow.riskReasons, ...workflow.warnings]) expect(text).toContain(line);
    await change.getByText('runs only if it still writes and opens just this').waitFor();
    expect(await change.locator('pre').first().textContent()).toBe(JSON.stringify(workflow.call.input, null, 2));
    await change.getByRole('button', { name: /^Approve: / }).click();
    const awaited = 'Who asked for it has to send the call again';
    const told = `The change is approved. Nothing has changed yet. ${awaited}`;
    await page.getByRole('status').filter({ hasText: told }).waitFor();
    await change.getByText(awaited).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('the first person of a new plane has to replace the built-in password before anything else', async () => {
    await using fresh = await startHarness({ config: {} });
    await using dashboard = await openDashboard(browser, fresh);
    const { page } = dashboard;
    await dashboard.signIn('admin', BUILT_IN_PASSWORD);
    await page.getByLabel(/^New password/).fill(BUILT_IN_PASSWORD);
    await page.getByLabel('Repeat new password').fill(BUILT_IN_PASSWORD);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('not the old or the built-in one').waitFor();
    await page.getByLabel(/^New password/).fill(OWN_PASSWORD);
    await page.getByLabel('Repeat new password').fill(OWN_PASSWORD);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('heading', { name: 'Setup' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });
});
