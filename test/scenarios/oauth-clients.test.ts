import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { oauthClient } from '../kits/http/oauth-client.ts';
import { keeper, type Tokens } from '../kits/http/oauth-keeper.ts';

/** What a person does with the address that a client opens. @returns what the client is told at its redirect */
async function allow(harness: Harness, person: { token: string; workspace: string }, address: URL | undefined) {
  const browser = oauthClient(harness);
  const id = await browser.open(String(address));
  const { body } = await harness.api('POST', `/api/v1/oauth/requests/${id}/allow`, { ...person, body: {} });
  return browser.goOn(body.url);
}

test.each(['legacy', 'modern'])(
  'the official client of the %s protocol signs in, renews its token by itself, and asks again once its agent has ended',
  async (era) => {
    await using harness = await startHarness();
    const person = await harness.workspace();
    const { kept, provider } = keeper();
    const transport = () => new StreamableHTTPClientTransport(new URL('/mcp', harness.url), { authProvider: provider });
    const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
    const client = () => new Client({ name: 'scenario', version: '1' }, { versionNegotiation: { mode } });
    const first = transport();
    await expect(client().connect(first)).rejects.toThrow(/unauthorized/i);
    await first.finishAuth(await allow(harness, person, kept.address));
    const connected = client();
    await connected.connect(transport());
    expect((await connected.listTools()).tools.map(({ name }) => name)).toContain('plan_network_change');
    const { refresh_token: before } = kept.tokens ?? {};
    kept.tokens = { ...(kept.tokens as Tokens), access_token: `mesh-oat-${'A'.repeat(43)}` };
    expect((await connected.listTools()).tools.length).toBeGreaterThan(0);
    expect(kept.tokens?.refresh_token).not.toBe(before);
    await harness.api('DELETE', '/api/v1/agents/official-client-admin', person);
    const { address } = kept;
    await expect(connected.listTools()).rejects.toThrow(/unauthorized/i);
    expect(kept.address).not.toBe(address);
    await connected.close();
  },
);

test('the official client of version 1 signs in', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  const { kept, provider } = keeper();
  const transport = () => new OldTransport(new URL('/mcp', harness.url), { authProvider: provider as never });
  const first = transport();
  const client = () => new OldClient({ name: 'scenario', version: '1' });
  await expect(client().connect(first as never)).rejects.toThrow(/unauthorized/i);
  await first.finishAuth((await allow(harness, person, kept.address)).get('code') ?? '');
  const connected = client();
  await connected.connect(transport() as never);
  expect((await connected.listTools()).tools.length).toBeGreaterThan(0);
  await connected.close();
});
