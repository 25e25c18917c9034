import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { oauthClient } from '../kits/http/oauth-client.ts';
import { challengeOf } from '../kits/plane/command-line.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';

/** Where a client waits for its code. */
async function callback() {
  const told: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    told.push(new URL(request.url ?? '', 'http://localhost').searchParams);
    response.end('You can close this page.');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/callback`, told, [Symbol.dispose]: () => void server.close() };
}

describe.skipIf(!hasBrowser)('the page on which a person lets a client in', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  test('a person who was not signed in signs in, narrows what the client asks for, and the client gets its code', async () => {
    await using harness = await startHarness();
    await harness.workspace('prod');
    using waiting = await callback();
    const client = oauthClient(harness);
    const clientId = await client.register({ client_name: 'Planner', redirect_uris: [waiting.url] });
    const scope = 'network:read intents:plan intents:apply';
    const { address, verifier } = client.request(clientId, { redirect_uri: waiting.url, scope });
    await using dashboard = await openDashboard(browser, harness);
    const { page, complaints } = dashboard;
    await page.goto(address);
    await dashboard.signIn('admin', ADMIN_PASSWORD);
    await page.getByRole('heading', { name: 'Planner asks to act for you' }).waitFor();
    const main = page.getByRole('main');
    await main.getByText(`a program on this machine (${new URL(waiting.url).host})`).waitFor();
    expect(await main.getByRole('checkbox', { name: /intents:apply/ }).isChecked()).toBe(false);
    await main.getByRole('checkbox', { name: /intents:plan/ }).uncheck();
    expect(await accessibilityFaults(page)).toEqual([]);
    await main.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('You can close this page.').waitFor();
    const code = waiting.told.at(-1)?.get('code') ?? '';
    const { body } = await client.exchange(clientId, code, verifier, { redirect_uri: waiting.url });
    expect(body).toMatchObject({ scope: 'network:read' });
    await page.goto(`${harness.url}/#/prod/agents/planner-admin`);
    await dashboard.signIn('admin', ADMIN_PASSWORD);
    await page.getByText('Planner, by OAuth').waitFor();
    expect(complaints.filter((complaint) => !complaint.startsWith(`asked ${new URL(waiting.url).origin}`))).toEqual([]);
  });

  test('a person who denies a client sends it back without a code', async () => {
    await using harness = await startHarness();
    await harness.workspace('prod');
    using waiting = await callback();
    const client = oauthClient(harness);
    const clientId = await client.register({ client_name: 'Planner', redirect_uris: [waiting.url] });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await page.goto(client.request(clientId, { redirect_uri: waiting.url }).address);
    await dashboard.signIn('admin', ADMIN_PASSWORD);
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('You can close this page.').waitFor();
    expect(waiting.told.at(-1)?.get('error')).toBe('access_denied');
  });

  test('a client that asks again shows its agent, whose authority stays but for what the person changes', async () => {
    await using harness = await startHarness();
    const person = await harness.workspace('prod');
    const client = oauthClient(harness);
    const reach = [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }] }];
    const { clientId, agent } = await client.letIn(person, { scopes: ['network:read'], ttl: '3h', reach });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await page.goto(client.request(clientId, { scope: 'network:read intents:plan' }).address);
    await dashboard.signIn('admin', ADMIN_PASSWORD);
    const main = page.getByRole('main');
    await main.getByRole('link', { name: agent }).waitFor();
    expect(await main.getByRole('checkbox', { name: /intents:plan/ }).isChecked()).toBe(false);
    expect(await main.getByLabel('Ends after').inputValue()).toBe('3h');
    await main.getByRole('checkbox', { name: /intents:plan/ }).check();
    expect(await accessibilityFaults(page)).toEqual([]);
    const answered = page.waitForResponse((response) => response.url().endsWith('/allow'));
    await main.getByRole('button', { name: 'Allow' }).click();
    await answered;
    const { body } = await harness.api('GET', `/api/v1/agents/${agent}`, person);
    expect(body).toMatchObject({ scopes: ['network:read', 'intents:plan'], ttl: '3h', reach });
  });

  test('a person types the code of a device, sees where it asks from, and lets it in; no link names it', async () => {
    await using harness = await startHarness();
    await harness.workspace('prod');
    const client = oauthClient(harness);
    const grant = 'urn:ietf:params:oauth:grant-type:device_code';
    const clientId = await client.register({ client_name: 'Headless', grant_types: [grant] });
    const asked = { client_id: clientId, scope: 'network:read', resource: `${harness.url}/mcp` };
    const { body: device } = await client.post('/oauth/device_authorization', asked);
    await using dashboard = await openDashboard(browser, harness);
    const { page, complaints } = dashboard;
    const code: string = device.user_code;
    await page.goto(device.verification_uri);
    await dashboard.signIn('admin', ADMIN_PASSWORD);
    await page.getByLabel('Code').waitFor();
    await page.goto(`${harness.url}/#/~/allow/device-${code.replace('-', '')}`);
    await page.getByLabel('Code').fill('AAAA-BBBB');
    const problem = page.locator('.fault').filter({ hasText: 'No device waits with this code.' });
    for (let times = 0; times < 2; times += 1) {
      const asked = page.waitForResponse((response) => response.url().endsWith('/device-AAAABBBB'));
      await page.getByRole('button', { name: 'Continue' }).click();
      await asked;
      await problem.waitFor();
    }
    expect(await page.getByLabel('Code').inputValue()).toBe('AAAABBBB');
    expect(await page.getByLabel('Code').getAttribute('aria-describedby')).toBe(await problem.getAttribute('id'));
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByLabel('Code').fill(code.toLowerCase());
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Continue' }).click();
    const main = page.getByRole('main');
    await main.getByRole('heading', { name: 'Headless asks to act for you' }).waitFor();
    await main.getByText('another device, at 127.0.0.1').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await main.getByRole('button', { name: 'Allow' }).click();
    await main.getByText('Allowed. Headless acts for you. Go back to the device.').waitFor();
    const fields = { grant_type: grant, client_id: clientId, device_code: device.device_code };
    expect((await client.post('/oauth/token', fields)).body).toMatchObject({ scope: 'network:read' });
    expect(complaints.filter((complaint) => !complaint.includes('404'))).toEqual([]);

    const { body: second } = await client.post('/oauth/device_authorization', asked);
    await dashboard.go('prod/home');
    await dashboard.go('~/allow');
    await page.getByLabel('Code').fill(second.user_code);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Deny' }).click();
    await main.getByText('Denied. Headless may not act for you. Go back to the device.').waitFor();

    await dashboard.go('prod/agents/headless-admin');
    await page.getByText('Headless, by OAuth, on another device').waitFor();
    await dashboard.go('prod/settings/account');
    await page.getByRole('button', { name: 'Sign out Headless' }).click();
    await page.getByText('No client acts for you.').waitFor();
    await dashboard.go('prod/agents/headless-admin');
    await page.getByText('Headless, by OAuth, on another device: signed out').waitFor();
    expect(await page.getByText('client signed out').count()).toBe(2);
  });

  test('a person sees which machine claims to ask and from where, and signs its command line in or not', async () => {
    await using harness = await startHarness();
    await harness.workspace('prod');
    const verifier = 'v'.repeat(43);
    const ask = async (host: string, listener?: { port: number; state: string }) => {
      const body = { host, challenge: challengeOf(verifier), server: harness.url, ...(listener && { listener }) };
      return (await harness.api('POST', '/api/v1/users/login/command-line/begin', { body })).body;
    };
    const finish = (id: string) =>
      harness.api('POST', '/api/v1/users/login/command-line/finish', { body: { id, verifier } });
    await using dashboard = await openDashboard(browser, harness);
    const { page, complaints } = dashboard;
    const main = page.getByRole('main');
    const type = async (code: string) => {
      await page.getByLabel('Code').fill(code);
      await page.getByRole('button', { name: 'Continue' }).click();
    };
    const first = await ask('laptop');
    await page.goto(first.page);
    await dashboard.signIn('admin', ADMIN_PASSWORD);
    await type(first.userCode);
    await main.getByRole('heading', { name: 'Sign in the command line on “laptop” as admin?' }).waitFor();
    await main.getByText('“laptop”. Nobody checked this name.').waitFor();
    await main.getByText('127.0.0.1').waitFor();
    await main.getByText('Who sent you a code gets to be you.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await main.getByRole('button', { name: 'Allow' }).click();
    await main.getByText('Allowed. Go back to the command line.').waitFor();
    expect(complaints).toEqual([]);
    expect((await finish(first.id)).body.session).toMatchObject({ username: 'admin' });

    // The browser that the next command line opens is at this page already.
    const local = await ask('laptop', { port: 9, state: 's'.repeat(43) });
    await dashboard.go(`~/allow/${local.id}`);
    await main.getByText('Only allow it if you have just run mesh login yourself.').waitFor();
    await main.getByText('lasts no longer than this one. It goes on when you sign out here').waitFor();

    const second = await ask('elsewhere');
    await dashboard.go('prod/settings/account');
    await page.getByText('mesh command line on laptop').waitFor();
    await dashboard.go('~/allow');
    await type(second.userCode);
    await main.getByRole('button', { name: 'Deny' }).click();
    await main.getByText('Denied. Go back to the command line.').waitFor();
    expect((await finish(second.id)).status).toBe(403);
  });

  test('a link to a request that has ended says so, and offers nothing that fails again', async () => {
    await using harness = await startHarness();
    await harness.workspace('prod');
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await page.goto(`${harness.url}/#/~/allow/nothing`);
    await dashboard.signIn('admin', ADMIN_PASSWORD);
    await page.getByRole('alert').filter({ hasText: 'connect the client again' }).waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });

  test('a person sees the clients that act for them, signs one out, and then everything', async () => {
    await using harness = await startHarness();
    const person = await harness.workspace('prod');
    const client = oauthClient(harness);
    const [first, second] = [await client.letIn(person), await client.letIn(person)];
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await page.goto(`${harness.url}/#/prod/settings/account`);
    await dashboard.signIn('admin', ADMIN_PASSWORD);
    const clients = page.getByRole('region', { name: 'OAuth clients' });
    const signOut = clients.getByRole('button', { name: 'Sign out Planner' });
    await signOut.nth(1).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await signOut.first().click();
    await signOut.nth(1).waitFor({ state: 'detached' });
    const counts = async ({ tokens }: typeof first) =>
      (await harness.api('POST', '/mcp', { token: tokens.access_token, body: {} })).status !== 401;
    expect([await counts(first), await counts(second)].toSorted()).toEqual([false, true]);
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByLabel('Password').waitFor();
    expect([await counts(first), await counts(second)]).toEqual([false, false]);
    expect((await harness.api('GET', '/api/v1/users/me', person)).status).toBe(401);
  });
});
