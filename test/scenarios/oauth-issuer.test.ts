import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dashboardBrowser } from '../kits/http/dashboard-browser.ts';
import { FIRST_ADMIN, type Harness, startHarness } from '../kits/http/harness.ts';
import { CLIENT, startTestIssuer, type TestIssuer } from '../kits/http/test-issuer.ts';
import { freePort } from '../kits/servers/free-port.ts';

const ADA = { sub: 's1', email: 'ada@example.com', name: 'Ada', groups: ['admins'] };

describe('another authorization server', () => {
  let issuer: TestIssuer;
  let harness: Harness;
  let resource: string;
  beforeAll(async () => {
    issuer = await startTestIssuer();
    const port = await freePort();
    const publicUrls = [`http://127.0.0.1:${port}`];
    resource = `${publicUrls[0]}/mcp`;
    const oidc = [
      {
        ...{ ...CLIENT, name: 'corp', issuer: issuer.url },
        grants: [{ claim: 'groups', value: 'admins', workspace: 'prod', role: 'admin' }],
      },
    ];
    const grants = [{ claim: 'scope', value: 'mesh', workspace: 'prod' }];
    const oauth = { issuer: issuer.url, grants };
    harness = await startHarness({
      env: { MESH_LISTEN: `127.0.0.1:${port}` },
      config: { app: { initAdmins: [FIRST_ADMIN], publicUrls, oidc, oauth } },
    });
    await harness.workspace('prod');
    const browser = dashboardBrowser(harness);
    const { url } = (await browser.begin('corp')).body;
    await browser.finish('corp', issuer.signIn(url, ADA));
  });
  beforeEach(() => {
    issuer.misbehavior.instead = {};
  });
  afterAll(async () => {
    await harness[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });

  const tokenOf = (claims: object = {}, header: object = {}) =>
    issuer.accessToken({ sub: 's1', aud: resource, scope: 'mesh', ...claims }, { ...header });

  const call = (token: string | undefined, name = 'list_peers') =>
    harness.api('POST', '/mcp', {
      ...(token !== undefined && { token }),
      headers: {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: {
          ...{ name, arguments: {} },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '0' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      },
    });

  test('is where clients are sent, with the scopes that they ask it for', async () => {
    const refused = await call(undefined);
    expect(refused.status).toBe(401);
    const challenge = refused.headers.get('www-authenticate') ?? '';
    const metadata = `${new URL(resource).origin}/.well-known/oauth-protected-resource/mcp`;
    expect(challenge).toContain(`resource_metadata="${metadata}", scope="mesh"`);
    const { body } = await harness.api('GET', '/.well-known/oauth-protected-resource/mcp');
    expect(body).toMatchObject({ resource, authorization_servers: [issuer.url], scopes_supported: ['mesh'] });
  });

  test.each([
    ['GET', '/.well-known/oauth-authorization-server'],
    ['GET', '/.well-known/openid-configuration'],
    ['POST', '/oauth/register'],
    ['GET', '/oauth/authorize'],
    ['POST', '/oauth/token'],
    ['POST', '/oauth/device_authorization'],
  ] as const)('leaves nothing to ask of the own one: %s %s', async (method, path) => {
    const { status, body } = await harness.api(method, path);
    expect([status, body.detail]).toEqual([404, expect.stringContaining(issuer.url)]);
  });

  test('issues tokens that call tools, as an agent of their person', async () => {
    const answer = await call(await tokenOf());
    expect([answer.status, answer.body.result.isError]).toEqual([200, undefined]);
    const session = await harness.login();
    const { workspaces } = (await harness.api('GET', '/api/v1/users/me', { token: session })).body;
    const workspace = workspaces.find(({ slug }: { slug: string }) => slug === 'prod').id;
    const { items } = (await harness.api('GET', '/api/v1/agents', { token: session, workspace })).body;
    expect(items).toMatchObject([{ name: 'planner-ada-example.com', person: 'ada@example.com', client: { resource } }]);
  });

  test('gives no tool that its grant does not give, and no step up to ask for', async () => {
    const { status, body, headers } = await call(await tokenOf(), 'take_snapshot');
    expect([status, headers.get('www-authenticate')]).toEqual([200, null]);
    expect(JSON.stringify(body)).toContain('snapshots:write');
  });

  test('is asked for another scope by who is not let in', async () => {
    const { status, headers, body } = await call(await tokenOf({ scope: 'openid' }));
    expect([status, body.code]).toEqual([403, 'forbidden']);
    expect(headers.get('www-authenticate')).toContain('scope="mesh", error="insufficient_scope"');
  });

  test.each<[what: string, claims: object, header: object, told: string]>([
    ['of another resource', { aud: 'https://other.example/mcp' }, {}, 'its audience is not this control plane'],
    ['by an unknown key', {}, { kid: 'unknown' }, 'it is signed by no key'],
    ['of another kind', {}, { typ: 'secevent+jwt' }, 'it is no access token'],
  ])('issues a token %s, which is refused with the reason', async (_what, claims, header, told) => {
    const { status, headers } = await call(await tokenOf(claims, header));
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toContain('error="invalid_token", error_description=');
    expect(headers.get('www-authenticate')).toContain(told);
  });

  test('issues nothing that REST takes', async () => {
    const { status, body } = await harness.api('GET', '/api/v1/users/me', { token: await tokenOf() });
    expect([status, body.detail]).toEqual([401, expect.stringContaining('alone: send it there')]);
  });

  test('is away: whose key is known goes on, and nobody else waits for it', async () => {
    const known = await tokenOf();
    expect((await call(known)).status).toBe(200);
    const away = (response: { destroy(): void }) => response.destroy();
    issuer.misbehavior.instead = { '/.well-known/openid-configuration': away, '/jwks': away };
    expect((await call(await tokenOf({ jti: 'another' }))).status).toBe(200);
    expect((await call(known)).status).toBe(200);
  });

  test('has its tokens in no log', async () => {
    const token = await tokenOf({ jti: 'in a log' });
    await call(token);
    await call(`${token}x`);
    expect(harness.log.join('\n')).not.toContain(token.split('.')[2]);
  });
});

test('an issuer that was never reached has its clients told to try again, and others go on', async () => {
  const issuer = await startTestIssuer();
  const token = await issuer.accessToken({ sub: 's1', aud: 'http://127.0.0.1:1/mcp' });
  await issuer[Symbol.asyncDispose]();
  const oidc = [{ ...CLIENT, name: 'corp', issuer: issuer.url, admits: 'everyone' }];
  const grants = [{ claim: 'scope', value: 'mesh', workspace: 'prod' }];
  const app = {
    initAdmins: [FIRST_ADMIN],
    publicUrls: ['http://127.0.0.1:1'],
    oidc,
    oauth: { issuer: issuer.url, grants },
  };
  await using harness = await startHarness({ config: { app } });
  const headers = { accept: 'application/json, text/event-stream' };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const answer = await harness.api('POST', '/mcp', { token, headers, body });
  expect([answer.status, answer.body.error.message]).toEqual([503, expect.stringContaining('cannot be had')]);
  expect((await harness.api('GET', '/api/v1/users/me', { token: await harness.login() })).status).toBe(200);
});
