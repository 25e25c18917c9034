import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { oauthClient } from '../kits/http/oauth-client.ts';
import { npmJudge } from '../kits/process/npm-judges.ts';

const SUITE = npmJudge('@modelcontextprotocol/conformance/dist/index.js') ?? '';
const ASKED = /http:\/\/\S+\/oauth\/authorize\?[^\s"']+/;

/** The suite listens on a port that it is told. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test.skipIf(SUITE === '')(
  'the official conformance suite finds metadata and the code grant as it demands them',
  async () => {
    await using harness = await startHarness();
    const person = await harness.workspace();
    const client = oauthClient(harness);
    const redirect = 'http://127.0.0.1/callback';
    const id = await client.register({ client_name: 'Conformance', redirect_uris: [redirect] });
    const port = String(await freePort());
    const options = ['--url', harness.url, '--client-id', id, '--resource', `${harness.url}/mcp`, '--port', port];
    const suite = spawn(process.execPath, [SUITE, 'authorization', ...options], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(suite, 'exit');
    let output = '';
    let isAllowed = false;
    for await (const chunk of suite.stdout.setEncoding('utf8')) {
      output += chunk;
      const [address] = ASKED.exec(output) ?? [];
      if (address === undefined || isAllowed) continue;
      isAllowed = true;
      const request = await client.open(address);
      const { body } = await harness.api('POST', `/api/v1/oauth/requests/${request}/allow`, { ...person, body: {} });
      const answered = await client.browse(body.url);
      await fetch(answered.headers.get('location') ?? '');
    }
    expect(output).toContain('authorization-server-metadata-endpoint: 2 passed, 0 failed');
    expect(output).toContain('authorization-code-grant: 1 passed, 0 failed');
    expect(await exited).toEqual([0, null]);
  },
);
