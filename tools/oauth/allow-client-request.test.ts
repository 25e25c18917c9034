import { expect, test } from 'vitest';
import { findGrant } from '../../core/identity/oauth-grants.ts';
import { askToBeLetIn } from '../../test/kits/plane/client-request.ts';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';

const DAY_MS = 86_400_000;

test('a client that is let in gets an agent of its person that reads and plans, reaches nothing and approves nothing', async () => {
  await using kit = await buildPeopleKit();
  const id = await askToBeLetIn(kit);
  const { agent, url } = await kit.ada('allow_client_request', { id, scopes: ['network:read', 'intents:plan'] });
  expect(await kit.ada('get_agent', { id: agent })).toMatchObject({
    name: 'planner-ada',
    person: 'ada',
    scopes: ['network:read', 'intents:plan'],
    reach: [],
    ttl: '24h',
    client: { name: 'Planner', host: 'planner.example', resource: 'http://127.0.0.1:18090/mcp' },
  });
  expect(url).toContain(`/oauth/authorize/${id}?key=`);
  const { grantId = '' } = (await kit.services.oauthRequests.find(id))?.decision ?? {};
  expect(await findGrant(kit.services, grantId)).toMatchObject({
    grant: { clientId: 'mesh-client.planner', scopes: ['network:read', 'intents:plan'] },
  });
});

test.each([
  ['a scope that the client did not ask for', { scopes: ['network:write'] }, 'invalid_input'],
  ['no scope', { scopes: [] }, 'invalid_input'],
  ['a scope to approve', { scopes: ['workflows:approve'] }, 'invalid_input'],
  ['a life that is too long', { scopes: ['network:read'], ttl: '91d' }, 'invalid_input'],
])('to let a client in with %s is refused', async (_what, consent, code) => {
  await using kit = await buildPeopleKit();
  const id = await askToBeLetIn(kit);
  await expect(kit.ada('allow_client_request', { id, ...consent })).rejects.toMatchObject({ code });
  expect((await kit.ada('list_agents')).items).toEqual([]);
});

test('who may not make agents lets no client in, nor does a token of someone who may', async () => {
  await using kit = await buildPeopleKit();
  const id = await askToBeLetIn(kit);
  const consent = { id, scopes: ['network:read'] };
  await expect(kit.vic('allow_client_request', consent)).rejects.toMatchObject({ code: 'forbidden' });
  const { token } = await kit.ada('create_api_token', { name: 'ci', scopes: ['agents:write', 'network:read'] });
  await expect(kit.askWith(token)('allow_client_request', consent)).rejects.toMatchObject({ code: 'forbidden' });
});

test('to let the same client in again changes its agent; another client or person gets another agent', async () => {
  await using kit = await buildPeopleKit();
  const allow = async (ask: typeof kit.ada, consent: object, client?: string) =>
    (await ask('allow_client_request', { id: await askToBeLetIn(kit, undefined, client), ...consent })).agent;
  const first = await allow(kit.ada, { scopes: ['network:read'] });
  const db = [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }] }];
  expect(await allow(kit.ada, { scopes: ['network:read', 'intents:plan'], reach: db, ttl: '2h' })).toBe(first);
  expect(await kit.ada('get_agent', { id: first })).toMatchObject({
    scopes: ['network:read', 'intents:plan'],
    ttl: '2h',
    reach: db,
  });
  expect(await allow(kit.ada, { scopes: ['network:read'] }, 'mesh-client.other')).toBe('planner-ada-2');
  expect(await allow(kit.root, { scopes: ['network:read'] })).toBe('planner-admin');
  await kit.ada('revoke_agent', { id: first });
  expect(await allow(kit.ada, { scopes: ['network:read'] })).toBe(first);
});

test('what is left out stays as the agent of the client has it', async () => {
  await using kit = await buildPeopleKit();
  const reach = [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }] }];
  const first = { scopes: ['network:read'], ttl: '2h', policyPreset: 'sandboxed', reach };
  await kit.ada('allow_client_request', { id: await askToBeLetIn(kit), ...first });
  const scopes = ['network:read', 'intents:plan'];
  const { agent } = await kit.ada('allow_client_request', { id: await askToBeLetIn(kit), scopes });
  expect(await kit.ada('get_agent', { id: agent })).toMatchObject({ ...first, scopes });
  await kit.ada('allow_client_request', { id: await askToBeLetIn(kit), scopes, reach: [] });
  expect(await kit.ada('get_agent', { id: agent })).toMatchObject({ reach: [] });
});

test('an agent keeps ten grants at most, and the newest of them', async () => {
  await using kit = await buildPeopleKit();
  const grants: string[] = [];
  for (let count = 0; count < 12; count += 1) {
    kit.clock.time += 1;
    const id = await askToBeLetIn(kit);
    await kit.ada('allow_client_request', { id, scopes: ['network:read'] });
    grants.push((await kit.services.oauthRequests.find(id))?.decision?.grantId ?? '');
  }
  const found = await Promise.all(grants.map((id) => findGrant(kit.services, id)));
  expect(found.map((grant) => grant !== undefined)).toEqual([false, false, ...Array(10).fill(true)]);
});

test('a grant ends in the commit that ends its agent, its person or their membership', async () => {
  await using kit = await buildPeopleKit();
  const grantOf = async () => {
    const id = await askToBeLetIn(kit);
    const { agent } = await kit.ada('allow_client_request', { id, scopes: ['network:read'] });
    return { agent, id: (await kit.services.oauthRequests.find(id))?.decision?.grantId ?? '' };
  };
  const revoked = await grantOf();
  await kit.ada('revoke_agent', { id: revoked.agent });
  expect(await findGrant(kit.services, revoked.id)).toBeUndefined();
  const aged = await grantOf();
  kit.clock.time += DAY_MS;
  expect(await findGrant(kit.services, aged.id)).toBeUndefined();
  kit.clock.time -= DAY_MS;
  const left = await grantOf();
  await kit.root('update_user', { username: 'ada', disabled: true });
  expect(await findGrant(kit.services, left.id)).toBeUndefined();
});

test('where two people decide, a client gets nothing before the second has, and the same consent then needs nobody', async () => {
  await using kit = await buildPeopleKit();
  await kit.haveSettings(kit.prod, { requireApproval: true, selfApproval: false });
  const consent = { scopes: ['network:read'], ttl: '8h' };
  const first = await askToBeLetIn(kit);
  const asked = await kit.ada('allow_client_request', { id: first, ...consent });
  expect(asked).toMatchObject({ status: 'pending_approval', another_person: true });
  expect((await kit.services.oauthRequests.find(first))?.decision).toBeUndefined();
  expect((await kit.ada('list_agents')).items).toEqual([]);
  await kit.root('approve_workflow', { id: asked.workflow_id });
  expect((await kit.ada('list_agents')).items).toMatchObject([{ name: 'planner-ada', person: 'ada' }]);
  kit.clock.time += 3_600_000;
  const again = await askToBeLetIn(kit);
  expect(await kit.ada('allow_client_request', { id: again, ...consent })).toMatchObject({ agent: 'planner-ada' });
  const wider = await askToBeLetIn(kit);
  expect(await kit.ada('allow_client_request', { id: wider, scopes: ['intents:apply'] })).toMatchObject({
    status: 'pending_approval',
  });
});
