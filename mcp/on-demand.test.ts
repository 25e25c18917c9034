import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../core/base/silent-log.ts';
import { buildKit } from '../test/kits/plane/kit.ts';
import { mcpOnDemand } from './on-demand.ts';

async function served() {
  const kit = await buildKit();
  onTestFinished(() => kit[Symbol.asyncDispose]());
  const mcp = mcpOnDemand({ operations: [], tools: [], gate: kit.gate, log: silentLog });
  const server = createServer((request, response) => void mcp.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return { mcp, url: `http://127.0.0.1:${address.port}/mcp` };
}

describe('the endpoint of MCP that is loaded on demand', () => {
  it('answers the first requests, also several at a time, and is closed with them', async () => {
    const { mcp, url } = await served();
    expect(mcp.sessionCount()).toBe(0);
    const answers = await Promise.all([fetch(url, { method: 'POST' }), fetch(url, { method: 'POST' })]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
    await mcp.close();
  });

  it('leaves and closes where nobody asked for it', async () => {
    const { mcp } = await served();
    mcp.leave();
    await mcp.close();
    expect(mcp.sessionCount()).toBe(0);
  });
});
