import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { load } from 'js-yaml';
import { blocksOf } from '../process/page-blocks.ts';
import { freePorts } from '../servers/free-port.ts';
import { dashboardBrowser } from './dashboard-browser.ts';
import { FIRST_ADMIN, startHarness } from './harness.ts';
import { ASSISTANT, CLIENT, startTestIssuer, type TestIssuer } from './test-issuer.ts';

/** With characters that some clients encode in the header and others do not. */
export const ASSISTANT_SECRET = 'a+secret/of%25the&assistant=0123456789';
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const TOKEN_PATH = '/oauth/token';

/** The header of a client that authenticates by `client_secret_basic`, with its secret as it is. */
export function basic(id = ASSISTANT, secret = ASSISTANT_SECRET): { readonly authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

/** The body of a request with an assertion. */
export function assertionForm(assertion: string, more: Readonly<Record<string, string>> = {}): string {
  return String(new URLSearchParams({ grant_type: JWT_BEARER, assertion, ...more }));
}

/**
 * A control plane to which clients bring identity assertions of a test issuer, as docs/oauth.md configures it.
 *
 * @param people subjects of the issuer who have signed in
 */
export async function startAssertionPlane(people: readonly string[] = ['s1']) {
  const issuer = await startTestIssuer();
  const ports = await freePorts(2);
  const [mesh = '', other = ''] = ports.map((port) => `http://127.0.0.1:${port}`);
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-'));
  const secretFile = path.join(directory, 'secret');
  writeFileSync(secretFile, `${ASSISTANT_SECRET}\n`);
  const harness = await startHarness({
    env: { MESH_LISTEN: `127.0.0.1:${ports[0]}` },
    config: { app: { ...settingsOnThePage(issuer, secretFile), initAdmins: [FIRST_ADMIN], publicUrls: [mesh, other] } },
  });
  await harness.workspace('production');
  for (const sub of people) {
    const browser = dashboardBrowser(harness);
    const { url } = (await browser.begin('corp')).body;
    await browser.finish('corp', issuer.signIn(url, { sub, email: `${sub}@example.com`, groups: ['admins'] }));
  }

  const assertionOf = (claims: object = {}, header: object = {}, lasts?: string) =>
    issuer.identityAssertion(
      { sub: 's1', client_id: ASSISTANT, aud: mesh, resource: `${mesh}/mcp`, scope: 'mesh', ...claims },
      { ...header },
      lasts,
    );

  const send = (form: string, headers: Readonly<Record<string, string>> = basic(), address = TOKEN_PATH) =>
    harness.api('POST', address, {
      body: form,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });

  const exchange = async (claims: object = {}, more: Readonly<Record<string, string>> = {}) =>
    send(assertionForm(await assertionOf(claims), more));

  return {
    ...{ issuer, harness, mesh, other, assertionOf, send, exchange },

    tokenOf: async (claims: object = {}): Promise<string> => (await exchange(claims)).body.access_token,

    listTools: (token: string) =>
      harness.api('POST', '/mcp', {
        token,
        headers: {
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/list',
        },
        body: {
          ...{ jsonrpc: '2.0', id: 1, method: 'tools/list' },
          params: {
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientInfo': { name: 'test', version: '0' },
              'io.modelcontextprotocol/clientCapabilities': {},
            },
          },
        },
      }),

    async [Symbol.asyncDispose](): Promise<void> {
      await harness[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true });
    },
  };
}

export type AssertionPlane = Awaited<ReturnType<typeof startAssertionPlane>>;

/** What docs/oauth.md has in config.yaml, with this issuer. */
function settingsOnThePage(issuer: TestIssuer, secretFile: string): object {
  const block = blocksOf('docs/oauth.md').find(({ text }) => text.includes('identityAssertions'));
  const text = (block?.text ?? '')
    .replaceAll('https://id.example.com', issuer.url)
    .replace('/etc/mesh/assistant-secret', secretFile);
  const { app } = load(text) as { app: { oidc: [object] } };
  const grants = [{ claim: 'groups', value: 'admins', workspace: 'production', role: 'admin' }];
  return { ...app, oidc: [{ ...app.oidc[0], ...CLIENT, grants }] };
}
