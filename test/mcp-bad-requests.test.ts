import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, test } from 'vitest';
import { startTestMcp, type TestMcp, testMcpOptions } from '../mcp/plane.testkit.ts';

const MODERN = '2026-07-28';
const CLIENT = { name: 'raw', version: '0' };

interface Answer {
  readonly result?: { readonly isError?: boolean; readonly content: readonly { readonly text: string }[] };
  readonly error?: { readonly code: number; readonly message: string };
}

/** Sends requests as they are, in one era. */
async function rawClient(plane: TestMcp, era: 'legacy' | 'modern') {
  let more: Record<string, string> = {};
  const post = (body: object, headers: Record<string, string> = {}) =>
    fetch(plane.url, {
      method: 'POST',
      headers: {
        authorization: 'Bearer reader',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...more,
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    });
  if (era === 'legacy') {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT };
    const opened = await post({ method: 'initialize', params });
    await opened.text();
    more = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
  } else {
    more = { 'mcp-protocol-version': MODERN };
  }
  const meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': CLIENT,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return async (method: string, params: Readonly<Record<string, unknown>> | null): Promise<Answer> => {
    const named = params?.['name'] ?? params?.['uri'];
    const headers =
      era === 'modern' ? { 'mcp-method': method, ...(typeof named === 'string' && { 'mcp-name': named }) } : {};
    const response = await post({ method, params: era === 'modern' ? { ...params, _meta: meta } : params }, headers);
    const text = await response.text();
    return JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
  };
}

describe.each(['legacy', 'modern'] as const)('a client of the %s era', (era) => {
  test.each([
    ['text in place of a number', { limit: 'many' }, '/limit: Must be a number.'],
    ['a number that is too large', { limit: 5_000 }, '/limit: Must be at most 200.'],
    ['a field that is not there', { nope: 1 }, '/nope: There is no such field; there is limit.'],
    ['text in place of all arguments', 'limit=5', '/arguments of tools/call: Must be an object.'],
    ['a list in place of all arguments', [5], '/arguments of tools/call: Must be an object.'],
  ])('that calls a tool with %s is told in one sentence what is right', async (_what, args, detail) => {
    await using plane = await startTestMcp();
    const send = await rawClient(plane, era);
    const { result } = await send('tools/call', { name: 'list_peers', arguments: args });
    const texts = result?.content.map(({ text }) => text) ?? [];
    expect([result?.isError, texts[0]]).toEqual([true, `Invalid input: ${detail}`]);
    expect(JSON.parse(texts[1] ?? '')).toMatchObject({ status: 400, code: 'invalid_input', detail });
  });

  test.each([[{ limit: null }], [{ limit: '' }], [{ limit: '50', workspace_id: '' }], [null]])(
    'that calls a tool with %j is answered as without these',
    async (args) => {
      await using plane = await startTestMcp();
      const { result } = await (await rawClient(plane, era))('tools/call', { name: 'list_peers', arguments: args });
      expect([result?.isError ?? false, result?.content[0]?.text]).toEqual([false, expect.stringContaining('w_1')]);
    },
  );

  test('that leaves out what a tool needs is told what', async () => {
    await using plane = await startTestMcp();
    const { result } = await (await rawClient(plane, era))('tools/call', { name: 'get_workflow' });
    expect(result?.content[0]?.text).toBe('Invalid input: /id: Required: text.');
  });

  test.each([
    ['tools/call', { name: 'no_such_tool' }, 'There is no tool no_such_tool. Ask tools/list.'],
    ['tools/call', { name: 'no_such_tool', arguments: 'x' }, '/arguments of tools/call: Must be an object.'],
    ['tools/call', { name: 7 }, '/name of tools/call: expected string, received number'],
    ['tools/list', { cursor: 7 }, '/cursor of tools/list: expected string, received number'],
    ['prompts/get', { name: 'no_such_prompt' }, 'There is no prompt no_such_prompt. Ask prompts/list.'],
    ['prompts/get', { name: 'debug_connectivity' }, 'The prompt needs the argument src.'],
    [
      'prompts/get',
      { name: 'debug_connectivity', arguments: { src: 3 } },
      '/arguments/src of prompts/get: expected string, received number',
    ],
    ['resources/read', {}, '/uri of resources/read: expected string, received undefined'],
    ['resources/read', { uri: 'mesh://nowhere' }, 'Resource not found: mesh://nowhere'],
  ])('that sends %s with %j gets -32602 and a sentence', async (method, params, message) => {
    await using plane = await startTestMcp();
    const { error } = await (await rawClient(plane, era))(method, params);
    expect(error).toMatchObject({ code: -32_602, message });
  });
});

test('a request with params: null is answered as one without', async () => {
  await using plane = await startTestMcp();
  const send = await rawClient(plane, 'legacy');
  expect((await send('tools/list', null)).result).toMatchObject({ tools: expect.any(Array) });
});

test('a client that opens a session without saying its version is told what is missing', async () => {
  await using plane = await startTestMcp();
  const { error } = await (await rawClient(plane, 'legacy'))('initialize', {});
  expect(error).toMatchObject({
    code: -32_602,
    message: '/protocolVersion of initialize: expected string, received undefined',
  });
});

test('a bug outside of a tool is an error without its message', async () => {
  const workspaceId = async () => {
    throw new Error('the password is hunter2');
  };
  await using plane = await startTestMcp({ gate: { ...testMcpOptions().gate, workspaceId } });
  const client = await plane.connect('reader', 'auto', { 'x-workspace-id': 'w_1' });
  const refused = client.listTools();
  await expect(refused).rejects.toMatchObject({ code: -32_603 });
  await expect(refused).rejects.not.toThrow('hunter2');
});

test('a v1 and a v2 client read a refused argument whole', async () => {
  await using plane = await startTestMcp();
  const v1 = new ClientV1({ name: 'v1', version: '0' });
  const requestInit = { headers: { authorization: 'Bearer reader' } };
  await v1.connect(new TransportV1(plane.url, { requestInit }) as Transport);
  await v1.listTools();
  for (const client of [v1, await plane.connect('reader', 'legacy'), await plane.connect('reader')]) {
    const { isError, content } = await client.callTool({ name: 'list_peers', arguments: { limit: 0 } });
    expect([isError, content]).toMatchObject([true, [{ text: 'Invalid input: /limit: Must be at least 1.' }, {}]]);
  }
  await v1.close();
});
