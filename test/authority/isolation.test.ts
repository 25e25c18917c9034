import { describe, expect, it } from 'vitest';
import { seedPeers } from '../kits/records/seed-peers.ts';
import { buildScene, only, reachOf } from './scene.ts';

const BEYOND = { code: 'beyond_delegation' };
const TO_WEB = [{ to: [{ peerSelector: only('web') }], ports: [{ port: 443 }] }];

type Scene = Awaited<ReturnType<typeof buildScene>>;

/** A sub-agent with the reach of role=web on 443, where nobody is isolated from reaching others. */
async function openScene(base: object = { action: 'ALLOW', peerSelector: {}, ingress: [] }) {
  const scene = await buildScene();
  const boss = await scene.agent('boss', ['network:read', 'network:write', 'agents:delegate'], {
    reach: reachOf('web', 443),
  });
  await scene.call(scene.ada, 'update_policy', { id: 'base', spec: base });
  const child = await scene.child(boss.token, 'child', ['network:read', 'network:write'], {
    policyPreset: 'inherit',
  });
  const write = (spec: object) => scene.call(child.token, 'create_policy', { name: 'mine', spec });
  return { scene, write };
}

async function waiting(scene: Scene, name: string): Promise<string> {
  await scene.call(scene.ada, 'update_workspace', { settings: { requirePeerApproval: true } });
  const { token } = await scene.call(scene.ada, 'generate_join_token', { name: 't', labels: { role: 'api' } });
  await scene.enrol(token, name);
  return name;
}

describe('a delegated agent shuts nobody off who comes later', () => {
  it('by listing a peer that waits to be let in', async () => {
    const { scene, write } = await openScene();
    await using _ = scene;
    const peers = [await waiting(scene, 'api-1')];
    const spec = { action: 'ALLOW', peerSelector: { peers }, egress: TO_WEB };
    await expect(write(spec)).rejects.toMatchObject(BEYOND);
  });

  it('by leaving out everyone who is there', async () => {
    const { scene, write } = await openScene();
    await using _ = scene;
    const notPeers = [...(await scene.state()).peers.keys()];
    await expect(write({ action: 'ALLOW', peerSelector: { notPeers }, egress: TO_WEB })).rejects.toMatchObject(BEYOND);
  });

  it('by a label that those who come may have beside others', async () => {
    const { scene, write } = await openScene();
    await using _ = scene;
    const db = { action: 'ALLOW', peerSelector: only('db'), ingress: [{ from: [{ peerSelector: only('api') }] }] };
    await scene.call(scene.ada, 'create_policy', { name: 'api-db', spec: db });
    const peerSelector = { matchLabels: { team: 'x' } };
    const refused = { action: 'ALLOW', peerSelector, egress: TO_WEB };
    await expect(write(refused)).rejects.toMatchObject(BEYOND);
    await seedPeers(scene.kit.services, scene.workspace, { 'api-2': { role: 'api', team: 'x' } });
    expect(await scene.allowed('api-2', 'db-1')).toBe('ALL');
  });

  it.each([
    { action: 'ALLOW', peerSelector: only('later'), egress: [] },
    { action: 'DENY', peerSelector: only('later'), egress: [] },
    { action: 'DENY', peerSelector: only('later') },
  ])('by isolating them: %j', async (spec) => {
    const { scene, write } = await openScene({ action: 'ALLOW', peerSelector: only('nobody'), ingress: [] });
    await using _ = scene;
    await expect(write(spec)).rejects.toMatchObject(BEYOND);
  });

  it.each([
    ['with its time', { expiresAt: '2099-01-01T00:00:00Z' }],
    ['with another agent', {}],
  ])('under what isolates them today and ends %s', async (what, more) => {
    const { scene, write } = await openScene();
    await using _ = scene;
    const spec = { action: 'ALLOW', peerSelector: only('api'), egress: [], ...more };
    const other = await scene.agent('other', ['network:read', 'network:write'], { reach: [{}] });
    const author = what === 'with its time' ? scene.ada : other.token;
    expect(await scene.call(author, 'create_policy', { name: 'cover', spec })).toMatchObject({ name: 'cover' });
    await expect(write({ action: 'ALLOW', peerSelector: only('api'), egress: TO_WEB })).rejects.toMatchObject(BEYOND);
  });
});

describe('a delegated agent shuts nobody off', () => {
  it('in networks that are made later and are open', async () => {
    const { scene, write } = await openScene();
    await using _ = scene;
    const { spec } = (await scene.state()).networks.get('default') ?? {};
    await scene.call(scene.ada, 'update_network', { id: 'default', spec: { ...spec, defaultAction: 'DENY' } });
    const egress = { action: 'ALLOW', peerSelector: {}, egress: TO_WEB };
    await expect(write(egress)).rejects.toMatchObject(BEYOND);
    expect(await write({ ...egress, network: 'default' })).toMatchObject({ name: 'mine' });
  });

  it('unheard, once a person plans to take away what isolated them', async () => {
    const { scene, write } = await openScene();
    await using _ = scene;
    await write({ action: 'ALLOW', peerSelector: only('db'), ingress: [] });
    const changes = [{ action: 'delete', resource: 'MeshPolicy', name: 'base' }];
    const { warnings } = await scene.call(scene.ada, 'plan_network_change', { intent: 'see changes', changes });
    expect(warnings).toContainEqual(expect.stringContaining('the policy mine of a delegated agent would isolate'));
  });
});

describe('a person who writes directly', () => {
  it('does not leave a policy of a delegated agent isolating peers, and may once it is gone', async () => {
    const { scene, write } = await openScene();
    await using _ = scene;
    await write({ action: 'ALLOW', peerSelector: only('db'), ingress: [] });
    const remove = (id: string) => scene.call(scene.ada, 'delete_policy', { id });
    await expect(remove('base')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('the policy mine of a delegated agent would isolate'),
      details: { policies: ['mine'] },
    });
    expect((await scene.state()).policies.has('base')).toBe(true);
    await remove('mine');
    expect(await remove('base')).toEqual({ deleted: 'base' });
  });
});

describe('a delegated agent still', () => {
  it('isolates its own peers', async () => {
    const { scene, write } = await openScene();
    await using _ = scene;
    expect(await write({ action: 'ALLOW', peerSelector: { peers: ['child'] }, egress: TO_WEB })).toMatchObject({
      name: 'mine',
    });
  });

  it.each([
    [
      'opens what it reaches',
      {
        action: 'ALLOW',
        peerSelector: only('web'),
        ingress: [{ from: [{ peerSelector: {} }], ports: [{ port: 443 }] }],
      },
    ],
    ['closes what it reaches', { action: 'DENY', peerSelector: only('web'), ingress: [{ ports: [{ port: 443 }] }] }],
  ])('%s, of peers that are isolated already', async (_what, spec) => {
    const { scene, write } = await openScene();
    await using _ = scene;
    expect(await write(spec)).toMatchObject({ name: 'mine' });
  });

  it('lets others reach what it reaches where everyone is isolated both ways', async () => {
    const { scene, write } = await openScene({ action: 'DENY', peerSelector: {} });
    await using _ = scene;
    const peers = [await waiting(scene, 'api-1')];
    expect(await write({ action: 'ALLOW', peerSelector: { peers }, egress: TO_WEB })).toMatchObject({ name: 'mine' });
  });
});
