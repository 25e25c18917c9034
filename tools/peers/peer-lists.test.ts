import { describe, expect, it } from 'vitest';
import { join } from '../../test/kits/plane/devices.ts';
import { agent, buildKit, person } from '../../test/kits/plane/kit.ts';

const FROM_WEB = {
  action: 'ALLOW',
  peerSelector: { peers: ['DB-1'] },
  ingress: [{ from: [{ peerSelector: { peers: ['web-1'] } }] }],
};

async function world() {
  const kit = await buildKit();
  const workspace = await kit.workspace();
  for (const name of ['web-1', 'web-2', 'db-1']) await join(kit, workspace, name);
  const as = person('admin', workspace);
  const call = (name: string, input: Record<string, unknown> = {}) => kit.call(name, input, { as, workspace });
  const opens = async (src: string, dst: string) => (await call('check_connectivity', { src, dst })).verdict;
  const idOf = async (name: string) => (await call('get_peer', { id: name })).id as string;
  return { kit, workspace, as, call, opens, idOf, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

describe('a policy that lists peers', () => {
  it('means the peers that had the names when it was written: a rename moves nothing, a newcomer inherits nothing', async () => {
    await using all = await world();
    const { kit, workspace, call, opens, idOf } = all;
    await call('create_policy', { name: 'to-db', spec: FROM_WEB });
    expect([await opens('web-1', 'db-1'), await opens('web-2', 'db-1')]).toEqual(['reachable', 'unreachable']);
    const { revision } = await call('get_policy', { id: 'to-db' });
    await call('update_peer', { id: 'web-1', name: 'old-web' });
    await join(kit, workspace, 'web-1');
    expect([await opens('old-web', 'db-1'), await opens('web-1', 'db-1')]).toEqual(['reachable', 'unreachable']);
    const shown = await call('get_policy', { id: 'to-db' });
    expect(shown.revision).toBe(revision);
    expect(shown.spec).toEqual({
      ...FROM_WEB,
      peerSelector: { peers: ['db-1'] },
      ingress: [{ from: [{ peerSelector: { peers: ['old-web'] } }] }],
    });
    expect(await call('update_policy', { id: 'to-db', spec: shown.spec })).toMatchObject({ revision });
    const web = await idOf('web-1');
    await call('update_policy', {
      id: 'to-db',
      spec: { ...FROM_WEB, ingress: [{ from: [{ peerSelector: { peers: [web] } }] }] },
    });
    expect((await call('get_policy', { id: 'to-db' })).spec.ingress).toEqual([
      { from: [{ peerSelector: { peers: ['web-1'] } }] },
    ]);
  });

  it('keeps the id of a peer that is gone, which nobody gets by taking it as a name, and says so', async () => {
    await using all = await world();
    const { kit, workspace, call, idOf } = all;
    await call('create_policy', { name: 'to-db', spec: FROM_WEB });
    const web = await idOf('web-1');
    await call('delete_peer', { id: 'web-1' });
    await expect(join(kit, workspace, web)).rejects.toMatchObject({ code: 'invalid_input' });
    const shown = await call('get_policy', { id: 'to-db' });
    expect(shown.spec.ingress).toEqual([{ from: [{ peerSelector: { peers: [web] } }] }]);
    expect(shown.status.warnings).toEqual([
      expect.stringContaining(`lists peers that are gone and means nobody by them: ${web}`),
    ]);
    await call('update_policy', { id: 'to-db', spec: shown.spec });
    expect((await call('get_policy', { id: 'to-db' })).spec).toEqual(shown.spec);
  });

  it('is refused where a name is unknown, with the nearest names, in writes, plans and simulations alike', async () => {
    await using all = await world();
    const { call } = all;
    const spec = { action: 'DENY', peerSelector: { peers: ['db-1', 'wbe-1'] }, ingress: [{}] };
    const wrong = (pointer: string) => ({
      code: 'invalid_input',
      details: { errors: [{ pointer, detail: 'There is no peer "wbe-1". Did you mean "web-1"?' }] },
    });
    await expect(call('create_policy', { name: 'x', spec })).rejects.toMatchObject(wrong('/spec/peerSelector/peers/1'));
    const change = { action: 'create', resource: 'MeshPolicy', name: 'x', spec };
    await expect(call('plan_network_change', { intent: 'x', changes: [change] })).rejects.toMatchObject(
      wrong('/changes/0/spec/peerSelector/peers/1'),
    );
    const peers = ['web-1', 'web-2', 'db-1'].map((name) => ({ name }));
    await expect(call('simulate_connectivity', { peers, policies: [{ name: 'x', spec }] })).rejects.toMatchObject(
      wrong('/policies/0/spec/peerSelector/peers/1'),
    );
    const left = { action: 'DENY', peerSelector: { notPeers: ['web-1'] }, ingress: [{}] };
    const { rows } = await call('simulate_connectivity', { peers, policies: [{ name: 'x', spec: left }] });
    expect(rows.map(({ dst }: { dst: string }) => dst)).toEqual(['web-1', 'web-1']);
  });

  it('waits for approval with the ids of the peers that were shown, so that nobody gets in by their name', async () => {
    await using all = await world();
    const { kit, workspace, as, call, opens, idOf } = all;
    const changes = [{ action: 'create', resource: 'MeshPolicy', name: 'to-db', spec: FROM_WEB }];
    const planner = agent(['network:read', 'intents:plan', 'intents:apply'], workspace);
    const ask = { as: planner, workspace, face: 'mcp' } as const;
    const plan = await kit.call('plan_network_change', { intent: 'x', changes }, ask);
    expect(plan.changes[0].after).toMatch(/from:\n +- peerSelector:\n +peers:\n +- web-1\n/);
    const { workflow_id: id } = await kit.call('apply_network_change', { plan_id: plan.plan_id }, ask);
    const [waiting] = (await kit.services.store.list(workspace, 'Workflow')).items;
    const listed = [await idOf('db-1'), await idOf('web-1')].map((one) => `"peers":["${one}"]`);
    for (const one of listed) expect(JSON.stringify(waiting?.spec)).toContain(one);
    await call('update_peer', { id: 'web-1', name: 'old-web' });
    await join(kit, workspace, 'web-1');
    const late = kit.call('approve_workflow', { id }, { as, workspace, face: 'rest' });
    await expect(late).rejects.toMatchObject({ code: 'plan_stale' });
    expect((await call('get_workflow', { id })).status).toBe('failed');
    expect([await opens('web-1', 'db-1'), (await call('list_policies')).items]).toEqual(['reachable', []]);
  });

  it('is shown with the names of its time in snapshots and differences', async () => {
    await using all = await world();
    const { kit, call } = all;
    await call('create_policy', { name: 'to-db', spec: FROM_WEB });
    const from = (await call('take_snapshot')).id;
    await call('update_peer', { id: 'web-1', name: 'old-web' });
    kit.clock.time += 1_000;
    const spec = { ...FROM_WEB, ingress: [{ from: [{ peerSelector: { peers: ['old-web', 'web-2'] } }] }] };
    await call('update_policy', { id: 'to-db', spec });
    const to = (await call('take_snapshot')).id;
    const shown = await call('get_snapshot', { snapshotId: from });
    expect(JSON.stringify(shown.policies ?? shown)).not.toContain('old-web');
    const resources = await call('diff_snapshots', { from, to });
    expect(JSON.stringify(resources)).toContain('"peers":["web-1"]');
    expect(JSON.stringify(resources)).toContain('"peers":["old-web","web-2"]');
  });
});
