import { expect, test } from 'vitest';
import { openSecret } from '../../core/identity/sealed-secret.ts';
import { dashboardBrowser } from '../kits/http/dashboard-browser.ts';
import { FIRST_ADMIN, type Harness, startHarness } from '../kits/http/harness.ts';
import { askNow, issuedSession } from '../kits/http/issued-session.ts';
import { freePort } from '../kits/servers/free-port.ts';
import { issuerBrowser } from '../kits/servers/issuer-browser.ts';
import { startOidcProvider } from '../kits/servers/oidc-provider.ts';

test('oidc-provider signs a person in, confirms the session, ends it when it forgets the person, and signs out', async () => {
  const port = await freePort();
  const mesh = `http://127.0.0.1:${port}`;
  await using issuer = await startOidcProvider(mesh);
  const grants = [{ claim: 'groups', value: 'operators', workspace: 'prod', role: 'operator' }];
  const client = { clientId: 'mesh', clientSecret: 'a secret of the client' };
  const oidc = [{ name: 'corp', issuer: issuer.url, ...client, grants }];
  await using harness = await startHarness({
    env: { MESH_LISTEN: `127.0.0.1:${port}` },
    config: { app: { initAdmins: [FIRST_ADMIN], oidc } },
  });
  await harness.workspace('prod');
  const status = async (token: string) => (await harness.api('GET', '/api/v1/users/me', { token })).status;

  const signIn = async (login: string) => {
    const browser = dashboardBrowser(harness);
    const { url } = (await browser.begin('corp')).body;
    const back = await issuerBrowser({ login, password: 'any' })(url, `${mesh}/sign-in/corp`);
    return browser.finish('corp', new URL(back).search);
  };

  expect((await signIn('unverified')).status).toBe(403);
  const { body } = await signIn('ada');
  expect(body.username).toBe('ada@example.com');
  const me = await harness.api('GET', '/api/v1/users/me', { token: body.token });
  expect(me.body.workspaces).toMatchObject([{ slug: 'prod', role: 'operator' }]);

  const held = await issuedSession(harness);
  await askNow(harness);
  await expect.poll(async () => (await issuedSession(harness)).spec.issued.askAt).toBeGreaterThan(1);
  expect((await issuedSession(harness)).spec.issued.refreshToken).not.toBe(held.spec.issued.refreshToken);
  expect(await status(body.token)).toBe(200);

  const out = await harness.api('POST', '/api/v1/users/logout', { token: body.token });
  const signedOut = await fetch(out.body.signOutUrl, { redirect: 'manual' });
  expect([signedOut.status, await signedOut.text()]).toEqual([200, expect.stringContaining('<form')]);
  expect(await status(body.token)).toBe(401);

  const again = (await signIn('ada')).body.token;
  const refreshToken = await heldBy(harness);
  const revocation = new URLSearchParams({ token: refreshToken, token_type_hint: 'refresh_token' });
  const basic = Buffer.from('mesh:a+secret+of+the+client').toString('base64');
  const headers = { authorization: `Basic ${basic}` };
  const revoked = await fetch(`${issuer.url}/token/revocation`, { method: 'POST', headers, body: revocation });
  expect(revoked.status).toBe(200);
  await askNow(harness);
  await expect.poll(() => status(again)).toBe(401);
});

/** The refresh token that the session holds. */
async function heldBy(harness: Harness): Promise<string> {
  const { account, issued } = (await issuedSession(harness)).spec;
  const opened = openSecret(harness.plane.services.keys, account, issued.refreshToken ?? '');
  return Buffer.from(opened ?? '').toString();
}
