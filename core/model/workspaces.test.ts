import { describe, expect, it } from 'vitest';
import { buildIdentityKit, CONTEXT, type IdentityKit, START } from '../../test/kits/plane/identity-kit.ts';
import { peer } from '../../test/kits/records/records.ts';
import { createApiToken } from '../../tools/tokens/create-api-token.ts';
import { generateJoinToken } from '../../tools/tokens/generate-join-token.ts';
import { addWorkspace } from '../../tools/workspaces/add-workspace.ts';
import { deleteWorkspace } from '../../tools/workspaces/delete-workspace.ts';
import { getWorkspace } from '../../tools/workspaces/get-workspace.ts';
import { listMembers } from '../../tools/workspaces/list-members.ts';
import { listWorkspaces } from '../../tools/workspaces/list-workspaces.ts';
import { updateWorkspace } from '../../tools/workspaces/update-workspace.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { draftOf } from '../base/record.ts';

const PROD = { slug: 'prod', namespace: 'production', displayName: 'Production', maxNodeCount: 100 };
const SETTINGS = { requirePeerApproval: false, requireApproval: false, timeZone: 'UTC' };

/** A workspace as it was stored before slugs and namespaces were one name space. */
async function storeOld(kit: IdentityKit, uid: string, { slug, namespace }: { slug: string; namespace: string }) {
  const spec = { ...PROD, slug, namespace, settings: SETTINGS };
  const unique = [`slug:${slug}`, `namespace:${namespace}`];
  const record = { kind: 'Workspace', name: slug, uid, labels: {}, annotations: {}, spec, status: {}, unique } as const;
  await kit.services.store.commit(SYSTEM_WORKSPACE, [{ op: 'create', record }], CONTEXT);
}

describe('creating a workspace', () => {
  it('makes its default network and its first administrator with it', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    const workspace = await kit.call<{ id: string }>(addWorkspace, PROD, { bearer });
    expect(workspace).toEqual({
      ...PROD,
      id: expect.stringMatching(/^w_[a-z2-7]{26}$/),
      settings: SETTINGS,
      createdAt: new Date(START).toISOString(),
    });
    const network = await kit.services.store.get(workspace.id, { kind: 'MeshNetwork', name: 'default' });
    expect(network?.spec).toEqual({ cidr: '10.96.0.0/24', mtu: 1280, defaultAction: 'ALLOW' });
    expect(await kit.call(listMembers, {}, { bearer, workspace: workspace.id })).toMatchObject({
      items: [{ username: 'admin', role: 'admin' }],
    });
  });

  it.each([
    ['slug', { ...PROD, namespace: 'other' }],
    ['namespace', { ...PROD, slug: 'other' }],
    ["slug that is another's namespace", { ...PROD, slug: 'production', namespace: 'other' }],
    ["namespace that is another's slug", { ...PROD, slug: 'other', namespace: 'prod' }],
  ])('refuses a %s that is in use', async (_field, input) => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    await kit.call(addWorkspace, PROD, { bearer });
    await expect(kit.call(addWorkspace, input, { bearer })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('refuses a name in use by a workspace that was stored when slugs and namespaces were apart', async () => {
    await using kit = await buildIdentityKit();
    await storeOld(kit, 'w_old-1', { slug: 'ns-b', namespace: 'ns-a' });
    const bearer = await kit.admin();
    for (const word of ['ns-a', 'ns-b']) {
      for (const input of [
        { ...PROD, slug: word },
        { ...PROD, namespace: word },
      ]) {
        await expect(kit.call(addWorkspace, input, { bearer })).rejects.toMatchObject({ code: 'conflict' });
      }
    }
  });

  it('takes one word for both slug and namespace', async () => {
    await using kit = await buildIdentityKit();
    const input = { ...PROD, namespace: 'prod' };
    expect(await kit.call(addWorkspace, input, { bearer: await kit.admin() })).toMatchObject(input);
  });

  it('lets one of two that ask at once for a word, as slug and as namespace, have it', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    const answers = await Promise.allSettled([
      kit.call(addWorkspace, { ...PROD, slug: 'word' }, { bearer }),
      kit.call(addWorkspace, { ...PROD, slug: 'other', namespace: 'word' }, { bearer }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('lets one of many that ask for a name at once have it, and leaves nothing of the others', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    const asked = Array.from({ length: 8 }, (_, i) =>
      kit.call<{ id: string }>(addWorkspace, { ...PROD, namespace: i % 2 ? 'production' : `n${i}` }, { bearer }),
    );
    const answers = await Promise.allSettled(asked);
    const made = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.id : []));
    expect(made).toHaveLength(1);
    const { store } = kit.services;
    for (const id of await store.workspaces()) {
      const networks = await store.list(id, 'MeshNetwork');
      expect(networks.items).toHaveLength(made.includes(id) ? 1 : 0);
    }
  });

  it.each([
    ['a slug with a space', { slug: 'my team' }, '/slug'],
    ['a slug in the form of an id', { slug: 'w_abc' }, '/slug'],
    ['a namespace that is no DNS label', { namespace: 'Prod_1' }, '/namespace'],
    ['an empty display name', { displayName: '' }, '/displayName'],
    ['no room for a node', { maxNodeCount: 0 }, '/maxNodeCount'],
    ['a node count as text', { maxNodeCount: '100' }, '/maxNodeCount'],
    ['an unknown field', { owner: 'me' }, '/owner'],
  ])('refuses %s', async (_what, fields, pointer) => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    await expect(kit.call(addWorkspace, { ...PROD, ...fields }, { bearer })).rejects.toMatchObject({
      code: 'invalid_input',
      details: { errors: [{ pointer }] },
    });
  });
});

describe('a workspace', () => {
  it('is found by id, slug and namespace, by its members only', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    const { id } = await kit.call<{ id: string }>(addWorkspace, PROD, { bearer });
    for (const workspace of [id, 'prod', 'production']) {
      expect(await kit.call(getWorkspace, {}, { bearer, workspace })).toMatchObject({ id });
    }
    const stranger = await kit.person('eve', 'admin', await kit.workspace('dev'));
    for (const workspace of [id, 'prod', 'production', 'nowhere', 'w_system']) {
      await expect(kit.call(getWorkspace, {}, { bearer: stranger, workspace })).rejects.toEqual(
        new MeshError('not_found', `There is no workspace ${workspace} that you are a member of.`),
      );
    }
    expect(await kit.call(listWorkspaces, {}, { bearer: stranger })).toMatchObject({ items: [{ slug: 'dev' }] });
  });

  it('is not told by its names to who is no member, in pairs either', async () => {
    await using kit = await buildIdentityKit();
    const { id } = await kit.call<{ id: string }>(addWorkspace, PROD, { bearer: await kit.admin() });
    const stranger = await kit.person('eve', 'admin', await kit.workspace('dev'));
    for (const [workspace, named] of [
      ['prod', 'production'],
      ['prod', id],
      ['prod', 'nowhere'],
      ['prod', 'dev'],
    ]) {
      const raw = { workspace_id: named };
      await expect(kit.call(listMembers, raw, { bearer: stranger, workspace: workspace ?? '' })).rejects.toEqual(
        new MeshError('not_found', 'There is no workspace prod that you are a member of.'),
      );
    }
  });

  it('is one: two of the own in one request are refused', async () => {
    await using kit = await buildIdentityKit();
    await kit.workspace('dev');
    await kit.workspace('prod');
    const as = { bearer: await kit.admin(), workspace: 'dev' };
    await expect(kit.call(listMembers, { workspace_id: 'prod' }, as)).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(kit.call(listMembers, { workspace_id: 'dev' }, as)).resolves.toBeDefined();
  });

  it('keeps its slug where the namespace of another, stored when the two were apart, is the same word', async () => {
    await using kit = await buildIdentityKit();
    await storeOld(kit, 'w_old-1', { slug: 'a', namespace: 'word' });
    await storeOld(kit, 'w_old-2', { slug: 'word', namespace: 'b' });
    const bearer = await kit.admin();
    for (const [workspace, id] of [
      ['word', 'w_old-2'],
      ['a', 'w_old-1'],
      ['b', 'w_old-2'],
    ]) {
      expect(await kit.call(getWorkspace, {}, { bearer, workspace: workspace ?? '' })).toMatchObject({ id });
    }
  });

  it('changes the settings that are sent and keeps the others', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    const bearer = await kit.person('ada', 'admin', workspace);
    const change = (settings: object) => kit.call(updateWorkspace, { settings }, { bearer, workspace });
    await change({ requirePeerApproval: true, selfApproval: true, autoApprove: { maxRisk: 'low' } });
    expect(await change({ timeZone: 'Europe/Zurich', selfApproval: null })).toMatchObject({
      settings: { ...SETTINGS, requirePeerApproval: true, autoApprove: { maxRisk: 'low' }, timeZone: 'Europe/Zurich' },
    });
    await expect(change({ timeZone: 'Mars/Base' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(change({ autoApprove: { maxRisk: 'none' } })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('takes settings from a logged-in person only, for they decide who approves', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    const bearer = await kit.admin();
    const { token } = await kit.call(createApiToken, { name: 'ci', scopes: ['admin'] }, { bearer, workspace });
    const input = { settings: { autoApprove: { maxRisk: 'critical' } } };
    await expect(kit.call(updateWorkspace, input, { bearer: String(token) })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('gets another node count from a platform administrator only', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    const bearer = await kit.person('ada', 'admin', workspace);
    const input = { maxNodeCount: 5_000 };
    await expect(kit.call(updateWorkspace, input, { bearer, workspace })).rejects.toMatchObject({ code: 'forbidden' });
    expect(await kit.call(updateWorkspace, input, { bearer: await kit.admin(), workspace })).toMatchObject(input);
  });

  it('is gone with its tokens once deleted, and its names are free again', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    const { id: workspace } = await kit.call<{ id: string }>(addWorkspace, PROD, { bearer });
    const { token } = await kit.call(generateJoinToken, { name: 'web' }, { bearer, workspace });
    await kit.gate.authenticate(String(token), '');
    expect(await kit.call(deleteWorkspace, {}, { bearer, workspace })).toEqual({ deleted: true });
    await expect(kit.gate.authenticate(String(token), '')).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(kit.call(getWorkspace, {}, { bearer, workspace })).rejects.toMatchObject({ code: 'not_found' });
    expect(await kit.call(addWorkspace, PROD, { bearer })).toMatchObject({ slug: 'prod' });
  });

  it('is not deleted while it has peers', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    const record = draftOf(peer('web-1'));
    await kit.services.store.commit(workspace, [{ op: 'create', record }], {
      actor: 'x',
      reason: 'x',
      requestId: 'r_x',
    });
    const bearer = await kit.admin();
    await expect(kit.call(deleteWorkspace, {}, { bearer, workspace })).rejects.toMatchObject({ code: 'conflict' });
  });
});
