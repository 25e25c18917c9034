import {
  Client,
  CrossAppAccessProvider,
  discoverAndRequestJwtAuthGrant,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import express from 'express';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryCells } from '../../core/base/memory-cells.ts';
import { Secret } from '../../core/base/secret.ts';
import { buildUsedOnce } from '../../core/model/used-once.ts';
import { buildAccessTokenVerifier } from '../../plane/workloads/access-tokens.ts';
import { listen } from '../../rest/listen.ts';
import { buildOAuth } from '../../rest/oauth/oauth.ts';
import {
  ASSISTANT_SECRET,
  type AssertionPlane,
  assertionForm,
  basic,
  JWT_BEARER,
  startAssertionPlane,
  TOKEN_PATH,
} from '../kits/http/assertion-plane.ts';
import { apiOf } from '../kits/http/harness.ts';
import { ASSISTANT } from '../kits/http/test-issuer.ts';

describe('a control plane to which clients bring identity assertions', () => {
  let plane: AssertionPlane;
  beforeAll(async () => {
    plane = await startAssertionPlane(['s1', 'legacy', 'modern']);
  });
  afterAll(() => plane[Symbol.asyncDispose]());

  async function agentOf(person: string) {
    const token = await plane.harness.login();
    const { workspaces } = (await plane.harness.api('GET', '/api/v1/users/me', { token })).body;
    const [{ id: workspace }] = workspaces.filter(({ slug }: { slug: string }) => slug === 'production');
    const { items } = (await plane.harness.api('GET', '/api/v1/agents', { token, workspace })).body;
    return { token, workspace, agent: items.find((agent: { person: string }) => agent.person === person) };
  }

  test('names itself as the authorization server, which takes such assertions and serves nothing else', async () => {
    const { body: resource } = await plane.harness.api('GET', '/.well-known/oauth-protected-resource/mcp');
    expect(resource).toMatchObject({
      resource: `${plane.mesh}/mcp`,
      authorization_servers: [plane.mesh],
      scopes_supported: ['mesh'],
    });
    const { status, body } = await plane.harness.api('GET', '/.well-known/oauth-authorization-server');
    expect([status, body]).toEqual([
      200,
      {
        issuer: plane.mesh,
        authorization_endpoint: `${plane.mesh}/oauth/authorize`,
        token_endpoint: `${plane.mesh}${TOKEN_PATH}`,
        response_types_supported: [],
        grant_types_supported: [JWT_BEARER],
        authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
        scopes_supported: ['mesh'],
      },
    ]);
  });

  test.each([
    ['GET', '/.well-known/openid-configuration'],
    ['POST', '/oauth/register'],
    ['GET', '/oauth/authorize'],
    ['POST', '/oauth/device_authorization'],
    ['POST', '/oauth/introspect'],
    ['POST', '/oauth/revoke'],
    ['GET', '/oauth/jwks'],
  ])('leaves nothing else to ask: %s %s', async (method, route) => {
    const { status, body } = await plane.harness.api(method, route);
    expect([status, body.detail]).toEqual([404, expect.stringContaining(plane.issuer.url)]);
  });

  test.each(['legacy', 'modern'])(
    'the official client of the %s protocol signs in without a person, brings another assertion once its token has ended, and is out once its agent is revoked',
    async (era) => {
      const idToken = await plane.issuer.idToken({ sub: era, aud: 'at the issuer', auth_time: 1 });
      const provider = new CrossAppAccessProvider({
        ...{ clientId: ASSISTANT, clientSecret: ASSISTANT_SECRET, expectedIssuer: plane.mesh },
        async assertion({ authorizationServerUrl: audience, resourceUrl: resource, scope, fetchFn }) {
          const asked = { audience, resource, ...(scope !== undefined && { scope }) };
          const own = { idToken, clientId: 'at the issuer', idpUrl: plane.issuer.url, fetchFn };
          return (await discoverAndRequestJwtAuthGrant({ ...asked, ...own })).jwtAuthGrant;
        },
      });
      const transport = new StreamableHTTPClientTransport(new URL(`${plane.mesh}/mcp`), { authProvider: provider });
      const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
      const client = new Client({ name: 'scenario', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(transport);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('list_peers');
      expect(tools.map(({ name }) => name)).not.toContain('take_snapshot');
      const before = provider.tokens();
      expect(before).toMatchObject({ token_type: 'Bearer', expires_in: 3_600, scope: 'mesh' });
      expect(before).not.toHaveProperty('refresh_token');
      // As one that has ended.
      provider.saveTokens({
        ...before,
        access_token: `${before?.access_token.slice(0, -4)}AAAA`,
        token_type: 'Bearer',
      });
      expect((await client.callTool({ name: 'list_peers', arguments: {} })).isError).not.toBe(true);
      expect(provider.tokens()?.access_token).not.toBe(before?.access_token);

      const { token, workspace, agent } = await agentOf(`${era}@example.com`);
      expect(agent.client).toMatchObject({ name: ASSISTANT, host: new URL(plane.issuer.url).host });
      await plane.harness.api('DELETE', `/api/v1/agents/${agent.id}`, { token, workspace });
      await expect(client.callTool({ name: 'list_peers', arguments: {} })).rejects.toThrow('was revoked');
      await client.close();
    },
  );

  test('issues a token for the one address, an hour and the claims of its grants, which lists tools there', async () => {
    const token = await plane.tokenOf({ auth_time: 1, email: 'ada@example.com', scope: 'mesh other' });
    expect((await plane.listTools(token)).status).toBe(200);
    const { iat = 0, exp = 0, ...claims } = decodeJwt(token);
    expect(claims).toMatchObject({ iss: plane.mesh, aud: `${plane.mesh}/mcp`, sub: 's1', client_id: ASSISTANT });
    expect(claims).toMatchObject({ asserted: { claims: { scope: ['mesh'] }, signedInAt: 1_000 } });
    expect([exp - iat, decodeProtectedHeader(token).typ]).toEqual([3_600, 'at+jwt']);
    expect(JSON.stringify(claims)).not.toContain('ada@example.com');
  });

  test.each([
    ['in the body', {}, { client_id: ASSISTANT, client_secret: ASSISTANT_SECRET }],
    ['in the header as they are', basic(), {}],
    ['in the header, encoded', basic(ASSISTANT, encodeURIComponent(ASSISTANT_SECRET)), {}],
    ['in the header, with the id in the body', basic(), { client_id: ASSISTANT }],
  ])('takes the credentials of a client %s', async (_what, headers, more) => {
    const answer = await plane.send(assertionForm(await plane.assertionOf(), more), headers);
    const { token_type: type } = answer.body;
    expect([answer.status, type, answer.headers.get('cache-control')]).toEqual([200, 'Bearer', 'no-store']);
  });

  test.each<
    [what: string, answer: () => ReturnType<AssertionPlane['exchange']>, resource: () => string, scope: string]
  >([
    [
      'without a resource, for the first address',
      () => plane.exchange({ resource: undefined }),
      () => plane.mesh,
      'mesh',
    ],
    [
      'for several addresses, for the one that is asked for',
      () =>
        plane.exchange(
          { resource: [`${plane.mesh}/mcp`, `${plane.other}/mcp`, 'https://a.example'] },
          { resource: `${plane.other}/mcp` },
        ),
      () => plane.other,
      'mesh',
    ],
    [
      'with scopes, for those that are asked for',
      () => plane.exchange({ scope: 'mesh read' }, { scope: 'write mesh' }),
      () => plane.mesh,
      'mesh',
    ],
  ])('takes an assertion %s', async (_what, answer, resource, scope) => {
    const { body } = await answer();
    expect([decodeJwt(body.access_token).aud, body.scope]).toEqual([`${resource()}/mcp`, scope]);
  });

  test('two control planes take an assertion once together, and each takes tokens of the other', async () => {
    const { services } = plane.harness.plane;
    const cells = memoryCells(services.clock, 100);
    const shared = { cells: () => cells } as never;
    const startAnother = () => {
      const parts = {
        accessTokens: buildAccessTokenVerifier(services),
        usedOnce: buildUsedOnce({ clock: services.clock, shared }),
      };
      const handler = buildOAuth({
        services: { ...services, ...parts },
        log: services.log,
        registration: 'nobody',
        fetchDocument: async () => 'There is nothing.',
        assertionClients: [{ id: ASSISTANT, secret: new Secret(ASSISTANT_SECRET) }],
      });
      return listen(express().use(handler), { host: '127.0.0.1', port: Number(new URL(plane.other).port) });
    };
    const assertion = await plane.assertionOf();
    const bring = async () => {
      const another = await startAnother();
      const headers = { ...basic(), 'content-type': 'application/x-www-form-urlencoded' };
      const answer = await apiOf(another.url)('POST', TOKEN_PATH, { body: assertionForm(assertion), headers });
      await another.stop();
      return answer.body;
    };
    const { access_token: token } = await bring();
    expect((await bring()).error_description).toContain('was used before');
    expect((await plane.listTools(token)).status).toBe(200);
  });

  test('access tokens of the issuer count as before', async () => {
    const token = await plane.issuer.accessToken({ sub: 's1', aud: `${plane.mesh}/mcp`, scope: 'mesh' });
    expect((await plane.listTools(token)).status).toBe(200);
  });
});
