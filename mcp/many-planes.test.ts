import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { memoryCells } from '../core/base/memory-cells.ts';
import type { Commit } from '../core/base/ports.ts';
import type { SharedState } from '../core/base/shared.ts';
import { callerWith, startTestMcp, type TestMcp } from './plane.testkit.ts';
import { VIEWS_EXTENSION } from './views.ts';

const uri = 'mesh://workspaces/w_1/peers';
const changed = {
  changes: [{ type: 'updated', record: { kind: 'MeshPeer', uid: 'p_1' } }],
} as unknown as Partial<Commit>;

/** As many as keep their sessions together; each request of a client goes to the next one that is up. */
async function planes(count: number, maxSessions = 100) {
  const clock = { now: () => Date.now() };
  const kept = memoryCells<unknown>(clock, 1_000);
  const shared = { cells: () => kept } as unknown as Pick<SharedState, 'cells'>;
  const views = [{ name: 'v', title: 'v', description: 'v', tools: ['list_peers'], html: '<p>' }];
  const all: TestMcp[] = [];
  for (let n = 0; n < count; n += 1) all.push(await startTestMcp({ shared, views, sessions: { maxSessions } }));
  onTestFinished(async () => {
    for (const plane of all) await plane[Symbol.asyncDispose]();
  });
  const up = new Set(all);
  const reached: number[] = [];
  let next = 0;
  const fetchNext: typeof fetch = (_url, init) => {
    const inTurn = [...up];
    const plane = inTurn[next % inTurn.length] as TestMcp;
    next += 1;
    reached.push(all.indexOf(plane));
    return fetch(plane.url, init);
  };
  return {
    all,
    up,
    reached,
    fetchNext,
    at: (index: number) => all[index] as TestMcp,
    commit() {
      for (const plane of all) plane.commit(changed);
    },
    async connect(token: string, mode: 'legacy' | 'auto' = 'legacy') {
      const extensions = { [VIEWS_EXTENSION]: { mimeTypes: ['text/html;profile=mcp-app'] } };
      const client = new Client(
        { name: 'test', version: '0' },
        { versionNegotiation: { mode }, capabilities: { extensions } },
      );
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      const transport = new StreamableHTTPClientTransport(all[0]?.url as URL, { requestInit, fetch: fetchNext });
      await client.connect(transport);
      onTestFinished(() => client.close());
      return { client, transport };
    },
  };
}

test('a session goes on at whichever control plane its requests reach, with what its client said at first', async () => {
  const { connect, reached } = await planes(3);
  const { client } = await connect('reader');
  for (let n = 0; n < 3; n += 1) {
    const { tools } = await client.listTools();
    expect(tools[0]?._meta).toMatchObject({ ui: { resourceUri: 'ui://mesh/v' } });
    expect((await client.callTool({ name: 'get_workflow', arguments: { id: 'wf_1' } })).structuredContent).toEqual({
      id: 'wf_1',
    });
  }
  expect(new Set(reached)).toEqual(new Set([0, 1, 2]));
});

test('a client of the current revision needs no session at all', async () => {
  const { connect, reached, all } = await planes(3);
  const { client } = await connect('reader', 'auto');
  for (let n = 0; n < 3; n += 1) expect((await client.listTools()).tools).toHaveLength(4);
  expect([new Set(reached).size, all.map(({ endpoint }) => endpoint.sessionCount())]).toEqual([3, [0, 0, 0]]);
});

test('a change is told once, on the stream that is open, wherever it was subscribed to and whichever plane has it', async () => {
  const { connect, commit } = await planes(3);
  const { client } = await connect('reader');
  const heard: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
  await client.subscribeResource({ uri });
  await expect
    .poll(() => {
      commit();
      return heard.length;
    })
    .toBeGreaterThan(0);
  await client.listTools();
  heard.length = 0;
  commit();
  await expect.poll(() => heard).toEqual([uri]);
  await client.unsubscribeResource({ uri });
  commit();
  await client.listTools();
  expect(heard).toEqual([uri]);
});

test('a session that one control plane was told to delete is gone at all', async () => {
  const { connect, at } = await planes(2);
  const { client, transport } = await connect('reader');
  await client.listTools();
  const { sessionId = '' } = transport;
  await transport.terminateSession();
  for (const index of [0, 1]) {
    const headers = { authorization: 'Bearer reader', 'mcp-session-id': sessionId, accept: 'text/event-stream' };
    expect((await fetch(at(index).url, { headers })).status).toBe(404);
  }
});

test('no other token takes up a session at another control plane', async () => {
  const { connect, at } = await planes(2);
  const { transport } = await connect('reader');
  const headers = { 'mcp-session-id': transport.sessionId ?? '', accept: 'text/event-stream' };
  const ask = (token: string) => fetch(at(1).url, { headers: { ...headers, authorization: `Bearer ${token}` } });
  expect([(await ask('both')).status, (await ask('reader')).status]).toEqual([404, 200]);
});

test('when a control plane stops, its clients go on at another without a new session, and hear what changed meanwhile', async () => {
  const { connect, up, at, commit } = await planes(2);
  up.delete(at(1));
  const { client, transport } = await connect('reader');
  const heard: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
  await client.subscribeResource({ uri });
  const { sessionId } = transport;
  up.add(at(1));
  up.delete(at(0));
  at(0).endpoint.leave();
  commit();
  expect((await client.listTools()).tools).not.toHaveLength(0);
  await expect.poll(() => heard, { timeout: 10_000 }).toContain(uri);
  expect(transport.sessionId).toBe(sessionId);
});

test('a share of sessions is one of all control planes, and the one idle for longest gives way, wherever it is', async () => {
  const { all, fetchNext } = await planes(2, 40);
  for (const { tokens } of all) {
    tokens.set('other', callerWith(['network:read'], { tokenId: 'tok_o', id: 'agt_o' }));
  }
  const open = async (token: string) => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    const answer = await fetchNext('', { method: 'POST', headers, body });
    await answer.text();
    return { token, id: answer.headers.get('mcp-session-id') ?? '', status: answer.status };
  };
  const isThere = async ({ token, id }: { readonly token: string; readonly id: string }) => {
    const headers = { authorization: `Bearer ${token}`, 'mcp-session-id': id, accept: 'text/event-stream' };
    const answer = await fetchNext('', { headers });
    await answer.body?.cancel();
    return answer.status === 200;
  };
  const opened = [await open('other')];
  for (let n = 0; n < 8; n += 1) opened.push(await open('reader'));
  expect(opened.map(({ status }) => status)).toEqual(Array(9).fill(200));
  const there = [];
  for (const session of opened) there.push(await isThere(session));
  expect(there).toEqual([true, ...Array(4).fill(false), ...Array(4).fill(true)]);
});
