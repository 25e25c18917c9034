import { describe, expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { newToken } from '../../core/model/token.ts';
import { tokenDraft } from '../../core/model/token-record.ts';
import { buildPeopleKit, CONTEXT } from '../../test/kits/plane/identity-kit.ts';
import { agent } from '../../test/kits/plane/kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('an API token does what it was given, and no more', async () => {
  await using kit = await buildPeopleKit();
  const { token, scopes, workspaceId } = await kit.ada('create_api_token', { name: 'ci', scopes: ['network:read'] });
  expect({ scopes, workspaceId }).toEqual({ scopes: ['network:read'], workspaceId: kit.prod });
  const ci = kit.askWith(token);
  expect((await ci('list_networks')).items).toHaveLength(1);
  expect(await refusalOf(ci('take_snapshot'))).toBe('forbidden snapshots:write');
});

test('a token holds no more than its maker, never approves, and only a signed-in person makes one', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.vic('create_api_token', { name: 'ci', scopes: ['network:write'] }))).toBe(
    'forbidden network:write',
  );
  expect(await refusalOf(kit.ada('create_api_token', { name: 'ci', scopes: ['workflows:approve'] }))).toBe(
    'invalid_input /scopes',
  );
  expect(await refusalOf(kit.ada('create_api_token', { name: 'ci', expiry: '400d' }))).toBe('invalid_input /expiry');
  expect(
    await refusalOf(
      kit.call(
        { name: 'create_api_token' },
        { name: 'ci' },
        { as: agent(['network:read'], kit.prod), workspace: kit.prod },
      ),
    ),
  ).toBe('forbidden person');
});

describe('what an API token makes', () => {
  const HOUR_MS = 3_600_000;
  const grants = ['agents:write', 'tokens:write', 'network:read', 'network:write'];

  /** A program with a token of one hour. */
  async function program(input: Record<string, unknown> = {}) {
    const kit = await buildPeopleKit();
    const { token } = await kit.ada('create_api_token', { name: 'ci', scopes: grants, expiry: '1h', ...input });
    return { ...kit, ci: kit.askWith(token), ends: kit.clock.time + HOUR_MS };
  }

  const AGENT = { name: 'boss', scopes: ['network:read'] };
  const manifest = (spec: object) => ({
    documents: [
      {
        apiVersion: 'mesh.internal/v1alpha1',
        kind: 'AgentIdentity',
        metadata: { name: 'boss' },
        spec: { scopes: ['network:read'], ...spec },
      },
    ],
  });

  const rule = (spec: object = {}) => ({
    documents: [
      {
        apiVersion: 'mesh.internal/v1alpha1',
        kind: 'WorkloadRule',
        metadata: { name: 'jobs' },
        spec: { identity: { issuer: 'https://issuer.example', claims: { sub: 'job' } }, ...spec },
      },
    ],
  });

  test('a rule for workloads of a person stays as it is, or becomes one that ends with it', async () => {
    await using kit = await program();
    expect(await refusalOf(kit.ci('apply_resources', rule()))).toBe('forbidden');
    await kit.ada('apply_resources', rule());
    expect((await kit.ci('apply_resources', rule())).items).toMatchObject([{ result: 'unchanged' }]);
    const wider = { identity: { issuer: 'https://issuer.example', claims: { sub: 'job*' } } };
    expect(await refusalOf(kit.ci('apply_resources', rule(wider)))).toBe('forbidden');
    const expiresAt = formatInstant(kit.ends);
    const answer = await kit.ci('apply_resources', rule({ ...wider, expiresAt }));
    expect(answer.items).toMatchObject([{ result: 'updated' }]);
    const [{ id }] = (await kit.ada('list_api_tokens')).items;
    expect(await kit.ada('revoke_api_token', { id })).toMatchObject({ joinTokens: 1 });
    expect((await kit.ada('list_join_tokens')).items).toEqual([]);
  });

  test.each([
    ['a root agent', 'create_agent', { ...AGENT, ttl: '90d' }],
    ['a join token', 'generate_join_token', { name: 'fleet', expiry: '365d', usageLimit: 10_000 }],
    ['a root agent from a document', 'apply_resources', manifest({ ttl: '2h' })],
  ])('never outlives it: %s is refused with the limit', async (_what, name, raw) => {
    await using kit = await program();
    await expect(kit.ci(name, raw)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining(`end by ${formatInstant(kit.ends)}, in 1h, at the latest`),
    });
    expect((await kit.services.store.list(kit.prod, 'Token')).items).toHaveLength(1);
    expect((await kit.services.store.list(kit.prod, 'AgentIdentity')).items).toEqual([]);
  });

  test('ends with it where no end is asked for', async () => {
    await using kit = await program();
    expect((await kit.ci('create_agent', AGENT)).identity.expiresAt).toBe(formatInstant(kit.ends));
    expect((await kit.ci('generate_join_token', { name: 'fleet' })).expiresAt).toBe(formatInstant(kit.ends));
    expect((await kit.ada('create_agent', { ...AGENT, name: 'own', ttl: '90d' })).identity.ttl).toBe('90d');
  });

  test('is renewed within the same limit, and what lives longer already is left to its person', async () => {
    await using kit = await program();
    const { id } = await kit.ci('create_agent', { ...AGENT, ttl: '10m' });
    expect(await refusalOf(kit.ci('renew_agent', { id, ttl: '2h' }))).toBe('forbidden');
    expect((await kit.ci('renew_agent', { id, ttl: '1h' })).identity.expiresAt).toBe(formatInstant(kit.ends));
    const own = await kit.ada('create_agent', { ...AGENT, name: 'own', ttl: '90d' });
    expect(await refusalOf(kit.ci('renew_agent', { id: own.id }))).toBe('forbidden');
    expect((await kit.ci('list_agents')).items).toHaveLength(2);
  });

  test('may live as long as maxGrant says, which its person set', async () => {
    await using kit = await program({ maxGrant: '30d' });
    expect((await kit.ada('list_api_tokens')).items).toMatchObject([{ name: 'ci', maxGrant: '30d' }]);
    expect((await kit.ci('create_agent', { ...AGENT, ttl: '30d' })).identity.ttl).toBe('30d');
    expect(await refusalOf(kit.ci('generate_join_token', { name: 'fleet', expiry: '31d' }))).toBe('forbidden');
    expect((await kit.ci('generate_join_token', { name: 'fleet' })).expiresAt).toBe(
      formatInstant(kit.clock.time + 168 * HOUR_MS),
    );
  });

  test.each(['0s', '400d', 'long', ''])('takes no %j for maxGrant', async (maxGrant) => {
    await using kit = await buildPeopleKit();
    expect(await refusalOf(kit.ada('create_api_token', { name: 'ci', maxGrant }))).toBe('invalid_input /maxGrant');
  });

  test('is held to the limit by whichever write it comes', async () => {
    await using kit = await program();
    const { token } = await kit.ada('create_api_token', { name: 'other', scopes: grants, expiry: '1h' });
    const caller = await kit.gate.authenticate(token, '127.0.0.1');
    const { store } = kit.gate.servicesFor(caller);
    const spec = { kind: 'join', name: 'any', owner: '', createdBy: 'user:ada', network: 'default' } as const;
    const make = (expiresAt?: number) => {
      const record = tokenDraft(newToken('join'), { ...spec, ...(expiresAt !== undefined && { expiresAt }) });
      return store.commit(kit.prod, [{ op: 'create', record }], CONTEXT);
    };
    await expect(make(kit.ends + 1)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(make()).rejects.toMatchObject({ code: 'forbidden' });
    await expect(make(kit.ends)).resolves.toMatchObject({ changes: [{}] });
  });
});
