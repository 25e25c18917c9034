import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect, test } from 'vitest';
import { startTestMcp } from '../mcp/plane.testkit.ts';

test('a client on the v1 SDK lists the tools and then reads an error whole', async () => {
  await using plane = await startTestMcp();
  const client = new Client({ name: 'v1', version: '0' });
  const requestInit = { headers: { authorization: 'Bearer reader' } };
  await client.connect(new StreamableHTTPClientTransport(plane.url, { requestInit }) as Transport);
  await client.listTools();
  const failed = await client.callTool({ name: 'get_workflow', arguments: { id: 'wf_9' } });
  const [, block] = failed['content'] as { text: string }[];
  expect(JSON.parse(block?.text ?? '')).toMatchObject({ status: 404, code: 'not_found' });
  await client.close();
});
