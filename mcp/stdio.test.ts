import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import {
  Client,
  type ClientCapabilities,
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { type Bridge, bridgeStdio } from './bridge.ts';
import { startTestMcp, testMcpOptions } from './plane.testkit.ts';
import { serveMcpStdio } from './stdio.ts';

/** The client's end of a pair of pipes. */
function pipeTransport(toServer: PassThrough, fromServer: PassThrough): Transport {
  const buffer = new ReadBuffer();
  const transport: Transport = {
    async start() {
      fromServer.on('data', (chunk: Buffer) => {
        buffer.append(chunk);
        for (let message = buffer.readMessage(); message; message = buffer.readMessage())
          transport.onmessage?.(message);
      });
    },
    async send(message: JSONRPCMessage) {
      toServer.write(serializeMessage(message));
    },
    async close() {
      toServer.end();
      transport.onclose?.();
    },
  };
  return transport;
}

const MODES = [['legacy'], [{ pin: '2026-07-28' }]] as const;

async function clientOver(
  mode: (typeof MODES)[number][0],
  input: PassThrough,
  output: PassThrough,
  capabilities: ClientCapabilities = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode }, capabilities });
  await client.connect(pipeTransport(input, output));
  return client;
}

describe.each(MODES)('in mode %j', (mode) => {
  test('a plane on stdio serves the principal local, which plans but never approves', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const options = testMcpOptions();
    const served = serveMcpStdio({ ...options, workspace: 'w_1', input, output });
    const client = await clientOver(mode, input, output);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['list_peers', 'get_workflow', 'list_snapshots', 'find_cause']);
    const answer = await client.callTool({ name: 'list_peers', arguments: {} });
    expect(answer.structuredContent).toMatchObject({ workspace: 'w_1' });
    await client.close();
    await served.closed;
    await served.close();
  });

  test('views reach a client that shows them, from a plane on stdio and through the bridge', async () => {
    const shows = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } };
    const views = [
      { name: 'peers', title: 'Peers', description: 'Peers', tools: ['list_peers'], html: '<!doctype html>' },
    ];
    await using plane = await startTestMcp({ views });
    const [input, output] = [new PassThrough(), new PassThrough()];
    const served = serveMcpStdio({ ...testMcpOptions(), views, workspace: 'w_1', input, output });
    const [toBridge, fromBridge] = [new PassThrough(), new PassThrough()];
    const bridge = bridgeStdio({ server: plane.url.origin, token: 'reader', input: toBridge, output: fromBridge });
    for (const client of [
      await clientOver(mode, input, output, shows),
      await clientOver(mode, toBridge, fromBridge, shows),
    ]) {
      const { contents } = await client.readResource({ uri: 'ui://mesh/peers' });
      expect(contents).toMatchObject([{ mimeType: 'text/html;profile=mcp-app', text: '<!doctype html>' }]);
      const { _meta } = await client.callTool({ name: 'list_peers', arguments: {} });
      expect(_meta).toMatchObject({ 'mesh/dashboard': 'http://mesh.test:18090/#/w_1' });
      await client.close();
    }
    await Promise.all([served.closed, bridge.closed]);
    await served.close();
  });

  test('the bridge carries calls and errors to a control plane far away', async () => {
    await using plane = await startTestMcp();
    const [input, output] = [new PassThrough(), new PassThrough()];
    const bridge: Bridge = bridgeStdio({ server: plane.url.origin, token: 'both', workspace: 'w_2', input, output });
    const client = await clientOver(mode, input, output);
    const answer = await client.callTool({ name: 'list_peers', arguments: {} });
    expect(answer.structuredContent).toMatchObject({ workspace: 'w_2' });
    const failed = await client.callTool({ name: 'get_workflow', arguments: { id: 'wf_9' } });
    expect(failed.isError).toBe(true);
    await expect(client.readResource({ uri: 'mesh://workspaces/w_2/workflows/wf_ä' })).rejects.toThrow();
    await client.close();
    await bridge.closed;
    expect(plane.endpoint.sessionCount()).toBe(0);
  });

  test('the bridge brings notifications of change', async () => {
    await using plane = await startTestMcp();
    const [input, output] = [new PassThrough(), new PassThrough()];
    const bridge = bridgeStdio({ server: plane.url.origin, token: 'reader', input, output });
    const client = await clientOver(mode, input, output);
    const uri = 'mesh://workspaces/w_1/peers';
    const heard: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
    if (mode === 'legacy') await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: [uri] });
    await expect
      .poll(() => {
        plane.commit({ changes: [{ type: 'updated', record: { kind: 'MeshPeer', uid: 'p_1' } }] } as never);
        return heard.includes(uri);
      })
      .toBe(true);
    await client.close();
    await bridge.closed;
  });
});

test.each([
  [
    'a plane',
    (input: PassThrough, output: PassThrough) =>
      serveMcpStdio({ ...testMcpOptions(), workspace: 'w_1', input, output }),
  ],
  [
    'the bridge',
    (input: PassThrough, output: PassThrough) =>
      bridgeStdio({ server: 'http://127.0.0.1:1', token: 'x', input, output }),
  ],
])(
  '%s on stdio answers a line that exceeds the bounds of a message with its limit, and reads on',
  async (_who, serve) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const served = serve(input, output);
    const answers = output[Symbol.asyncIterator]();
    const next = async () => JSON.parse(String((await answers.next()).value));
    input.write(`{"jsonrpc":"2.0","id":1,"method":${'['.repeat(15_000)}${']'.repeat(15_000)}}\n`);
    expect(await next()).toMatchObject({
      id: null,
      error: { code: -32_600, message: expect.stringContaining('deeper than 64 levels') },
    });
    for (let piece = 0; piece < 20; piece += 1) input.write('x'.repeat(65_536));
    input.write('\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n');
    expect(await next()).toMatchObject({
      id: null,
      error: { code: -32_600, message: expect.stringContaining('1048576 bytes') },
    });
    expect(await next()).toMatchObject({ id: 2 });
    input.end();
    await served.closed;
    await served.close();
  },
);

test('the bridge opens its session again when the control plane has forgotten it', async () => {
  await using plane = await startTestMcp();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const bridge = bridgeStdio({ server: plane.url.origin, token: 'reader', input, output });
  const client = await clientOver('legacy', input, output);
  plane.endpoint.endSessions();
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  await client.close();
  await bridge.closed;
});

test('the bridge answers a request with an error that says what to do when the token is refused or nobody is there', async () => {
  await using plane = await startTestMcp();
  const ask = async (server: string) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const bridge = bridgeStdio({ server, token: 'nobody', input, output });
    input.write('{"jsonrpc":"2.0","id":7,"method":"ping"}\n');
    const [line] = (await output[Symbol.asyncIterator]().next()).value.toString().split('\n');
    await bridge.close();
    return JSON.parse(line);
  };
  expect(await ask(plane.url.origin)).toMatchObject({
    id: 7,
    error: { message: expect.stringContaining('log in again') },
  });
  expect(await ask('http://127.0.0.1:1')).toMatchObject({
    id: 7,
    error: { message: expect.stringContaining('cannot be reached') },
  });
});

test('the bridge opens an event stream again that a control plane could not give it, and hears what it tells then', async () => {
  const answers: ((response: ServerResponse) => void)[] = [
    (response) => response.writeHead(503).end(),
    (response) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end('data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n'),
  ];
  const opening = { 'content-type': 'application/json', 'mcp-session-id': 's' };
  const server = createServer((request, response) => {
    if (request.method === 'GET') return answers.shift()?.(response) ?? response.writeHead(405).end();
    const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '0' } };
    return response.writeHead(200, opening).end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const [input, output] = [new PassThrough(), new PassThrough()];
  const { port } = server.address() as AddressInfo;
  const bridge = bridgeStdio({ server: `http://127.0.0.1:${port}`, token: 'reader', input, output });
  input.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n');
  let heard = '';
  output.on('data', (chunk) => {
    heard += chunk;
  });
  await expect.poll(() => heard, { timeout: 10_000 }).toContain('notifications/x');
  await bridge.close();
  server.close();
});
