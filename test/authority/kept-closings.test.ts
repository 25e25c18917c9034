import { expect, test } from 'vitest';
import type { Op } from '../../core/base/ports.ts';
import { endAgents, expiredAgents } from '../../core/identity/end-agents.ts';
import { CONTEXT } from '../kits/plane/identity-kit.ts';
import { approve, buildScene, only, reachOf, type Scene } from './scene.ts';

const SCOPES = ['network:read', 'network:write', 'agents:delegate', 'agents:write'] as const;
const WEB_TO_DB = {
  action: 'ALLOW',
  peerSelector: only('db'),
  ingress: [{ from: [{ peerSelector: only('web') }], ports: [{ protocol: 'TCP', port: 5432 }] }],
};
const NOT_FROM_SECRET = {
  action: 'DENY',
  peerSelector: only('db'),
  ingress: [{ from: [{ peerSelector: only('secret') }] }],
};
/** The part of {@link WEB_TO_DB} that stays. */
const DB_CLOSED = { action: 'ALLOW', peerSelector: only('db'), ingress: [] };

/** An open workspace in which a root agent wrote a policy by itself before approvals were required. */
async function written(spec: object, settings: object = { requireApproval: true }) {
  const scene = await buildScene();
  await scene.call(scene.ada, 'delete_policy', { id: 'base' });
  const root = await scene.agent('root', SCOPES, { reach: reachOf('db') });
  await scene.call(root.token, 'create_policy', { name: 'own', spec });
  await scene.kit.haveSettings(scene.workspace, { ...settings });
  return { scene, root, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

const policyOf = async (scene: Scene, name = 'own') => (await scene.state()).policies.get(name);
const reaches = async (scene: Scene) => ({
  web: (await scene.allowed('web-1', 'db-1')).length > 0,
  secret: (await scene.allowed('secret-1', 'db-1')).length > 0,
});

test('an agent that ends under requireApproval takes its access along at once, and what it isolated stays isolated', async () => {
  await using at = await written(WEB_TO_DB);
  const { scene, root } = at;
  expect(await reaches(scene)).toEqual({ web: true, secret: false });
  const ended = await scene.call(scene.ada, 'revoke_agent', { id: 'root' });
  expect(ended).toMatchObject({ revoked: ['root'], policies: [], kept: ['own'] });
  expect(await reaches(scene)).toEqual({ web: false, secret: false });
  const kept = await policyOf(scene);
  expect(kept).toMatchObject({ spec: DB_CLOSED, annotations: {} });
  await expect(scene.call(root.token, 'list_policies')).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('who deletes what such a policy closes asks a second person, as for any policy', async () => {
  await using at = await written(WEB_TO_DB);
  const { scene } = at;
  await scene.call(scene.ada, 'revoke_agent', { id: 'root' });
  const { workflow_id } = await scene.call(scene.ada, 'delete_policy', { id: 'own' });
  expect(await reaches(scene)).toMatchObject({ secret: false });
  await approve(scene, scene.grace, workflow_id);
  expect(await reaches(scene)).toEqual({ web: true, secret: true });
});

test('an agent whose time is over leaves the same closed', async () => {
  await using at = await written(WEB_TO_DB);
  const { scene } = at;
  const { services, clock } = scene.kit;
  clock.time += 25 * 3_600_000;
  const context = { actor: 'system:expiry', reason: 'a test', requestId: 'r_1' };
  const late = (state: Awaited<ReturnType<Scene['state']>>) => expiredAgents(state, clock.time);
  expect(await endAgents(services, scene.workspace, late, 'Expired', context)).toEqual(['root']);
  expect(await policyOf(scene)).toMatchObject({ spec: DB_CLOSED, annotations: {} });
  expect(await reaches(scene)).toEqual({ web: false, secret: false });
});

test('a DENY of an agent that ends stays as it is', async () => {
  await using at = await written(NOT_FROM_SECRET);
  const { scene } = at;
  expect(await scene.call(scene.ada, 'revoke_agent', { id: 'root' })).toMatchObject({ kept: ['own'] });
  expect(await policyOf(scene)).toMatchObject({ spec: NOT_FROM_SECRET, annotations: {} });
  expect(await reaches(scene)).toEqual({ web: true, secret: false });
});

test('a dry run says what ending an agent opens: nothing under requireApproval, and what its policy closed without', async () => {
  const opened = async (settings: object) => {
    await using at = await written(WEB_TO_DB, settings);
    const { effect, policies, kept } = await at.scene.call(at.scene.ada, 'revoke_agent', { id: 'root', dryRun: true });
    const rows = effect.opened.filter(({ dst }: { dst: string }) => dst === 'db-1');
    return { policies, kept, from: rows.map(({ src }: { src: string }) => src).sort() };
  };
  expect(await opened({ requireApproval: true })).toEqual({ policies: [], kept: ['own'], from: [] });
  const without = await opened({});
  expect(without).toMatchObject({ policies: ['own'], kept: [] });
  expect(without.from).toContain('secret-1');
});

test('a policy that closes what is closed already, or the own peers of the agent alone, goes with it', async () => {
  await using at = await written(WEB_TO_DB);
  const { scene, root } = at;
  const shut = await scene.call(scene.ada, 'create_policy', {
    name: 'shut',
    spec: { action: 'DENY', peerSelector: {} },
  });
  await approve(scene, scene.grace, shut.workflow_id);
  await scene.child(root.token, 'child', ['network:read']);
  const ended = await scene.call(scene.ada, 'revoke_agent', { id: 'root' });
  expect(ended).toMatchObject({ revoked: ['root', 'child'], kept: [] });
  expect(ended.policies).toContain('own');
  expect([...(await scene.state()).policies.keys()]).toEqual(['shut']);
});

test('what a sub-agent closed passes to the agent above it, and ends or stays with that one', async () => {
  await using scene = await buildScene();
  await scene.call(scene.ada, 'delete_policy', { id: 'base' });
  const root = await scene.agent('root', SCOPES, { reach: reachOf('db') });
  const child = await scene.child(root.token, 'child', ['network:read', 'network:write'], { policyPreset: 'inherit' });
  await scene.call(child.token, 'create_policy', { name: 'own', spec: WEB_TO_DB });
  await scene.kit.haveSettings(scene.workspace, { requireApproval: true });
  await scene.call(root.token, 'revoke_agent', { id: 'child' });
  expect(await policyOf(scene)).toMatchObject({
    spec: DB_CLOSED,
    annotations: { 'mesh.internal/written-by': root.id },
  });
  await scene.call(scene.ada, 'revoke_agent', { id: 'root' });
  expect(await policyOf(scene)).toMatchObject({ spec: DB_CLOSED, annotations: {} });
});

test('where the policy that closes the same is deleted at the very moment, the one of the agent stays', async () => {
  await using at = await written(WEB_TO_DB);
  const { scene, root } = at;
  const { services } = scene.kit;
  const shut = { name: 'shut', spec: { action: 'DENY', peerSelector: {} } };
  await approve(scene, scene.grace, (await scene.call(scene.ada, 'create_policy', shut)).workflow_id);
  const { store } = services;
  let isFirst = true;
  const racing: typeof store = {
    ...store,
    async commit(workspace, ops, context) {
      const gone: Op = { op: 'delete', key: { kind: 'MeshPolicy', name: 'shut' } };
      if (isFirst) await store.commit(workspace, [gone], CONTEXT);
      isFirst = false;
      return store.commit(workspace, ops, context);
    },
  };
  const roots = (state: Awaited<ReturnType<Scene['state']>>) =>
    [...state.agents.values()].filter(({ uid }) => uid === root.id);
  expect(await endAgents({ ...services, store: racing }, scene.workspace, roots, 'Revoked', CONTEXT)).toEqual(['root']);
  expect([...(await scene.state()).policies.keys()]).toEqual(['own']);
  expect(await reaches(scene)).toEqual({ web: false, secret: false });
});
