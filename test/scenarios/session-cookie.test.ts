import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_PASSWORD, type Harness, startHarness } from '../kits/http/harness.ts';

/** What the dashboard's own script sends, and a browser adds. */
const OWN_PAGE = { 'sec-fetch-site': 'same-origin', 'x-mesh-page': '1' };
const LOGIN = { username: 'admin', password: ADMIN_PASSWORD };

describe('a session that a browser keeps', () => {
  let harness: Harness;
  /** As the browser sends it: `mesh-session=…`. */
  let cookie: string;
  beforeAll(async () => {
    harness = await startHarness();
    cookie = (await stay()).split(';')[0] ?? '';
  });
  afterAll(() => harness[Symbol.asyncDispose]());

  async function stay(): Promise<string> {
    const body = { ...LOGIN, staySignedIn: true };
    const { headers } = await harness.api('POST', '/api/v1/users/login', { headers: OWN_PAGE, body });
    return headers.get('set-cookie') ?? '';
  }

  const me = async (headers: Readonly<Record<string, string>>, route = '/api/v1/users/me') =>
    (await harness.api('GET', route, { headers })).status;

  test('is in a cookie that no script reads, no other site sends, and only the API gets, until the session ends', async () => {
    const given = (await stay()).split('; ');
    expect(given.slice(1)).toEqual(['Path=/api/v1', expect.stringMatching(/^Expires=/), 'HttpOnly', 'SameSite=Strict']);
    const expires = Date.parse(given[2]?.slice('Expires='.length) ?? '');
    const lasts = { headers: { ...OWN_PAGE, cookie } };
    const { body } = await harness.api('GET', '/api/v1/users/me', lasts);
    expect([body.username, body.interactive]).toEqual(['admin', true]);
    expect(Math.abs(expires - Date.parse(body.expiresAt))).toBeLessThan(60_000);
  });

  test.each([
    ['it was not asked for', OWN_PAGE, LOGIN],
    ['no page asked', {}, { ...LOGIN, staySignedIn: true }],
    ['another site asked', { ...OWN_PAGE, 'sec-fetch-site': 'cross-site' }, { ...LOGIN, staySignedIn: true }],
    ['a sister of this site asked', { ...OWN_PAGE, 'sec-fetch-site': 'same-site' }, { ...LOGIN, staySignedIn: true }],
    ['the password is wrong', OWN_PAGE, { ...LOGIN, password: 'wrong', staySignedIn: true }],
  ])('is not kept where %s', async (_why, headers, body) => {
    const answer = await harness.api('POST', '/api/v1/users/login', { headers, body });
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  test.each([
    ['a page of another site sends it', { 'sec-fetch-site': 'cross-site' }],
    ['a sister of this site sends it', { 'sec-fetch-site': 'same-site' }],
    ['it is typed into the address bar', { 'sec-fetch-site': 'none' }],
    ['a form sends it, which can set no header', { 'x-mesh-page': '' }],
    ['a credential in Authorization is refused', { authorization: 'Bearer mesh-api-nothing' }],
    ['Authorization holds no bearer token', { authorization: 'Basic YWRtaW46YWRtaW4=' }],
  ])('counts for nothing where %s', async (_why, headers) => {
    expect(await me({ ...OWN_PAGE, cookie, ...headers })).toBe(401);
  });

  test('is taken out of the browser by whoever signs in there next and does not stay', async () => {
    const { headers } = await harness.api('POST', '/api/v1/users/login', {
      headers: { ...OWN_PAGE, cookie: (await stay()).split(';')[0] ?? '' },
      body: LOGIN,
    });
    expect(headers.get('set-cookie')).toMatch(/^mesh-session=; Path=\/api\/v1; Expires=Thu, 01 Jan 1970/);
  });

  test('counts for nothing beside a second one, which another server of this host could have set', async () => {
    const second = (await stay()).split(';')[0] ?? '';
    expect(await me({ ...OWN_PAGE, cookie: second })).toBe(200);
    expect(await me({ ...OWN_PAGE, cookie: `${second}; ${cookie}` })).toBe(401);
    expect(await me({ ...OWN_PAGE, cookie: `mesh-session=x; ${cookie}` })).toBe(401);
  });

  test('takes no credential but a session from a cookie', async () => {
    const session = await harness.workspace();
    const made = await harness.api('POST', '/api/v1/users/me/api-tokens', { ...session, body: { name: 'ci' } });
    expect(made.body.token).toMatch(/^mesh-api-/);
    expect(await me({ ...OWN_PAGE, cookie: `mesh-session=${made.body.token}` })).toBe(401);
    expect(await me({ ...OWN_PAGE, cookie: `other=1; ${cookie}` })).toBe(200);
  });

  test('is not taken by /mcp', async () => {
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
    const answer = await harness.api('POST', '/mcp', {
      headers: { ...OWN_PAGE, cookie, accept: 'application/json, text/event-stream' },
      body: initialize,
    });
    expect(answer.status).toBe(401);
  });

  test('ends with signing out, which takes the cookie away', async () => {
    const own = (await stay()).split(';')[0] ?? '';
    const out = await harness.api('POST', '/api/v1/users/logout', { headers: { ...OWN_PAGE, cookie: own } });
    expect(out.headers.get('set-cookie')).toMatch(/^mesh-session=; Path=\/api\/v1; Expires=Thu, 01 Jan 1970/);
    expect(await me({ ...OWN_PAGE, cookie: own })).toBe(401);
  });
});
