import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, type ClusterPlane, startCluster } from '../kits/cluster.ts';
import { approver, ask, opens, subAgent, waitingAt, webAndDb } from '../kits/cluster-users.ts';
import { connectMcp } from '../kits/http/agent-client.ts';
import type { Place } from '../kits/http/joining.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

/** Until another control plane leads, and has carried on what was begun. */
const PATIENCE = { timeout: 30_000 };
/** From an approval that is sent until who takes it is killed, ms. */
const KILLED_AFTER = process.env['MESH_LONG'] === '1' ? [5, 10, 20, 40, 60, 80, 100, 150] : [20, 80];

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

  test('a plan of one is put forward at a second, shown at a third, approved at the first, and in force at all', async () => {
    const place = await webAndDb(cluster, 'planned');
    const [first, second, third] = planes();
    const id = await waitingAt(place, [first, second], 'by-plan', 5_432);
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
    const place = await webAndDb(cluster, 'held');
    const [first, second, third] = planes();
    const olga = await approver(cluster, place);
    await ask(first, place, 'PATCH', `workspaces/${place.workspace}`, { settings: { requireApproval: true } });
    const worker = await subAgent(cluster, place, olga);
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
    const place = await webAndDb(cluster, 'secret');
    const [first, second, third] = planes();
    const olga = await approver(cluster, place);
    await ask(first, place, 'PATCH', `workspaces/${place.workspace}`, { settings: { requireApproval: true } });
    const agent = { name: 'deployer' };
    const { workflow_id: id } = await ask(first, place, 'POST', 'agents', agent);
    await ask(second, olga, 'POST', `workflows/${id}/approve`, {});
    const made = await ask(third, place, 'POST', 'agents', agent);
    expect(made.token).toMatch(/^mesh-agt-/);
    expect(await ask(first, { token: made.token }, 'GET', 'peers')).toMatchObject({ items: expect.any(Array) });
  });

  test('what was planned at one that is killed is approved and carried out by another', async () => {
    const place = await webAndDb(cluster, 'orphaned');
    const [first, second, third] = planes();
    const id = await waitingAt(place, [first, first], 'orphan', 5_432);
    await first.kill();
    expect(await ask(second, place, 'POST', `workflows/${id}/approve`, {})).toMatchObject({ status: 'executed' });
    expect(await ask(third, place, 'GET', 'policies/orphan')).toMatchObject({ name: 'orphan' });
    await first.start();
  });

  test('an approval whose control plane is killed in the middle stands and is carried out once, or was never given', async () => {
    const place = await webAndDb(cluster, 'killed');
    const [, second, third] = planes();
    for (const [n, afterMs] of KILLED_AFTER.entries()) {
      const name = `killed-${n}`;
      const id = await waitingAt(place, [second, third], name, 6_000 + n);
      const asked = second
        .api('POST', `/api/v1/workflows/${id}/approve`, { ...place, body: {} })
        .catch(() => undefined);
      await after(afterMs);
      await second.kill();
      const answer = await asked;
      const status = async () => (await ask(third, place, 'GET', `workflows/${id}`)).status as string;
      if (answer?.status === 200) expect(await status()).toBe('executed');
      if ((await status()) === 'pending') {
        const again = await third.api('POST', `/api/v1/workflows/${id}/approve`, { ...place, body: {} });
        // What was sent before the end may have come to stand meanwhile.
        expect([name, again.status, again.body]).toEqual([name, expect.toBeOneOf([200, 409]), expect.anything()]);
      }
      await expect.poll(status, PATIENCE).toBe('executed');
      expect(await createdBy(place, name)).toHaveLength(1);
      await second.start();
    }
  });

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
