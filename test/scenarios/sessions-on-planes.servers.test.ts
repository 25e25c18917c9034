import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Cluster, startCluster } from '../kits/cluster.ts';
import { ADMIN_PASSWORD, type Api, FIRST_ADMIN, freshWorkspace } from '../kits/http/harness.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

/** Until a client that lost its stream has another. */
const PATIENCE = { timeout: 30_000 };
const CONFIG = {
  app: { initAdmins: [FIRST_ADMIN], signIn: { lockAfter: 4 } },
};

describe.skipIf(!hasMongod)('what is kept of callers, on three control planes', { timeout: 120_000 }, () => {
  let servers: Databases;
  let cluster: Cluster;
  let place: { token: string; workspace: string };
  let agent: string;
  beforeAll(async () => {
    servers = await shareReplicaSet();
    cluster = await startCluster({ servers, config: CONFIG });
    place = await freshWorkspace(cluster.api, 'sessions');
    const body = { name: 'scout' };
    agent = (await cluster.api('POST', '/api/v1/agents', { ...place, body })).body.token;
  });
  afterAll(async () => {
    await cluster?.stop();
    await servers.stop();
  });
  const at = (nth: number) => cluster.planes[nth % 3]?.api as Api;

  async function person(username: string): Promise<void> {
    const body = { username, password: ADMIN_PASSWORD };
    expect((await cluster.api('POST', '/api/v1/users', { ...place, body })).status).toBe(201);
  }
  const login = async (nth: number, username: string, password: string) =>
    (await at(nth)('POST', '/api/v1/users/login', { body: { username, password } })).status;

  /** The official client. Each of its requests reaches the next control plane that is up. */
  async function connect(pin?: string) {
    const reached = new Set<string>();
    let turn = 0;
    const isUp = ({ meshd }: Cluster['planes'][number]) =>
      meshd.child.exitCode === null && meshd.child.signalCode === null;
    const fetchNext: typeof fetch = (url, init) => {
      turn += 1;
      const up = cluster.planes.filter(isUp);
      const next = new URL(new URL(`${url}`).pathname, up[turn % up.length]?.url);
      reached.add(next.origin);
      return fetch(next, init);
    };
    const mode = pin === undefined ? 'legacy' : { pin };
    const client = new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode } });
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', cluster.url), {
      requestInit: { headers: { authorization: `Bearer ${agent}` } },
      fetch: fetchNext,
      reconnectionOptions: {
        initialReconnectionDelay: 100,
        maxReconnectionDelay: 1_000,
        reconnectionDelayGrowFactor: 2,
        maxRetries: 50,
      },
    });
    await client.connect(transport);
    onTestFinished(() => client.close().catch(() => undefined));
    const heard: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
    return { client, transport, reached, heard };
  }
  let policies = 0;
  const change = async () => {
    policies += 1;
    const body = { name: `p${policies}`, spec: { action: 'DENY', peerSelector: {} } };
    const api = cluster.planes.find(
      ({ meshd }) => meshd.child.exitCode === null && meshd.child.signalCode === null,
    )?.api;
    expect((await (api as Api)('POST', '/api/v1/policies', { ...place, body })).status).toBe(201);
  };

  test('who guesses at a password has no more tries by going from one to the next, and the lock is of all', async () => {
    await person('ada');
    const answers = [];
    for (let nth = 0; nth < 6; nth += 1) answers.push(await login(nth, 'ada', 'wrong'));
    expect(answers).toEqual([401, 401, 401, 401, 429, 429]);
    expect(await Promise.all([0, 1, 2].map((nth) => login(nth, 'ada', ADMIN_PASSWORD)))).toEqual([429, 429, 429]);
    const users = (await at(2)('GET', '/api/v1/users', place)).body.items;
    expect(users.find(({ username }: { username: string }) => username === 'ada')).toHaveProperty('lockedUntil');
    expect((await at(1)('POST', '/api/v1/users/ada/unlock', place)).body).toEqual({ lifted: 1 });
    expect(await login(0, 'ada', ADMIN_PASSWORD)).toBe(200);
  });

  test('guesses at once at all of them are counted together', async () => {
    await person('bob');
    const answers = await Promise.all(Array.from({ length: 12 }, (_, nth) => login(nth, 'bob', 'wrong')));
    expect(answers.filter((status) => status === 401)).toHaveLength(4);
    expect(answers.filter((status) => status === 429)).toHaveLength(8);
  });

  test('a session of the 2025 revision is opened at one, used at the others, and hears at another what is watched', async () => {
    const { client, reached, heard, transport } = await connect();
    const uri = `mesh://workspaces/${place.workspace}/policies`;
    await client.subscribeResource({ uri });
    for (let turn = 0; turn < 6; turn += 1) {
      expect((await client.callTool({ name: 'list_peers', arguments: {} })).isError).not.toBe(true);
    }
    expect(reached.size).toBe(3);
    heard.length = 0;
    await change();
    await expect.poll(() => heard).toEqual([uri]);
    await transport.terminateSession();
    await expect(client.listTools()).rejects.toThrow();
  });

  test('a client of the current revision is answered by each, without a session', async () => {
    const { client, reached } = await connect('2026-07-28');
    for (let turn = 0; turn < 6; turn += 1) {
      expect((await client.callTool({ name: 'list_peers', arguments: {} })).isError).not.toBe(true);
    }
    expect(reached.size).toBe(3);
    const sessions = await servers
      .db(cluster.database)
      .collection('cell')
      .find({ tags: { $ne: [] } })
      .toArray();
    expect(sessions.filter(({ _id }) => `${_id}`.startsWith('mcp-session:'))).toEqual([]);
  });

  test('what an agent called at any of them is shown by all', async () => {
    const { client } = await connect('2026-07-28');
    for (let turn = 0; turn < 3; turn += 1) await client.callTool({ name: 'list_snapshots', arguments: {} });
    const [listed] = (await cluster.api('GET', '/api/v1/agents', place)).body.items;
    const callsAt = async (nth: number) =>
      (await at(nth)('GET', `/api/v1/agents/${listed.id}/calls`, place)).body.items
        .filter(({ operation }: { operation: string }) => operation === 'list_snapshots')
        .map(({ requestId }: { requestId: string }) => requestId);
    await expect.poll(async () => (await callsAt(0)).length).toBe(3);
    expect([await callsAt(1), await callsAt(2)]).toEqual([await callsAt(0), await callsAt(0)]);
  });

  test.each([
    ['stops', 'stop'],
    ['is killed', 'kill'],
  ] as const)(
    'when the control plane that has its stream %s, a client goes on in the same session and misses no change',
    async (_how, end) => {
      const { client, transport, heard } = await connect();
      const uri = `mesh://workspaces/${place.workspace}/policies`;
      await client.subscribeResource({ uri });
      const { sessionId } = transport;
      // A client opens its first stream once: it is there when something is heard.
      await change();
      await expect.poll(() => heard.length).toBeGreaterThan(0);
      heard.length = 0;
      for (const plane of cluster.planes) {
        await plane[end]();
        await change();
        await expect.poll(() => heard.length, PATIENCE).toBeGreaterThan(0);
        expect((await client.listTools()).tools.length).toBeGreaterThan(0);
        await plane.start();
        heard.length = 0;
      }
      expect(transport.sessionId).toBe(sessionId);
    },
  );
});
