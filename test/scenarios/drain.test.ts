import { Agent, type IncomingMessage, request } from 'node:http';
import { expect, test } from 'vitest';
import { connectMcp, ERAS } from '../kits/http/agent-client.ts';
import { apiOf, configure, freshWorkspace, startHarness } from '../kits/http/harness.ts';
import { reading } from '../kits/http/read-events.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';

const WRITERS = 16;
const WRITES_BEFORE = 200;

type Outcome = 'written' | 'refused' | 'cut' | 'nobody there';

interface Written {
  readonly outcome: Outcome;
  readonly closes: boolean;
  readonly code?: unknown;
}

test('of the writes of sixteen clients on kept connections, each is answered until its client was told to leave', async () => {
  const directory = freshDirectory();
  configure(directory);
  const plane = startMeshd({ directory });
  const url = await plane.ready();
  const { token, workspace } = await freshWorkspace(apiOf(url));
  const outcomes = new Map<string, Written>();
  let isAsked = false;

  async function writeUntilGone(writer: number): Promise<void> {
    using agent = disposable(new Agent({ keepAlive: true, maxSockets: 1 }));
    for (let count = 0; ; count++) {
      const name = `w${writer}-${count}`;
      const body = JSON.stringify({ name, spec: { action: 'DENY', peerSelector: { matchLabels: { name } } } });
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        'x-workspace-id': workspace,
      };
      const written = await send(new URL('/api/v1/policies', url), { agent, headers }, body);
      outcomes.set(name, written);
      if (outcomes.size >= WRITES_BEFORE && !isAsked) {
        isAsked = true;
        plane.child.kill('SIGTERM');
      }
      if (written.outcome !== 'written') return;
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => writeUntilGone(writer)));
  expect(await plane.ended).toBe(0);

  const again = startMeshd({ directory });
  const api = apiOf(await again.ready());
  const stored = await policyNames(api, token, workspace);
  await again.stop();
  const named = (outcome: Outcome) => [...outcomes].filter(([, one]) => one.outcome === outcome).map(([name]) => name);
  expect(named('written').filter((name) => !stored.has(name))).toEqual([]);
  expect([...named('refused'), ...named('cut'), ...named('nobody there')].filter((name) => stored.has(name))).toEqual(
    [],
  );
  const refused = [...outcomes.values()].filter(({ outcome }) => outcome === 'refused');
  expect(refused.every(({ code, closes }) => code === 'unavailable' && closes)).toBe(true);
  const untold = [...named('cut'), ...named('nobody there')].filter((name) => {
    const [writer, count] = name.split('-');
    return !outcomes.get(`${writer}-${Number(count) - 1}`)?.closes;
  });
  expect(untold).toEqual([]);
  // Each client was told to leave its connection, with its last answer or with a refusal.
  const told = [...outcomes.values()].filter(({ closes }) => closes).length;
  expect([told > 0, stored.size >= WRITES_BEFORE]).toEqual([true, true]);
});

test('a reader of events is told that the plane stops, and goes on where it was on the next one', async () => {
  const harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const asked = { token, workspace };
  const events = (url: string, last?: string) =>
    fetch(new URL('/api/v1/events', url), {
      headers: {
        authorization: `Bearer ${token}`,
        'x-workspace-id': workspace,
        ...(last && { 'last-event-id': last }),
      },
    });
  const reader = reading(await events(harness.url));
  await harness.api('POST', '/api/v1/policies', { ...asked, body: policy('first') });
  const first = await reader.next();
  await harness.stop();
  expect([await reader.next(), await reader.next()]).toEqual([
    { id: undefined, event: 'end', data: { code: 'unavailable', detail: expect.stringContaining('stopping') } },
    undefined,
  ]);

  await using next = await startHarness({ directory: harness.directory });
  await next.api('POST', '/api/v1/policies', { ...asked, body: policy('second') });
  const resumed = reading(await events(next.url, first?.id));
  expect((await resumed.next())?.data.changes).toMatchObject([{ name: 'second' }]);
  await resumed.stop();
});

test.each(ERAS)('an MCP client (%j) with an open stream does not hold the end up', async (era) => {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const mcp = await connectMcp(harness.url, token, era, workspace);
  const uri = `mesh://${workspace}/peers`;
  const ended = Promise.withResolvers<void>();
  mcp.client.onerror = () => ended.resolve();
  mcp.client.onclose = () => ended.resolve();
  mcp.client.setNotificationHandler('notifications/message', () => ended.resolve());
  if (era === 'legacy') await mcp.client.subscribeResource({ uri }).catch(() => undefined);
  else void mcp.client.listen({ resourceSubscriptions: [uri] }).catch(() => ended.resolve());
  await mcp.use('list_peers');
  await harness.stop();
  await ended.promise;
  await mcp.client.close().catch(() => undefined);
});

test('a request under way when the plane is asked to end is answered, with Connection: close', async () => {
  const harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const store = harness.plane.services.store;
  const reached = Promise.withResolvers<void>();
  // A commit listener runs after the write is durable and before its answer is sent.
  const unsubscribe = store.onCommit(() => reached.resolve());
  using agent = disposable(new Agent({ keepAlive: true, maxSockets: 1 }));
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'x-workspace-id': workspace };
  const url = new URL('/api/v1/policies', harness.url);
  const underWay = send(url, { agent, headers }, JSON.stringify(policy('under-way')));
  await reached.promise;
  unsubscribe();
  const stopped = harness.stop();
  expect(await underWay).toEqual({ outcome: 'written', closes: true });
  await stopped;
  expect((await send(url, { agent, headers }, JSON.stringify(policy('late')))).outcome).toBe('nobody there');
});

function policy(name: string) {
  return { name, spec: { action: 'DENY', peerSelector: { matchLabels: { name } } } };
}

async function policyNames(api: ReturnType<typeof apiOf>, token: string, workspace: string): Promise<Set<string>> {
  const names = new Set<string>();
  let cursor: string | null = null;
  do {
    const page: string = cursor === null ? '' : `&cursor=${cursor}`;
    const { body } = await api('GET', `/api/v1/policies?limit=200${page}`, { token, workspace });
    for (const { name } of body.items) names.add(name);
    cursor = body.next_cursor ?? null;
  } while (cursor !== null);
  return names;
}

/** What comes of one write: answered, refused before anything was done, cut off, or not taken at all. */
function send(url: URL, options: { agent: Agent; headers: Record<string, string> }, body: string): Promise<Written> {
  return new Promise((resolve) => {
    let isSent = false;
    const call = request(url, { ...options, method: 'POST' }, (response: IncomingMessage) => {
      const closes = response.headers.connection === 'close';
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', () => resolve({ outcome: 'cut', closes }));
      response.on('end', () => {
        if (response.statusCode === 201) resolve({ outcome: 'written', closes });
        else resolve({ outcome: 'refused', closes, code: JSON.parse(text).code });
      });
    });
    call.on('socket', (socket) => {
      if (!socket.connecting) isSent = true;
      else socket.once('connect', () => (isSent = true));
    });
    call.on('error', () => resolve({ outcome: isSent ? 'cut' : 'nobody there', closes: false }));
    call.end(body);
  });
}

function disposable(agent: Agent): Agent & Disposable {
  return Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() });
}
