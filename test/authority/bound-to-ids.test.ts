import { describe, expect, it } from 'vitest';
import { buildScene, rename, type Scene } from './scene.ts';

const HEAD = { apiVersion: 'mesh.internal/v1alpha1' };
const WEB = { peerSelector: { peers: ['web-1'] } };
const REACH = [{ to: [WEB] }];
const POLICY = {
  ...HEAD,
  kind: 'MeshPolicy',
  metadata: { name: 'p' },
  spec: { action: 'ALLOW', ...WEB, ingress: [{ from: [{ peerSelector: { peers: ['db-1'] } }] }] },
};
const AGENT = { ...HEAD, kind: 'AgentIdentity', metadata: { name: 'bot' }, spec: { ttl: '8h', reach: REACH } };

/** Gives the name web-1 to what was secret-1. */
async function swap(scene: Scene): Promise<void> {
  await rename(scene, 'web-1', 'old');
  await rename(scene, 'secret-1', 'web-1');
}

describe('what a person approved for one peer is not carried out for another that has its name since', () => {
  it.each([
    ['documents that are applied', 'apply_resources', { documents: [POLICY, AGENT] }],
    ['the reach of an agent', 'create_agent', { name: 'bot', scopes: ['network:write'], reach: REACH }],
  ])('in %s', async (_what, name, raw) => {
    await using scene = await buildScene({ requireApproval: true });
    const { workflow_id } = await scene.call(scene.ada, name, raw);
    await scene.call(scene.grace, 'approve_workflow', { id: workflow_id });
    await swap(scene);
    await expect(scene.call(scene.ada, name, raw)).rejects.toMatchObject({ code: 'conflict' });
    expect([...(await scene.state()).agents.keys()]).toEqual([]);
    expect([...(await scene.state()).policies.keys()]).toEqual(['base']);
  });

  it('and is not approved while a name in it means another peer than when it was asked for', async () => {
    await using scene = await buildScene({ requireApproval: true });
    await swap(scene);
    const raw = { name: 'bot', reach: REACH };
    const { workflow_id } = await scene.call(scene.ada, 'create_agent', raw);
    await rename(scene, 'web-1', 'secret-1');
    await rename(scene, 'old', 'web-1');
    const review = { id: workflow_id };
    await expect(scene.call(scene.grace, 'approve_workflow', review)).rejects.toMatchObject({ code: 'conflict' });
    expect(await scene.call(scene.grace, 'reject_workflow', review)).toMatchObject({ status: 'rejected' });
  });

  it('and is carried out where its peers were not touched', async () => {
    await using scene = await buildScene({ requireApproval: true });
    const raw = { documents: [POLICY, AGENT] };
    const { workflow_id } = await scene.call(scene.ada, 'apply_resources', raw);
    await scene.call(scene.grace, 'approve_workflow', { id: workflow_id });
    scene.kit.clock.time += 60_000;
    const { items } = await scene.call(scene.ada, 'apply_resources', raw);
    expect(items).toMatchObject([{ result: 'created' }, { result: 'created' }]);
  });
});
