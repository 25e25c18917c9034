import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { dashboardBrowser } from '../kits/http/dashboard-browser.ts';
import { FIRST_ADMIN, startHarness } from '../kits/http/harness.ts';
import { REDIRECT } from '../kits/http/oauth-client.ts';
import { keeper, type Tokens } from '../kits/http/oauth-keeper.ts';
import { freePort } from '../kits/servers/free-port.ts';
import { issuerBrowser } from '../kits/servers/issuer-browser.ts';
import { startOidcProvider } from '../kits/servers/oidc-provider.ts';

test.each(['legacy', 'modern'])(
  'the official client of the %s protocol finds oidc-provider by itself, is let in there, renews its token, and is out once its agent is revoked',
  async (era) => {
    const port = await freePort();
    const mesh = `http://127.0.0.1:${port}`;
    await using issuer = await startOidcProvider(mesh, `${mesh}/mcp`);
    const oidc = [
      {
        ...{ name: 'corp', issuer: issuer.url, clientId: 'mesh', clientSecret: 'a secret of the client' },
        grants: [{ claim: 'groups', value: 'operators', workspace: 'prod', role: 'admin' }],
      },
    ];
    const oauth = { issuer: issuer.url, grants: [{ claim: 'scope', value: 'mesh', workspace: 'prod' }] };
    await using harness = await startHarness({
      env: { MESH_LISTEN: `127.0.0.1:${port}` },
      config: { app: { initAdmins: [FIRST_ADMIN], publicUrls: [mesh], oidc, oauth } },
    });
    await harness.workspace('prod');
    const browser = dashboardBrowser(harness);
    const ada = issuerBrowser({ login: 'ada', password: 'any' });
    const back = await ada((await browser.begin('corp')).body.url, `${mesh}/sign-in/corp`);
    await browser.finish('corp', new URL(back).search);

    const { kept, provider } = keeper();
    const transport = () => new StreamableHTTPClientTransport(new URL(`${mesh}/mcp`), { authProvider: provider });
    const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
    const client = () => new Client({ name: 'scenario', version: '1' }, { versionNegotiation: { mode } });
    const first = transport();
    await expect(client().connect(first)).rejects.toThrow(/unauthorized/i);
    expect(kept.address?.origin).toBe(issuer.url);
    expect(kept.address?.searchParams.get('resource')).toBe(`${mesh}/mcp`);
    await first.finishAuth(new URL(await ada(String(kept.address), REDIRECT)).searchParams);

    const connected = client();
    await connected.connect(transport());
    const { tools } = await connected.listTools();
    expect(tools.map(({ name }) => name)).toContain('list_peers');
    expect(tools.map(({ name }) => name)).not.toContain('take_snapshot');
    const before = kept.tokens?.access_token ?? '';
    // As one that has expired.
    kept.tokens = { ...(kept.tokens as Tokens), access_token: `${before.slice(0, -4)}AAAA` };
    expect((await connected.callTool({ name: 'list_peers', arguments: {} })).isError).not.toBe(true);
    expect(kept.tokens?.access_token).not.toBe(before);

    const token = await harness.login();
    const { workspaces } = (await harness.api('GET', '/api/v1/users/me', { token })).body;
    const [{ id: workspace }] = workspaces.filter(({ slug }: { slug: string }) => slug === 'prod');
    const { items } = (await harness.api('GET', '/api/v1/agents', { token, workspace })).body;
    expect(items).toMatchObject([{ person: 'ada@example.com', client: { host: new URL(issuer.url).host } }]);
    await harness.api('DELETE', `/api/v1/agents/${items[0].id}`, { token, workspace });
    await expect(connected.callTool({ name: 'list_peers', arguments: {} })).rejects.toThrow('was revoked');
    await connected.close();
  },
);
