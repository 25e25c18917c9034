import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dashboardBrowser } from '../kits/http/dashboard-browser.ts';
import { FIRST_ADMIN, startHarness } from '../kits/http/harness.ts';
import { askNow, issuedSession } from '../kits/http/issued-session.ts';
import { issuerBrowser } from '../kits/servers/issuer-browser.ts';
import { hasKeycloak, startKeycloak } from '../kits/servers/keycloak.ts';

/** Java starts it in a minute, on a busy machine in several. */
const START_MS = 600_000;

describe.skipIf(!hasKeycloak)('Keycloak', () => {
  let keycloak: Awaited<ReturnType<typeof startKeycloak>>;
  beforeAll(async () => {
    keycloak = await startKeycloak();
  }, START_MS);
  afterAll(() => keycloak[Symbol.asyncDispose]());

  test('signs people in by their groups, keeps out whose address it did not verify, and ends sessions', async () => {
    const grants = [{ claim: 'groups', value: 'operators', workspace: 'prod', role: 'operator' }];
    const client = { clientId: 'mesh', clientSecret: 'a secret of the client' };
    const oidc = [{ name: 'corp', issuer: keycloak.issuer, ...client, grants }];
    await using harness = await startHarness({ config: { app: { initAdmins: [FIRST_ADMIN], oidc } } });
    await harness.workspace('prod');

    const signIn = async (username: string) => {
      const browser = dashboardBrowser(harness);
      const { url } = (await browser.begin('corp')).body;
      const fields = { username, password: `a password of ${username}` };
      const back = await issuerBrowser(fields)(url, `${harness.url}/sign-in/corp`);
      return browser.finish('corp', new URL(back).search);
    };

    expect((await signIn('eve')).status).toBe(403);
    const { body } = await signIn('ada');
    expect(body.username).toBe('ada@example.com');
    const me = await harness.api('GET', '/api/v1/users/me', { token: body.token });
    expect(me.body).toMatchObject({ displayName: 'Ada Lovelace', workspaces: [{ slug: 'prod', role: 'operator' }] });
    const out = await harness.api('POST', '/api/v1/users/logout', { token: body.token });
    const signedOut = await fetch(out.body.signOutUrl, { redirect: 'manual' });
    expect([signedOut.status, signedOut.headers.get('location')]).toEqual([302, `${harness.url}/`]);

    const { token } = (await signIn('ada')).body;
    const status = async () => (await harness.api('GET', '/api/v1/users/me', { token })).status;
    await askNow(harness);
    await expect.poll(async () => (await issuedSession(harness)).spec.issued.askAt).toBeGreaterThan(1);
    expect(await status()).toBe(200);
    await keycloak.endSessions('ada');
    await askNow(harness);
    await expect.poll(status).toBe(401);
  });
});
