import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, type ClusterPlane, startCluster } from '../kits/cluster.ts';
import { connectMcp } from '../kits/http/agent-client.ts';
import { freshWorkspace } from '../kits/http/harness.ts';
import { joinTokenFor, type Place, register } from '../kits/http/joining.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

/** Until another control plane leads, and has carried on what was begun. */
const PATIENCE = { timeout: 30_000 };
/** From an approval that is sent until who takes it is killed, ms. */
const KILLED_AFTER = process.env['MESH_LONG'] === '1' ? [5, 10, 20, 40, 60, 80, 100, 150] : [20, 80];
const PASSWORD = 'a password of my own 42';
const FIRST_PASSWORD = 'a password for a start 7';

describe.skipIf(!hasMongod)('what waits for a person, on three control planes', { timeout: 120_000 }, () => {
  let servers: Databases;
  let cluster: Cluster;
  beforeAll(async () => {
    servers = await shareReplicaSet();
    cluster = await startCluster({ servers });
  });
  afterAll(async () => {
    await cluster?.stop();
    await servers?.stop();
  });
  const planes = () => cluster.planes as readonly [ClusterPlane, ClusterPlane, ClusterPlane];

  async function ask({ api }: Pick<Cluster, 'api'>, as: Partial<Place>, method: string, route: string, body?: object) {
    const answer = await api(method, `/api/v1/${route}`, { ...as, ...(body && { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${route} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  }

  /** A workspace with a web server and a database. */
  async function network(slug: string): Promise<Place> {
    const place = await freshWorkspace(cluster.api, slug);
    for (const role of ['web', 'db']) {
      const token = await joinTokenFor(cluster, place, { labels: { role } });
      expect((await register(cluster, token, role)).status).toBe(201);
    }
    return place;
  }

  const opens = (name: string, port: number) => ({
    name,
    spec: {
      action: 'ALLOW',
      peerSelector: { matchLabels: { role: 'db' } },
      ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ port }] }],
    },
  });

  /** Planned at one, and put forward at another. @returns the workflow that waits */
  async function waiting(place: Place, name: string, port: number, [planner, applier]: readonly ClusterPlane[]) {
    const { plan_id: planId } = await ask(planner as ClusterPlane, place, 'POST', 'ai/intent/plan', {
      workspace_id: place.workspace,
      intent: `the web servers need port ${port} of the database`,
      dry_run: false,
      changes: [{ action: 'create', resource: 'MeshPolicy', ...opens(name, port) }],
      expectations: [{ src: 'role=web', dst: 'role=db', port, expect: 'allow' }],
    });
    const body = { plan_id: planId, approved_by: 'admin' };
    const applied = await ask(applier as ClusterPlane, place, 'POST', 'ai/intent/apply', body);
    expect(applied.status).toBe('pending_approval');
    return applied.workflow_id as string;
  }

  test('a plan of one is put forward at a second, shown at a third, approved at the first, and in force at all', async () => {
    const place = await network('planned');
    const [first, second, third] = planes();
    const id = await waiting(place, 'by-plan', 5_432, [first, second]);
    const { drawing } = await ask(third, place, 'GET', `workflows/${id}/redraw`);
    expect(drawing).toMatchObject({ digest: expect.any(String) });
    const approval = { digest: drawing.digest };
    expect(await ask(first, place, 'POST', `workflows/${id}/approve`, approval)).toMatchObject({ status: 'executed' });
    for (const plane of planes()) {
      expect(await ask(plane, place, 'GET', 'policies/by-plan')).toMatchObject({ name: 'by-plan' });
      const again = await plane.api('POST', `/api/v1/workflows/${id}/approve`, { ...place, body: {} });
      expect([again.status, again.body.code]).toEqual([409, 'conflict']);
    }
  });

  test('a call of a sub-agent at one goes on when a person approves it at another, and a session at the third hears of it', async () => {
    const place = await network('held');
    const [first, second, third] = planes();
    const olga = await approver(place);
    await ask(first, place, 'PATCH', `workspaces/${place.workspace}`, { settings: { requireApproval: true } });
    const worker = await subAgent(place, olga);
    const call = { ...place, token: worker, body: opens('by-sub-agent', 443) };
    const held = await first.api('POST', '/api/v1/policies', call);
    expect([held.status, held.body]).toMatchObject([202, { status: 'pending_approval' }]);
    const { workflow_id: id } = held.body;

    await using session = await connectMcp(third.url, worker, 'legacy', place.workspace);
    const heard: string[] = [];
    session.client.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void heard.push(params.uri),
    );
    const uri = `mesh://workspaces/${place.workspace}/workflows/${id}`;
    await session.client.subscribeResource({ uri });
    expect(await session.use('get_workflow', { id })).toMatchObject({ status: 'pending' });
    await ask(second, olga, 'POST', `workflows/${id}/approve`, {});
    await expect.poll(() => heard, PATIENCE).toContain(uri);
    expect(await session.use('get_workflow', { id })).toMatchObject({ status: 'executed' });
    expect(await createdBy(place, 'by-sub-agent')).toEqual([expect.stringContaining('worker')]);
  });

  test('a call whose answer is a secret is approved at a second and answered at a third', async () => {
    const place = await network('secret');
    const [first, second, third] = planes();
    const olga = await approver(place);
    await ask(first, place, 'PATCH', `workspaces/${place.workspace}`, { settings: { requireApproval: true } });
    const agent = { name: 'deployer' };
    const { workflow_id: id } = await ask(first, place, 'POST', 'agents', agent);
    await ask(second, olga, 'POST', `workflows/${id}/approve`, {});
    const made = await ask(third, place, 'POST', 'agents', agent);
    expect(made.token).toMatch(/^mesh-agt-/);
    expect(await ask(first, { token: made.token }, 'GET', 'peers')).toMatchObject({ items: expect.any(Array) });
  });

  test('what was planned at one that is killed is approved and carried out by another', async () => {
    const place = await network('orphaned');
    const [first, second, third] = planes();
    const id = await waiting(place, 'orphan', 5_432, [first, first]);
    await first.kill();
    expect(await ask(second, place, 'POST', `workflows/${id}/approve`, {})).toMatchObject({ status: 'executed' });
    expect(await ask(third, place, 'GET', 'policies/orphan')).toMatchObject({ name: 'orphan' });
    await first.start();
  });

  test('an approval whose control plane is killed in the middle stands and is carried out once, or was never given', async () => {
    const place = await network('killed');
    const [, second, third] = planes();
    for (const [n, afterMs] of KILLED_AFTER.entries()) {
      const name = `killed-${n}`;
      const id = await waiting(place, name, 6_000 + n, [second, third]);
      const asked = second
        .api('POST', `/api/v1/workflows/${id}/approve`, { ...place, body: {} })
        .catch(() => undefined);
      await after(afterMs);
      await second.kill();
      const answer = await asked;
      const status = async () => (await ask(third, place, 'GET', `workflows/${id}`)).status as string;
      if (answer?.status === 200) expect(await status()).toBe('executed');
      if ((await status()) === 'pending') await ask(third, place, 'POST', `workflows/${id}/approve`, {});
      await expect.poll(status, PATIENCE).toBe('executed');
      expect(await createdBy(place, name)).toHaveLength(1);
      await second.start();
    }
  });

  /** A second person who may approve. */
  async function approver(place: Place): Promise<Place> {
    const username = `olga-${place.workspace.toLowerCase().slice(-8)}`;
    await ask(cluster, place, 'POST', 'users', { username, password: FIRST_PASSWORD });
    await ask(cluster, place, 'PUT', `workspaces/${place.workspace}/members/${username}`, { role: 'admin' });
    const signedIn = async (password: string) => {
      const { data } = await ask(cluster, {}, 'POST', 'users/login', { username, password });
      return { token: data.token as string, workspace: place.workspace };
    };
    const change = { oldPassword: FIRST_PASSWORD, newPassword: PASSWORD };
    await ask(cluster, await signedIn(FIRST_PASSWORD), 'PUT', 'users/me/password', change);
    return signedIn(PASSWORD);
  }

  /** Below an agent that may write policies for the database. @returns its token */
  async function subAgent(place: Place, olga: Place): Promise<string> {
    const reach = [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }] }];
    const root = { name: 'planner', reach, scopes: ['network:read', 'network:write', 'agents:delegate'] };
    const { workflow_id: id } = await ask(cluster, place, 'POST', 'agents', root);
    await ask(cluster, olga, 'POST', `workflows/${id}/approve`, {});
    const parent = (await ask(cluster, place, 'POST', 'agents', root)).token as string;
    const sub = {
      subAgentName: 'worker',
      ttl: '10m',
      policyPreset: 'inherit',
      scopes: ['network:read', 'network:write'],
    };
    const delegated = await ask(cluster, { token: parent }, 'POST', 'agents/self/delegate', sub);
    return (await register(cluster, delegated.enrollmentToken, 'worker')).body.agentToken;
  }

  /** Who made a policy, as often as the log says so. */
  async function createdBy({ workspace }: Place, policy: string): Promise<string[]> {
    const log = servers.db(cluster.database).collection<{ entry: string }>('log');
    const entries = await log.find({ '_id.ws': workspace } as object).toArray();
    type Commit = { readonly actor: string; readonly changes: readonly { type: string; kind: string; name: string }[] };
    const commits = entries.flatMap(({ entry }): Commit[] => JSON.parse(entry).commit ?? []);
    const made = (commit: Commit) =>
      commit.changes.some(({ type, kind, name }) => type === 'created' && kind === 'MeshPolicy' && name === policy);
    return commits.filter(made).map(({ actor }) => actor);
  }
});
