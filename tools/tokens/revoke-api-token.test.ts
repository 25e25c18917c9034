import { describe, expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { agent } from '../../test/kits/plane/kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a revoked API token is refused from then on', async () => {
  await using kit = await buildPeopleKit();
  const { id, token } = await kit.ada('create_api_token', { name: 'ci', scopes: ['network:read'] });
  expect(await kit.ada('revoke_api_token', { id })).toEqual({ revoked: true, agents: 0, joinTokens: 0 });
  expect(await refusalOf(kit.askWith(token)('list_networks'))).toBe('unauthenticated');
});

test('nobody revokes the API token of another, and no agent one at all', async () => {
  await using kit = await buildPeopleKit();
  const { id } = await kit.ada('create_api_token', { name: 'ci', scopes: ['network:read'] });
  expect(await refusalOf(kit.vic('revoke_api_token', { id }))).toBe('not_found');
  expect(await refusalOf(kit.ada('revoke_api_token', { id: 'tok_none' }))).toBe('not_found');
  expect(
    await refusalOf(
      kit.call({ name: 'revoke_api_token' }, { id }, { as: agent(['network:read'], kit.prod), workspace: kit.prod }),
    ),
  ).toBe('forbidden person');
});

describe('revocation of an API token', () => {
  const scopes = ['agents:write', 'tokens:write', 'network:read', 'network:write'];
  const BOSS = { name: 'boss', scopes: ['network:read', 'agents:delegate'] };
  const RENEWED = { name: 'kept', scopes: ['network:read'], ttl: '24h' };

  async function program(input: Record<string, unknown> = {}) {
    const kit = await buildPeopleKit();
    const { id, token } = await kit.ada('create_api_token', { name: 'ci', scopes, ...input });
    const open = async () =>
      (await kit.ada('list_agents', { phase: 'Active' })).items.map(({ name }: { name: string }) => name);
    const joins = async () => (await kit.ada('list_join_tokens')).items.map(({ name }: { name: string }) => name);
    return { ...kit, id, ci: kit.askWith(token), open, joins };
  }

  test('ends what was made with it in the same commit, whatever its maxGrant, and says how much', async () => {
    await using kit = await program({ maxGrant: '30d' });
    const boss = await kit.ci('create_agent', BOSS);
    const child = { id: 'self', subAgentName: 'child', policyPreset: 'isolated', ttl: '10m' };
    await kit.askWith(boss.token)('delegate_agent', child);
    await kit.ci('generate_join_token', { name: 'fleet' });
    await kit.ada('create_agent', { ...BOSS, name: 'own' });
    await kit.ada('generate_join_token', { name: 'own' });
    const before = (await kit.services.states.current(kit.prod)).revision;
    expect(await kit.ada('revoke_api_token', { id: kit.id })).toEqual({ revoked: true, agents: 2, joinTokens: 1 });
    expect((await kit.services.states.current(kit.prod)).revision).toBe(before + 1);
    expect(await refusalOf(kit.askWith(boss.token)('list_networks'))).toBe('unauthenticated');
    expect(await kit.open()).toEqual(['own']);
    expect(await kit.joins()).toEqual(['own']);
  });

  test('leaves the agent that a signed-in person renewed since, and ends the one that it renewed', async () => {
    await using kit = await program({ maxGrant: '30d' });
    await kit.ci('create_agent', RENEWED);
    await kit.ada('renew_agent', { id: 'kept' });
    await kit.ada('create_agent', { ...RENEWED, name: 'taken' });
    await kit.ci('renew_agent', { id: 'taken' });
    expect(await kit.ada('revoke_api_token', { id: kit.id })).toMatchObject({ agents: 1 });
    expect(await kit.open()).toEqual(['kept']);
  });

  test('by itself ends what it made too', async () => {
    await using kit = await program();
    await kit.ci('create_agent', BOSS);
    expect(await kit.ci('revoke_api_token', { id: kit.id })).toMatchObject({ agents: 1 });
    expect(await kit.open()).toEqual([]);
  });

  test.each([
    ['AgentIdentity', 'create_agent', BOSS],
    ['Token', 'generate_join_token', { name: 'fleet' }],
    ['MeshPolicy', 'create_policy', { name: 'closed', spec: { action: 'DENY', peerSelector: {} } }],
  ])('lets no %s be written that was on its way to the store as it was revoked', async (kind, name, input) => {
    await using kit = await program();
    const { store } = kit.services;
    const commit = store.commit;
    let isRevoked = false;
    store.commit = async (workspace, ops, context) => {
      if (!isRevoked && ops.some((op) => op.op === 'create' && op.record.kind === kind)) {
        isRevoked = true;
        await kit.ada('revoke_api_token', { id: kit.id });
      }
      return commit(workspace, ops, context);
    };
    expect(await refusalOf(kit.ci(name, input))).toBe('forbidden');
    expect(isRevoked).toBe(true);
    expect([await kit.open(), await kit.joins()]).toEqual([[], []]);
    expect((await kit.ada('list_policies')).items.map((policy: { name: string }) => policy.name)).not.toContain(
      'closed',
    );
  });
});
