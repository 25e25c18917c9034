import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUILT_IN_PASSWORD } from '../../core/identity/first-accounts.ts';
import { ADMIN_PASSWORD, type Harness, startHarness } from '../kits/http/harness.ts';
import { webAndDatabase } from '../kits/http/network-setup.ts';
import { freshKey } from '../kits/plane/devices.ts';
import { hasBrowser, openBrowser } from '../kits/process/browser.ts';
import { verifies } from '../verifies.ts';

const INTENT = 'let the web servers reach the database on port 5432 and nobody else';
const OWN_PASSWORD = 'a password of my own 42';

describe.skipIf(!hasBrowser)('the dashboard in a browser', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness[Symbol.asyncDispose]());

  test('a person signs in, chooses a password, approves a change and a peer, rejects another, and signs out', async () => {
    verifies('dashboard');
    const { token, workspace } = await webAndDatabase(harness);
    const session = { token, workspace };
    const ask = async () => {
      const body = { workspace_id: workspace, intent: INTENT, dry_run: false };
      const plan = await harness.api('POST', '/api/v1/ai/intent/plan', { token, body });
      const wanted = { ...session, body: { plan_id: plan.body.plan_id, approved_by: 'admin' } };
      return (await harness.api('POST', '/api/v1/ai/intent/apply', wanted)).body;
    };
    const [first, second] = [await ask(), await ask()];
    const settings = { settings: { requirePeerApproval: true } };
    await harness.api('PATCH', `/api/v1/workspaces/${workspace}`, { token, body: settings });
    const join = await harness.api('POST', '/api/v1/token/generate', {
      ...session,
      body: { name: 'join', expiry: '' },
    });
    for (const name of ['build-7', 'build-8']) {
      const device = { token: join.body.token, name, publicKey: freshKey().publicKey };
      const { body } = await harness.api('POST', '/api/v1/devices/register', { body: device });
      expect(body).toMatchObject({ phase: 'pending' });
    }

    await using page = await openBrowser();
    const sees = (selector: string, text: string | RegExp) =>
      expect.poll(() => page.text(selector), { timeout: 10_000 }).toMatch(text);
    // A link of a plan carries the advertised port, which is 0 here.
    const link = new URL(new URL(first.approval_url).hash, harness.url).href;
    await page.open(link);
    await sees('main', 'Sign in');
    expect(await page.run('document.activeElement.textContent')).toBe('Sign in');

    await page.type('#username', 'admin');
    await page.type('#password', 'not the password');
    await page.click('#sign-in button');
    await sees('#problem', /^Authentication required: ./);
    await page.type('#password', ADMIN_PASSWORD);
    await page.click('#sign-in button');

    await sees('main', 'Choose a password');
    await page.type('#old-password', ADMIN_PASSWORD);
    await page.type('#new-password', OWN_PASSWORD);
    await page.click('#change-password button');
    await sees('#message', 'The password is changed.');

    await sees('#facts', /Status\s+pending/);
    await sees('#facts', /Requested by\s+user:admin/);
    await sees('#facts', /Verified\s+Proven: /);
    await sees('#effect', 'Closes (1 pair, and 1 with addresses outside of the network)');
    await sees('#changes', 'kind: MeshPolicy');
    await page.type('#note', '<b onclick="alert(1)">fine</b>');
    await page.click('#review [value=approve]');
    await sees('#message', 'The change is executed.');
    await sees('#facts', '<b onclick="alert(1)">fine</b>');
    expect(await page.run('document.querySelector("#review").checkVisibility()')).toBe(false);

    await page.click('.brand');
    await sees('#workflows', /pair|polic|5432/i);
    await page.click('[aria-label="Approve build-7"]');
    await sees('#message', 'build-7 is approved.');
    await page.click('[aria-label="Reject build-8"]');
    await sees('#message', 'build-8 is rejected.');
    await sees('#peers', 'Nothing waits.');

    await page.click(`a[href="#/workflows/${second.workflow_id}"]`);
    await sees('#facts', /Status\s+pending/);
    await page.click('#review [value=reject]');
    await sees('#message', 'The change is rejected.');
    await page.click('#review [value=approve]');
    await sees('#problem', /^Conflict: ./);

    await page.run("location.hash = '#/workflows/of-nobody'");
    await sees('#problem', /^Record not found: ./);
    expect(await page.run('document.querySelector("#workflow").checkVisibility()')).toBe(false);

    await page.click('#sign-out');
    await sees('#message', 'Signed out.');
    expect(await page.run('sessionStorage.length')).toBe(0);
    expect(await page.run('document.querySelector("main").textContent')).not.toContain('5432');
    expect(page.complaints).toEqual([]);

    const own = { token: await harness.login('admin', OWN_PASSWORD), workspace };
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
    const body = { name: '<b onclick="alert(1)">databases</b>', expiry: '24h', labels: { role: 'db' } };
    const { body: held } = await fresh.api('POST', '/api/v1/token/generate', { token, workspace, body });
    await fresh.api('PUT', '/api/v1/users/me/password', {
      token,
      body: { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD },
    });

    await using page = await openBrowser();
    const sees = (selector: string, text: string | RegExp) =>
      expect.poll(() => page.text(selector), { timeout: 10_000 }).toMatch(text);
    await page.open(`${fresh.url}/#/workflows/${held.workflow_id}`);
    await sees('main', 'Sign in');
    await page.type('#username', 'admin');
    await page.type('#password', OWN_PASSWORD);
    await page.click('#sign-in button');
    await sees('#facts', /Status\s+pending/);
    const own = { token: await fresh.login('admin', OWN_PASSWORD), workspace };
    const { body: workflow } = await fresh.api('GET', `/api/v1/workflows/${held.workflow_id}`, own);
    const facts = await page.text('#facts');
    expect(workflow.riskReasons.length).toBeGreaterThan(0);
    for (const line of [...workflow.riskReasons, ...workflow.warnings]) expect(facts).toContain(line);
    await sees('#call', 'generate_join_token');
    expect(await page.text('#call pre')).toBe(JSON.stringify(workflow.call.input, null, 2));
    expect(await page.text('#call pre')).toContain('<b onclick');
    await page.click('#review [value=approve]');
    await sees('#message', /^The change is approved. Nothing has changed yet: who asked has to repeat the call/);
    await sees('#facts', /Status\s+approved\s+Next\s+Nothing has changed yet/);
    expect(page.complaints).toEqual([]);
  });

  test('an address that has no page is told to have none, with a way back', async () => {
    await using fresh = await startHarness();
    const passwords = { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD };
    await fresh.api('PUT', '/api/v1/users/me/password', { token: await fresh.login(), body: passwords });
    const session = JSON.stringify(await fresh.login('admin', OWN_PASSWORD));
    await using page = await openBrowser();
    const sees = (selector: string, text: string) =>
      expect.poll(() => page.text(selector), { timeout: 10_000 }).toContain(text);
    await page.open(fresh.url);
    await sees('main', 'Sign in');
    await page.run(`sessionStorage.setItem('mesh.token', ${session})`);
    for (const address of ['#/nope', '#nope', '#/workflows/', '#/workflows/a/b', '#/<b>']) {
      await page.run(`location.hash = ${JSON.stringify(address)}`);
      await sees('main', 'No such page');
      await expect.poll(async () => decodeURI(await page.text('#address'))).toBe(address);
      expect(await page.run('document.querySelector("#pending").checkVisibility()')).toBe(false);
      await page.click('#unknown a');
      await sees('main', 'Waiting for you');
    }
    expect(page.complaints).toEqual([]);
  });

  test('the first person of a new plane has to replace the built-in password before anything else', async () => {
    await using fresh = await startHarness({ config: {} });
    await using page = await openBrowser();
    const sees = (selector: string, text: string) =>
      expect.poll(() => page.text(selector), { timeout: 10_000 }).toContain(text);
    await page.open(fresh.url);
    await sees('main', 'Sign in');
    await page.type('#username', 'admin');
    await page.type('#password', BUILT_IN_PASSWORD);
    await page.click('#sign-in button');
    await sees('main', 'Choose a password');
    await page.type('#old-password', BUILT_IN_PASSWORD);
    await page.type('#new-password', BUILT_IN_PASSWORD);
    await page.click('#change-password button');
    await sees('#problem', 'Invalid input: Choose a password that is not the old or the built-in one.');
    await page.type('#new-password', OWN_PASSWORD);
    await page.click('#change-password button');
    await sees('#message', 'The password is changed.');
    await sees('#workflows', 'You are in no workspace yet');
    expect(page.complaints).toEqual([]);
  });
});
