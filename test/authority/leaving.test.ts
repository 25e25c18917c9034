import { describe, expect, it } from 'vitest';
import { draftOf, type RecordDraft } from '../../core/base/record.ts';
import { newToken } from '../../core/model/token.ts';
import { tokenDraft } from '../../core/model/token-record.ts';
import { CONTEXT } from '../kits/plane/identity-kit.ts';
import { approve, buildScene, only, planned, reachOf, type Scene } from './scene.ts';

describe('a person who leaves', () => {
  it.each([
    ['is removed', 'remove_member', { username: 'ada' }, 'grace'],
    ['is disabled', 'update_user', { username: 'ada', disabled: true }, 'admin'],
    ['is deleted', 'delete_user', { username: 'ada' }, 'admin'],
  ] as const)('and %s leaves no agent, token or pending request behind', async (_how, name, raw, by) => {
    await using scene = await buildScene();
    const boss = await scene.agent('boss', ['network:read', 'agents:delegate', 'tokens:write']);
    const child = await scene.child(boss.token, 'child', ['network:read']);
    const api = await scene.call(scene.ada, 'create_api_token', { name: 'ci', scopes: ['network:read'] });
    const join = await scene.call(scene.ada, 'generate_join_token', { name: 'laptops' });
    await scene.enrol(join.token, 'laptop');
    const id = await planned(scene, scene.ada);
    const keeper = await scene.call(scene.grace, 'create_agent', { name: 'keeper', scopes: ['network:read'] });
    await scene.call(scene[by], name, raw);
    for (const bearer of [boss.token, child.token, api.token]) {
      await expect(scene.call(bearer, 'list_peers')).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    await expect(scene.enrol(join.token, 'late')).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await scene.call(scene.grace, 'get_workflow', { id })).toMatchObject({ status: 'expired' });
    const { items } = await scene.call(keeper.token, 'list_peers');
    expect(items.map(({ name: peer }: { name: string }) => peer).sort()).toEqual([
      'db-1',
      'laptop',
      'secret-1',
      'web-1',
    ]);
  });

  it('may pass the agents on to somebody named', async () => {
    await using scene = await buildScene();
    const boss = await scene.agent('boss', ['network:read', 'agents:delegate']);
    const child = await scene.child(boss.token, 'child', ['network:read']);
    const wrong = { username: 'ada', successor: 'nobody' };
    await expect(scene.call(scene.grace, 'remove_member', wrong)).rejects.toMatchObject({ code: 'forbidden' });
    const left = await scene.call(scene.grace, 'remove_member', { username: 'ada', successor: 'grace' });
    expect(left).toEqual({ removed: true, endedAgents: [] });
    expect((await scene.call(child.token, 'list_peers')).items).toHaveLength(4);
    const { items } = await scene.call(scene.grace, 'list_agents');
    expect(items.find(({ name }: { name: string }) => name === 'boss')).toMatchObject({ person: 'grace' });
  });

  it('with a smaller role leaves agents no more than that role has', async () => {
    await using scene = await buildScene();
    const boss = await scene.agent('boss', ['network:read', 'network:write'], { reach: reachOf('web') });
    await scene.call(scene.grace, 'set_member', { username: 'ada', role: 'viewer' });
    expect((await scene.call(boss.token, 'list_peers')).items).toHaveLength(3);
    const spec = { action: 'ALLOW', peerSelector: only('web'), ingress: [{ from: [{ peerSelector: {} }] }] };
    await expect(scene.call(boss.token, 'create_policy', { name: 'p', spec })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});

it('who is to be removed does not keep that from being done by asking for more meanwhile', async () => {
  await using scene = await buildScene({ requireApproval: true });
  await scene.kit.person('linus', 'admin', scene.workspace);
  const { workflow_id: id } = await scene.call(scene.grace, 'remove_member', { username: 'ada' });
  await scene.call(scene.ada, 'create_api_token', { name: 'ci', scopes: ['network:read'] });
  await planned(scene, scene.ada);
  const linus = await scene.kit.sessionOf('linus');
  expect(await approve(scene, linus, id)).toMatchObject({ status: 'executed', error: null });
});

it('who is to be removed does not keep that from being done by ending what they have at each very moment', async () => {
  await using scene = await buildScene();
  const make = () => scene.call(scene.ada, 'create_api_token', { name: 'ci', scopes: ['network:read'] });
  await make();
  const { store } = scene.kit.services;
  const commit = store.commit.bind(store);
  store.commit = async (workspace, ops, context) => {
    const gone = ops.find((op) => op.op === 'delete' && op.key.kind === 'Token');
    const isMet = gone && (await store.get(workspace, { kind: 'Member', name: 'ada' }));
    if (isMet) {
      await commit(workspace, [gone], CONTEXT);
      await make();
    }
    return commit(workspace, ops, context);
  };
  const removed = await scene.call(scene.grace, 'remove_member', { username: 'ada' });
  expect(removed).toEqual({ removed: true, endedAgents: [] });
  expect((await store.list(scene.workspace, 'Token')).items).toEqual([]);
});

describe('who is shut out at the very moment of a write', () => {
  it.each([
    ['is removed', 'remove_member', {}, 'grace'],
    ['is deleted', 'delete_user', {}, 'admin'],
    ['is disabled', 'update_user', { disabled: true }, 'admin'],
  ] as const)(
    'and %s has nothing left that was written while what they leave was read',
    async (_how, name, raw, by) => {
      await using scene = await buildScene();
      await scene.call(scene.ada, 'generate_join_token', { name: 'early' });
      const { store } = scene.kit.services;
      const list = store.list.bind(store);
      let isFirst = true;
      Object.assign(store, {
        list: async (...asked: Parameters<typeof list>) => {
          const found = await list(...asked);
          if (isFirst && asked[0] === scene.workspace && asked[1] === 'Token') {
            isFirst = false;
            await late(scene);
          }
          return found;
        },
      });
      await scene.call(scene[by], name, { username: 'ada', ...raw });
      expect((await list(scene.workspace, 'Token')).items).toEqual([]);
    },
  );

  it.each([
    ['a person', 'Member', 'ada', { role: 'viewer' }, {}],
    ['an agent', 'AgentIdentity', 'boss', {}, { phase: 'Revoked' }],
  ] as const)('as %s has nothing written after', async (_who, kind, name, spec, status) => {
    await using scene = await buildScene();
    const boss = await scene.agent('boss', ['network:read', 'tokens:write']);
    const { store } = scene.kit.services;
    const commit = store.commit.bind(store);
    store.commit = async (workspace, ops, context) => {
      store.commit = commit;
      const is = await store.get(workspace, { kind, name });
      if (!is) throw new TypeError('There is no such record.');
      const ended = { ...draftOf(is), spec: { ...is.spec, ...spec }, status: { ...is.status, ...status } };
      await commit(workspace, [{ op: 'update', record: ended as RecordDraft, revision: is.revision }], CONTEXT);
      return commit(workspace, ops, context);
    };
    const bearer = kind === 'Member' ? scene.ada : boss.token;
    await expect(scene.call(bearer, 'generate_join_token', { name: 'late' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    const { items } = await store.list(scene.workspace, 'Token');
    expect(items.filter(({ spec: token }) => token.kind === 'join')).toEqual([]);
  });
});

/** A join token of ada that was let through before she was shut out. */
async function late({ kit, workspace }: Scene): Promise<void> {
  const token = tokenDraft(newToken('join', 'AAAAAAAAAAAAAAAA'), {
    kind: 'join',
    name: 'late',
    owner: '',
    createdBy: 'user:ada',
  });
  await kit.services.store.commit(workspace, [{ op: 'create', record: token }], CONTEXT);
}

it.each([
  ['delete_user', {}, { deleted: true }],
  ['update_user', { disabled: true }, { username: 'ada', displayName: 'Ada', disabled: true }],
])(
  'who is to go does not keep %s from being done by writing to their account at the very moment',
  async (name, raw, answer) => {
    await using scene = await buildScene();
    const { store } = scene.kit.services;
    const commit = store.commit.bind(store);
    let isFirst = true;
    store.commit = async (workspace, ops, context) => {
      const [op] = ops;
      if (isFirst && op?.op === 'update' && op.record.kind === 'Account' && op.record.spec.disabled) {
        isFirst = false;
        const ada = await store.get(workspace, { kind: 'Account', name: 'ada' });
        if (!ada) throw new Error('There is no ada.');
        const record = { ...draftOf(ada), spec: { ...ada.spec, displayName: 'Ada' } };
        await commit(workspace, [{ op: 'update', record, revision: ada.revision }], CONTEXT);
      }
      return commit(workspace, ops, context);
    };
    expect(await scene.call(scene.admin, name, { username: 'ada', ...raw })).toMatchObject(answer);
  },
);
