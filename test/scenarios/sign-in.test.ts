import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dashboardBrowser } from '../kits/http/dashboard-browser.ts';
import { FIRST_ADMIN, type Harness, startHarness } from '../kits/http/harness.ts';
import { CLIENT, startTestIssuer, type TestIssuer } from '../kits/http/test-issuer.ts';

const ADA = { sub: 's1', email: 'ada@example.com', name: 'Ada', groups: ['operators'] };
const GRANT = { claim: 'groups', value: 'operators', workspace: 'prod', role: 'operator' };

describe('signing in by an issuer', () => {
  let issuer: TestIssuer;
  let other: TestIssuer;
  let harness: Harness;
  beforeAll(async () => {
    [issuer, other] = [await startTestIssuer(), await startTestIssuer()];
    const common = { ...CLIENT, grants: [GRANT] };
    const oidc = [
      { ...common, name: 'corp', title: 'Example Corp', issuer: issuer.url },
      { ...common, name: 'other', issuer: other.url },
    ];
    harness = await startHarness({ config: { app: { initAdmins: [FIRST_ADMIN], oidc } } });
    await harness.workspace('prod');
  });
  afterAll(async () => {
    await harness[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  });

  const queryFor = async (browser: ReturnType<typeof dashboardBrowser>, claims: object = ADA) =>
    issuer.signIn((await browser.begin('corp')).body.url, { ...claims });

  const me = (token: string) => harness.api('GET', '/api/v1/users/me', { token });

  test('the page is told of the issuers, and of no more than their names', async () => {
    const { body } = await harness.api('GET', '/api/v1/users/login/issuers');
    expect(body).toEqual({
      issuers: [
        { name: 'corp', title: 'Example Corp' },
        { name: 'other', title: 'other' },
      ],
      passwords: true,
    });
  });

  test('leads there and back, to a session with the rights that the claims give', async () => {
    const browser = dashboardBrowser(harness);
    const begun = await browser.begin('corp');
    const asked = new URL(begun.body.url);
    expect(asked.origin).toBe(issuer.url);
    expect(asked.searchParams.get('redirect_uri')).toBe(`${harness.url}/sign-in/corp`);
    const page = await fetch(`${harness.url}/sign-in/corp`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const { status, body } = await browser.finish('corp', issuer.signIn(asked.href, ADA), { client: 'Firefox' });
    expect([status, body.username]).toEqual([200, 'ada@example.com']);
    expect((await me(body.token)).body.workspaces).toMatchObject([{ slug: 'prod', role: 'operator' }]);
    expect(harness.log.join('\n')).not.toContain(CLIENT.clientSecret);
  });

  test('keeps its key in a cookie that no script reads and no other site sends, until it is used', async () => {
    const browser = dashboardBrowser(harness);
    const query = await queryFor(browser);
    const [, path, expires, ...rest] = browser.setCookies[0]?.split('; ') ?? [];
    expect([path, ...rest]).toEqual(['Path=/api/v1/users/login', 'HttpOnly', 'SameSite=Strict']);
    expect(expires).toMatch(/^Expires=/);
    const { body } = await browser.finish('corp', query, { staySignedIn: true });
    expect([...browser.cookies]).toEqual([['mesh-session', body.token]]);
  });

  test('gives no key to a page of another site, nor to a client that is no browser', async () => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'x-mesh-page': '' },
    ]) {
      const browser = dashboardBrowser(harness);
      expect((await browser.begin('corp', harness.url, headers)).status).toBe(401);
      expect(browser.setCookies).toEqual([]);
    }
  });

  test('ends in the browser that began it alone, once, with its own issuer and state', async () => {
    const [browser, victim] = [dashboardBrowser(harness), dashboardBrowser(harness)];
    const query = await queryFor(browser);
    expect((await victim.finish('corp', query)).status).toBe(401);
    await victim.begin('corp');
    const fixed = await victim.finish('corp', query);
    expect([fixed.status, fixed.body.detail]).toEqual([401, expect.stringContaining('did not begin in this browser')]);
    expect((await browser.finish('other', query)).status).toBe(401);
    const key = new Map(browser.cookies);
    expect((await browser.finish('corp', query)).status).toBe(200);
    for (const [name, value] of key) browser.cookies.set(name, value);
    expect((await browser.finish('corp', query)).status).toBe(401);
  });

  test('leads back to this control plane alone', async () => {
    const browser = dashboardBrowser(harness);
    const { status, body } = await browser.begin('corp', 'https://evil.example');
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ pointer: '/origin' })]]);
  });

  test('says so where the address was not verified', async () => {
    const browser = dashboardBrowser(harness);
    const query = await queryFor(browser, { ...ADA, sub: 's2', email_verified: false });
    const { status, body } = await browser.finish('corp', query);
    expect([status, body.detail]).toEqual([403, expect.stringContaining('Example Corp has not verified the address')]);
  });

  test('says so where the issuer is away, and the rest works', async () => {
    const browser = dashboardBrowser(harness);
    const query = await queryFor(browser);
    issuer.misbehavior.instead = { '/token': (response) => response.destroy() };
    const { status, body } = await browser.finish('corp', query);
    issuer.misbehavior.instead = {};
    expect([status, body.detail]).toEqual([503, expect.stringContaining('Example Corp cannot be reached')]);
    expect((await me(await harness.login())).status).toBe(200);
  });

  test('ends with a sign-out that leads to the issuer', async () => {
    const browser = dashboardBrowser(harness);
    const { token } = (await browser.finish('corp', await queryFor(browser))).body;
    const { body } = await harness.api('POST', '/api/v1/users/logout', { token });
    const url = new URL(body.signOutUrl);
    expect([url.origin, url.searchParams.get('post_logout_redirect_uri')]).toEqual([issuer.url, `${harness.url}/`]);
    expect(url.searchParams.get('id_token_hint')).toMatch(/^eyJ/);
    expect((await me(token)).status).toBe(401);
  });
});
