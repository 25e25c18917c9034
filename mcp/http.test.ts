import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import type { Commit } from '../core/base/ports.ts';
import { callerWith, startTestMcp } from './plane.testkit.ts';

const MODERN = { pin: '2026-07-28' } as const;

const namesOf = async (client: Pick<Client, 'listTools'>) => (await client.listTools()).tools.map(({ name }) => name);

/** The second text block of a failed call. */
function problemOf({ content }: { content?: unknown }): Record<string, unknown> {
  const [, block] = content as { text: string }[];
  return JSON.parse(block?.text ?? 'null');
}

const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: {
    authorization: 'Bearer reader',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const nestedCall = (levels: number) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'['.repeat(levels)}${']'.repeat(levels)}}`;

/** A subscription of the current revision. */
const listen = (token: string, resourceSubscriptions: readonly string[] = ['mesh://workspaces/w_1/peers']) => {
  const client = { name: 'raw', version: '0' };
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': client,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { _meta: meta, notifications: { resourceSubscriptions } };
  return post(
    { jsonrpc: '2.0', id: 7, method: 'subscriptions/listen', params },
    {
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
  );
};

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } },
};

describe.each([['legacy'], ['auto'], [MODERN]] as const)('a v2 client in mode %j', (mode) => {
  test('lists tools, calls one, and reads an error after that', async () => {
    await using plane = await startTestMcp();
    const client = await plane.connect('reader', mode);
    expect(await namesOf(client)).toEqual(['list_peers', 'get_workflow', 'list_snapshots', 'find_cause']);
    const value = { items: [{ name: 'web-1' }, { name: 'db-1' }], workspace: 'w_1' };
    const answer = await client.callTool({ name: 'list_peers', arguments: {} });
    expect(answer).toMatchObject({
      structuredContent: value,
      content: [{ type: 'text', text: 'items (2):\nname\nweb-1\ndb-1\nworkspace: w_1' }],
    });
    const failed = await client.callTool({ name: 'get_workflow', arguments: { id: 'wf_9' } });
    expect([failed.isError, failed.structuredContent]).toEqual([true, undefined]);
    expect((failed.content as { text: string }[])[0]?.text).toBe(
      'Record not found: There is no workflow wf_9. See list_workflows.',
    );
    expect(problemOf(failed)).toMatchObject({ status: 404, code: 'not_found' });
  });

  test('reads a resource, and hears of a change that it watches', async () => {
    await using plane = await startTestMcp();
    const client = await plane.connect('reader', mode);
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['mesh://workspaces/w_1/peers']);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'mesh://workspaces/{w}/peers',
      'mesh://workspaces/{w}/workflows/{id}',
    ]);
    const { contents } = await client.readResource({ uri: 'mesh://workspaces/w_1/workflows/wf_1' });
    expect(contents).toEqual([
      { uri: 'mesh://workspaces/w_1/workflows/wf_1', mimeType: 'application/json', text: '{"id":"wf_1"}' },
    ]);
    await expect(client.readResource({ uri: 'mesh://workspaces/w_1/workflows/wf_9' })).rejects.toThrow();
    await expect(client.readResource({ uri: 'mesh://workspaces/w_2/peers' })).rejects.toThrow();
  });

  test('gets a prompt that brings its data, and completes an argument from the network', async () => {
    await using plane = await startTestMcp();
    const client = await plane.connect('reader', mode);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['change_network', 'debug_connectivity', 'review_plan']);
    const { messages } = await client.getPrompt({ name: 'change_network', arguments: { intent: 'open 5432' } });
    expect(messages.map(({ content }) => (content as { text: string }).text)).toEqual([
      expect.stringContaining('open 5432'),
      expect.stringContaining('\nweb-1\n'),
    ]);
    const ref = { type: 'ref/prompt', name: 'debug_connectivity' } as const;
    const { completion } = await client.complete({ ref, argument: { name: 'src', value: 'we' } });
    expect(completion.values).toEqual(['web-1']);
  });
});

test('a bug is an error without its message', async () => {
  await using plane = await startTestMcp();
  const client = await plane.connect('reader');
  const failed = await client.callTool({ name: 'find_cause', arguments: {} });
  expect(problemOf(failed)).toMatchObject({ status: 500, code: 'internal' });
  expect(JSON.stringify(failed)).not.toContain('hunter2');
});

describe('the list of tools', () => {
  test('shows no tool whose scope the caller lacks, and the Pro tools in Community too', async () => {
    await using plane = await startTestMcp({ edition: 'community' });
    expect(await namesOf(await plane.connect('blind'))).toEqual([]);
    const reader = await plane.connect('reader');
    const pro = await startTestMcp();
    expect(await namesOf(reader)).toEqual(await namesOf(await pro.connect('reader')));
    await pro[Symbol.asyncDispose]();
    expect(problemOf(await reader.callTool({ name: 'list_snapshots', arguments: {} }))).toMatchObject({ status: 402 });
  });

  test('asks for a workspace only where the caller has several and named none', async () => {
    await using plane = await startTestMcp();
    const fieldsOf = async (client: Client) =>
      Object.keys((await client.listTools()).tools[0]?.inputSchema.properties ?? {});
    expect(await fieldsOf(await plane.connect('reader'))).toEqual(['limit']);
    expect(await fieldsOf(await plane.connect('both', 'auto', { 'x-workspace-id': 'w_2' }))).toEqual(['limit']);
    const both = await plane.connect('both');
    expect(await fieldsOf(both)).toEqual(['limit', 'workspace_id']);
    const answer = await both.callTool({ name: 'list_peers', arguments: { workspace_id: 'w_2' } });
    expect(answer.structuredContent).toMatchObject({ workspace: 'w_2' });
    expect(problemOf(await both.callTool({ name: 'list_peers', arguments: {} }))).toMatchObject({ status: 400 });
  });
});

describe('the endpoint', () => {
  test('answers 401 with WWW-Authenticate without a token, and to a token that was revoked', async () => {
    await using plane = await startTestMcp();
    const anonymous = await fetch(plane.url, post(initialize, { authorization: '' }));
    const metadata = `${new URL(plane.url).origin}/.well-known/oauth-protected-resource/mcp`;
    const challenge = `Bearer realm="mesh", resource_metadata="${metadata}", scope="network:read snapshots:read intents:plan intents:apply"`;
    expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([401, challenge]);
    const client = await plane.connect('reader', 'legacy');
    plane.tokens.delete('reader');
    await expect(client.listTools()).rejects.toThrow();
    const revoked = await fetch(plane.url, post(initialize));
    expect(revoked.headers.get('www-authenticate')).toContain(
      `${challenge}, error="invalid_token", error_description="`,
    );
    expect(await revoked.json()).toMatchObject({ code: 'unauthenticated', error: 'invalid_token' });
  });

  test('lets no other token ride a session', async () => {
    await using plane = await startTestMcp();
    const opened = await fetch(plane.url, post(initialize));
    const id = opened.headers.get('mcp-session-id') ?? '';
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    const own = await fetch(plane.url, post(call, { 'mcp-session-id': id }));
    const other = await fetch(plane.url, post(call, { 'mcp-session-id': id, authorization: 'Bearer both' }));
    expect([own.status, other.status]).toEqual([200, 404]);
  });

  test('holds a share of the sessions for one principal and ends its oldest, never those of others', async () => {
    await using plane = await startTestMcp({ sessions: { maxSessions: 40 } });
    plane.tokens.set('other', callerWith(['network:read'], { tokenId: 'tok_other', id: 'agt_other' }));
    plane.tokens.set('second', callerWith(['network:read'], { tokenId: 'tok_second' }));
    const open = async (token: string) => {
      const opened = await fetch(plane.url, post(initialize, { authorization: `Bearer ${token}` }));
      await opened.text();
      return opened.headers.get('mcp-session-id') ?? '';
    };
    const others = await open('other');
    for (let count = 0; count < 8; count++) await open(count % 2 ? 'reader' : 'second');
    expect(plane.endpoint.sessionCount()).toBe(1 + 4);
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    const headers = { 'mcp-session-id': others, authorization: 'Bearer other' };
    expect((await fetch(plane.url, post(call, headers))).status).toBe(200);
  });

  test('gives an opening that comes to nothing its place back', async () => {
    await using plane = await startTestMcp({ sessions: { maxSessions: 20 } });
    for (let count = 0; count < 40; count++) {
      const { status } = await fetch(plane.url, post({ ...initialize, params: {} }));
      expect(status).not.toBe(429);
    }
    expect((await fetch(plane.url, post(initialize))).status).toBe(200);
  });

  test('refuses a subscription past the share of its principal, names the limit, and has one for others', async () => {
    await using plane = await startTestMcp({ maxSubscriptions: 20 });
    plane.tokens.set('other', callerWith(['network:read'], { tokenId: 'tok_other', id: 'agt_other' }));
    const held = [await fetch(plane.url, listen('reader')), await fetch(plane.url, listen('reader'))];
    expect(held.map(({ status }) => status)).toEqual([200, 200]);
    const refused = await fetch(plane.url, listen('reader'));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30']);
    const data = { code: 'rate_limited', limit: 'MCP subscriptions', share: 'principal' };
    expect(await refused.json()).toMatchObject({ error: { data } });
    expect((await fetch(plane.url, listen('other'))).status).toBe(200);
    await held[0]?.body?.cancel();
    await expect.poll(async () => (await fetch(plane.url, listen('reader'))).status).toBe(200);
  });

  test('takes no more resources in one subscription than a session may watch', async () => {
    await using plane = await startTestMcp();
    const many = Array.from({ length: 101 }, () => 'mesh://workspaces/w_1/peers');
    const answer = await fetch(plane.url, listen('reader', many));
    expect(await answer.json()).toMatchObject({ error: { code: -32_602 } });
  });

  test.each([
    ['malformed JSON', post('{"jsonrpc"'), 400],
    ['no JSON type', post(initialize, { 'content-type': 'text/plain' }), 415],
    ['2 MB', post({ ...initialize, pad: 'x'.repeat(2_000_000) }), 413],
    ['a compressed body', post(initialize, { 'content-encoding': 'gzip' }), 415],
    ['a foreign Origin', post(initialize, { origin: 'https://evil.example' }), 403],
    ['an unknown session', post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, { 'mcp-session-id': 'x' }), 404],
    ['no session', post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }), 400],
  ])('refuses %s with a JSON-RPC error', async (_title, init, status) => {
    await using plane = await startTestMcp();
    const response = await fetch(plane.url, init);
    expect([response.status, await response.json()]).toEqual([
      status,
      expect.objectContaining({ jsonrpc: '2.0', error: expect.objectContaining({ code: expect.any(Number) }) }),
    ]);
  });

  test.each([
    ['malformed JSON', '{"jsonrpc"', -32_700, 'not well-formed JSON'],
    ['a message nested 15,000 levels deep', nestedCall(15_000), -32_600, 'nested deeper than 64 levels'],
    ['a message of 440,000 values', `[${Array(440_000).fill(1).join()}]`, -32_600, 'more than 120000 values'],
  ])('answers %s with the code of JSON-RPC and what is wrong', async (_title, body, code, message) => {
    await using plane = await startTestMcp();
    const response = await fetch(plane.url, post(body));
    const { error } = (await response.json()) as { error: unknown };
    expect([response.status, error]).toEqual([
      400,
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    ]);
  });

  test.each([
    ['*/*', 200, 'text/event-stream'],
    ['application/*, text/event-stream', 200, 'text/event-stream'],
    ['application/json', 200, 'application/json'],
    ['*/*, text/event-stream;q=0', 200, 'application/json'],
    ['text/event-stream', 200, 'text/event-stream'],
    ['text/html', 406, 'application/json'],
    ['application/json;q=0, text/event-stream;q=0, */*', 406, 'application/json'],
  ])('answers a request that accepts %s', async (accept, status, type) => {
    await using plane = await startTestMcp();
    const response = await fetch(plane.url, post(initialize, { accept }));
    expect([response.status, response.headers.get('content-type')]).toEqual([status, type]);
    const text = await response.text();
    const answer = JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
    expect(answer).toMatchObject(status === 200 ? { id: 1, result: { serverInfo: { name: 'mesh' } } } : { error: {} });
  });

  test('answers a request without Accept, as clients that know nothing of events send it', async () => {
    await using plane = await startTestMcp();
    const { hostname, port, pathname } = plane.url;
    const { method, headers, body } = post(initialize, { connection: 'close' }) as Record<string, string> & {
      headers: Record<string, string>;
    };
    const { accept: _none, ...others } = headers;
    const asked = request({ hostname, port, path: pathname, method, headers: others });
    asked.end(body);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(200);
  });

  test('lets pages of its own address read answers, which ask by a preflight first', async () => {
    await using plane = await startTestMcp({ hosts: new Set(['mesh.test']) });
    const origin = 'http://mesh.test:18090';
    const asked = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    const preflight = await fetch(plane.url, { method: 'OPTIONS', headers: asked });
    expect([preflight.status, Object.fromEntries(preflight.headers)]).toEqual([
      204,
      expect.objectContaining({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
        'access-control-allow-headers': expect.stringMatching(/Authorization, Content-Type.*Mcp-Session-Id/),
        vary: 'Origin',
      }),
    ]);
    for (const headers of [{ origin }, { origin, authorization: 'Bearer nobody' }]) {
      const { headers: sent } = await fetch(plane.url, post(initialize, headers));
      expect([sent.get('access-control-allow-origin'), sent.get('access-control-expose-headers')]).toEqual([
        origin,
        'Mcp-Session-Id, Retry-After, WWW-Authenticate',
      ]);
    }
    const foreign = { ...asked, origin: 'https://evil.example' };
    const refused = await fetch(plane.url, { method: 'OPTIONS', headers: foreign });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });

  test.each(['PUT', 'PATCH'])('refuses %s and says what it answers', async (method) => {
    await using plane = await startTestMcp();
    const response = await fetch(plane.url, { method, headers: { authorization: 'Bearer reader' } });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE, OPTIONS']);
  });

  test('accepts the Origin of its own address', async () => {
    await using plane = await startTestMcp({ hosts: new Set(['mesh.test']) });
    expect((await fetch(plane.url, post(initialize, { origin: 'http://mesh.test:18090' }))).status).toBe(200);
  });
});

describe('a watcher of a resource', () => {
  const changed = {
    changes: [{ type: 'updated', record: { kind: 'MeshPeer', uid: 'p_1' } }],
  } as unknown as Partial<Commit>;
  const revoked = { changes: [{ type: 'deleted', record: { kind: 'Token' } }] } as unknown as Partial<Commit>;
  const uri = 'mesh://workspaces/w_1/peers';

  test('of the 2025 era hears of a change, and of none after it stopped', async () => {
    await using plane = await startTestMcp();
    const client = await plane.connect('reader', 'legacy');
    const heard: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
    await client.subscribeResource({ uri });
    await expect
      .poll(() => {
        plane.commit(changed);
        return heard.length;
      })
      .toBeGreaterThan(0);
    expect(new Set(heard)).toEqual(new Set([uri]));
    await client.unsubscribeResource({ uri });
    await expect(client.subscribeResource({ uri: 'mesh://workspaces/w_2/peers' })).rejects.toThrow();
  });

  test('of the current revision hears of a change in its own workspaces only', async () => {
    await using plane = await startTestMcp();
    const client = await plane.connect('reader', MODERN);
    const heard: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
    await client.listen({ resourceSubscriptions: [uri] });
    await expect
      .poll(() => {
        plane.commit(changed);
        return heard.length;
      })
      .toBeGreaterThan(0);
    await expect(client.listen({ resourceSubscriptions: ['mesh://workspaces/w_2/peers'] })).rejects.toThrow();
  });

  test('is cut off when its token is revoked', async () => {
    await using plane = await startTestMcp();
    const opened = await fetch(plane.url, post(initialize));
    await opened.text();
    const headers = {
      authorization: 'Bearer reader',
      accept: 'text/event-stream',
      'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
    };
    const stream = await fetch(plane.url, { headers });
    expect(stream.status).toBe(200);
    plane.tokens.delete('reader');
    plane.commit(revoked);
    plane.commit(changed);
    const text = await stream.text();
    expect(text).toContain('"code":"unauthenticated"');
    expect(text).not.toContain('notifications/resources/updated');
    expect(plane.endpoint.sessionCount()).toBe(0);
  });

  test('of the current revision is told why it ends when its token is revoked, and of no change then', async () => {
    await using plane = await startTestMcp();
    const stream = await fetch(plane.url, listen('reader'));
    plane.tokens.delete('reader');
    plane.commit(revoked);
    plane.commit(changed);
    const events = (await stream.text()).split('\n').filter((line) => line.startsWith('data: '));
    expect(events.map((event) => JSON.parse(event.slice('data: '.length)))).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged' },
      { id: 7, error: { data: { code: 'unauthenticated' } } },
    ]);
  });

  test.each(['legacy', 'modern'])('of the %s era hears no more of a workspace that it left', async (era) => {
    await using plane = await startTestMcp();
    const client = await plane.connect('both', era === 'legacy' ? 'legacy' : MODERN);
    const heard: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
    const uris = ['mesh://workspaces/w_1/peers', 'mesh://workspaces/w_2/peers'];
    for (const each of uris) {
      if (era === 'legacy') await client.subscribeResource({ uri: each });
      else await client.listen({ resourceSubscriptions: [each] });
    }
    await expect
      .poll(() => {
        plane.commit(changed);
        return heard.includes(uris[0] ?? '');
      })
      .toBe(true);
    plane.tokens.set('both', callerWith(['network:read'], { workspaces: ['w_2'], tokenId: 'tok_both' }));
    plane.commit({ changes: [{ type: 'deleted', record: { kind: 'Member' } }] } as unknown as Partial<Commit>);
    const heardInTwo = () => {
      plane.commit(changed);
      plane.commit({ ...changed, workspace: 'w_2' });
      return heard.filter((each) => each === uris[1]).length;
    };
    // What was sent before is through once this is heard.
    await expect.poll(heardInTwo).toBeGreaterThan(0);
    heard.length = 0;
    await expect.poll(heardInTwo).toBeGreaterThan(3);
    expect(new Set(heard)).toEqual(new Set([uris[1]]));
  });

  test('is cut off when its token ends', async () => {
    await using plane = await startTestMcp();
    plane.tokens.set('brief', callerWith(['network:read'], { tokenId: 'tok_brief', expiresAt: Date.now() + 300 }));
    const authorization = 'Bearer brief';
    const opened = await fetch(plane.url, post(initialize, { authorization }));
    await opened.text();
    const headers = {
      authorization,
      accept: 'text/event-stream',
      'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
    };
    const stream = await fetch(plane.url, { headers });
    expect(await stream.text()).toContain('This token has expired');
  });

  test('of a client whose tokens another server issues ends with the token, and its session goes on with the next one', async () => {
    await using plane = await startTestMcp();
    const audience = 'https://mesh.example.com/mcp';
    const caller = callerWith(['network:read'], { tokenId: 'agt_1', audience });
    const endsIn = (ms: number) => ({ ...caller, again: async () => ({ ...caller, expiresAt: Date.now() + ms }) });
    plane.tokens.set('first', endsIn(300));
    plane.tokens.set('next', endsIn(3_600_000));
    const opened = await fetch(plane.url, post(initialize, { authorization: 'Bearer first' }));
    await opened.text();
    const session = opened.headers.get('mcp-session-id') ?? '';
    const headers = { accept: 'text/event-stream', 'mcp-session-id': session };
    // Until it ends.
    await fetch(plane.url, { headers: { ...headers, authorization: 'Bearer first' } })
      .then((stream) => stream.text())
      .catch(() => undefined);
    const abort = new AbortController();
    const next = { headers: { ...headers, authorization: 'Bearer next' }, signal: abort.signal };
    await expect.poll(async () => (await fetch(plane.url, next)).status).toBe(200);
    abort.abort();
    expect(plane.endpoint.sessionCount()).toBe(1);
  });
});
