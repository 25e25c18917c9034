import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest, McpServer } from '@modelcontextprotocol/server';
import express from 'express';
import { z } from 'zod';
import { reportTo } from './report-cpu.ts';

/** What the frameworks alone do: one express route, and one echo tool on the official SDK, without tokens or checks. */
const [, , answer = '{}', rows = '[]'] = process.argv;
const payload: unknown = JSON.parse(answer);
const structuredContent = JSON.parse(rows) as Record<string, unknown>;

function echoServer(): McpServer {
  const server = new McpServer({ name: 'bare', version: '0' });
  server.registerTool('echo', { description: 'Echo', inputSchema: z.object({}) }, async () => ({
    structuredContent,
    content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
  }));
  return server;
}

const app = express();
app.get('/bare', (_request, response) => {
  response.json(payload);
});
const modern = toNodeHandler(createMcpHandler(echoServer, { legacy: 'reject' }));
const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
app.post('/mcp', express.json({ limit: '1mb' }), async (request, response) => {
  if (!(await isLegacyRequest(await toWebRequest(request, request.body), request.body))) {
    await modern(request, response, request.body);
    return;
  }
  let transport = sessions.get(request.get('mcp-session-id') ?? '');
  if (!transport) {
    const opened = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, opened),
    });
    await echoServer().connect(opened);
    transport = opened;
  }
  await transport.handleRequest(request, response, request.body);
});
const listener = app.listen(0, '127.0.0.1');
await once(listener, 'listening');
reportTo(process, { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}` });
