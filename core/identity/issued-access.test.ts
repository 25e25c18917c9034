import { expect, onTestFinished, test, vi } from 'vitest';
import { agentGrant, buildIssuedKit, RESOURCE } from '../../test/kits/plane/issued-access.ts';
import { CORP, identity, ORIGIN } from '../../test/kits/plane/issuer-kit.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { directoryGroup, saveDirectoryGroup, saveDirectoryUser } from './directory.ts';

const DB = [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }] }];
const HOUR = 3_600_000;

test('a token makes an agent of its person, who reads and plans, reaches nothing, and is made once', async () => {
  const kit = await buildIssuedKit();
  const bearer = await kit.tokenOf();
  const caller = await kit.authenticate(bearer);
  expect(caller).toMatchObject({
    kind: 'agent',
    name: 'planner-ada-example.com',
    audience: RESOURCE,
    interactive: false,
  });
  expect([...caller.scopesIn(kit.prod)].toSorted()).toEqual(['intents:plan', 'network:read', 'snapshots:read']);
  const made = await kit.revision();
  expect((await kit.authenticate(bearer)).id).toBe(caller.id);
  kit.clock.time += HOUR;
  expect(await kit.comeWith()).toMatchObject({ id: caller.id, tokenId: caller.tokenId });
  expect(await kit.revision()).toBe(made);
  expect(await kit.root('get_agent', { id: caller.name })).toMatchObject({
    person: 'ada@example.com',
    reach: [],
    ttl: '24h',
    client: { name: 'planner', host: 'id.example.com', resource: RESOURCE },
  });
  const { items } = await kit.root('list_agents');
  expect(items[0].client.signedOut).toBeUndefined();
});

test('each client has an agent of its own, as its grant says: scopes, life and reach', async () => {
  const wide = agentGrant('operators', { scopes: ['network:read', 'intents:apply'], ttl: '7d', reach: DB });
  const kit = await buildIssuedKit([agentGrant('planner', { claim: 'client_id' }), wide]);
  const planner = await kit.comeWith();
  const other = await kit.comeWith({ client_id: 'other' });
  expect(other.id).not.toBe(planner.id);
  expect(await kit.root('get_agent', { id: other.name })).toMatchObject({
    scopes: ['network:read', 'intents:apply'],
    ttl: '7d',
    reach: DB,
  });
  expect(await kit.root('get_agent', { id: planner.name })).toMatchObject({ reach: [] });
});

test('an agent holds what its grant says and no more, whatever the claims of a token say', async () => {
  const kit = await buildIssuedKit([agentGrant('operators', { scopes: ['network:read', 'agents:delegate'] })]);
  const claims = { scope: 'members:write workflows:approve admin', role: 'platform_admin', reach: DB };
  const caller = await kit.comeWith(claims);
  expect([...caller.scopesIn(kit.prod)].toSorted()).toEqual(['agents:delegate', 'network:read']);
  expect(await kit.root('get_agent', { id: caller.name })).toMatchObject({ reach: [] });
  expect(caller.scopesIn('w_other').size).toBe(0);
});

test.each<[what: string, claims: object, told: string]>([
  ['whom nobody here is', { sub: 'eve' }, 'has no account here: sign in on the dashboard by https://id.example.com'],
  ['that no grant is about', { groups: ['others'] }, 'No scope, group or other claim of this token is let in here'],
  [
    'whose claim contains the value only as a part',
    { groups: 'operators-of-others' },
    'No scope, group or other claim',
  ],
  ['of a person who is no member there', { groups: ['strangers'] }, 'ada@example.com is no member of'],
])('a token of a subject %s is refused with the reason', async (_what, claims, told) => {
  const kit = await buildIssuedKit([agentGrant('operators'), agentGrant('strangers', { workspace: 'elsewhere' })]);
  await expect(kit.comeWith(claims)).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining(told),
  });
  expect((await kit.root('list_agents')).items).toEqual([]);
});

test('a grant to a workspace that does not exist is in the log once, and the client is told what it is of any', async () => {
  const kit = await buildIssuedKit([agentGrant('operators', { workspace: 'nowhere' })]);
  const warn = vi.spyOn(kit.services.log, 'warn');
  onTestFinished(() => warn.mockRestore());
  for (const _ of [1, 2]) await expect(kit.comeWith()).rejects.toThrow('ada@example.com is no member of nowhere');
  const text = 'a grant of an issuer names a workspace that does not exist';
  expect(warn.mock.calls.filter(([, message]) => message === text)).toEqual([
    [{ issuer: 'app.oauth, https://id.example.com', workspace: 'nowhere' }, text],
  ]);
});

test('who may make no agents has none by a client, nor goes on with one after losing the right', async () => {
  const kit = await buildIssuedKit();
  await kit.signIn(identity('vic@example.com', ['watchers'], 'vic'));
  await expect(kit.comeWith({ sub: 'vic' })).rejects.toThrow('needs the scope agents:write');
  const bearer = await kit.tokenOf();
  await kit.authenticate(bearer);
  await kit.signIn(identity('ada@example.com', ['watchers'], 'ada'));
  await expect(kit.authenticate(bearer)).rejects.toThrow('needs the scope agents:write');
});

test('grants go by scopes as words of one text', async () => {
  const kit = await buildIssuedKit([agentGrant('mesh', { claim: 'scope' })]);
  expect(await kit.comeWith({ scope: 'openid mesh' })).toMatchObject({ kind: 'agent' });
  await expect(kit.comeWith({ scope: 'openid meshes' })).rejects.toMatchObject({ code: 'forbidden' });
});

test('elsewhere than at /mcp such a token counts for nothing, and makes nothing', async () => {
  const kit = await buildIssuedKit();
  const bearer = await kit.tokenOf();
  await expect(kit.call('list_peers', {}, { bearer, workspace: kit.prod })).rejects.toThrow('counts at /mcp alone');
  expect((await kit.root('list_agents')).items).toEqual([]);
  await kit.authenticate(bearer);
  await expect(kit.call('list_peers', {}, { bearer, workspace: kit.prod })).rejects.toThrow('alone: send it there');
});

test('who is off-boarded here is out with that commit, whatever the issuer says', async () => {
  const kit = await buildIssuedKit();
  const bearer = await kit.tokenOf();
  const caller = await kit.authenticate(bearer);
  await kit.root('update_user', { username: 'ada@example.com', disabled: true });
  await expect(kit.authenticate(bearer)).rejects.toThrow('The account ada@example.com is disabled');
  await expect(caller.again?.()).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(kit.comeWith()).rejects.toMatchObject({ code: 'forbidden' });
});

test('who signs out everywhere ends the tokens that were issued until then', async () => {
  const kit = await buildIssuedKit();
  const session = (await kit.signIn(identity('ada@example.com', ['admins'], 'ada'))).token;
  kit.clock.time += 1_000;
  const bearer = await kit.tokenOf();
  const caller = await kit.authenticate(bearer);
  kit.clock.time += 1_000;
  await kit.call('log_out_everywhere', {}, { bearer: session });
  await expect(kit.authenticate(bearer)).rejects.toThrow('signed out everywhere');
  await expect(caller.again?.()).rejects.toThrow('signed out everywhere');
  expect(await kit.comeWith()).toMatchObject({ id: caller.id });
});

test('who signs out everywhere ends the tokens of assertions that were issued until then, whenever they are brought', async () => {
  const kit = await buildIssuedKit([agentGrant('operators')], { takesAssertions: true });
  const { assertions } = kit.services.accessTokens ?? {};
  const bring = async (issuedAt: number) => {
    const facts = { subject: 'ada', clientId: 'planner', resource: RESOURCE, claims: { groups: ['operators'] } };
    return kit.authenticate((await assertions?.issue({ ...facts, issuedAt })) ?? '');
  };
  const session = (await kit.signIn(identity('ada@example.com', ['admins'], 'ada'))).token;
  const before = kit.clock.time;
  kit.clock.time += 1_000;
  await kit.call('log_out_everywhere', {}, { bearer: session });
  kit.clock.time += 1_000;
  await expect(bring(before)).rejects.toThrow('signed out everywhere');
  expect(await bring(kit.clock.time)).toMatchObject({ kind: 'agent', name: 'planner-ada-example.com' });
});

test('a revoked agent shuts its client out until its person signs in at the issuer anew', async () => {
  const kit = await buildIssuedKit();
  const bearer = await kit.tokenOf();
  const { name, id } = await kit.authenticate(bearer);
  kit.clock.time += 1_000;
  await kit.root('revoke_agent', { id: name });
  const before = { auth_time: kit.clock.time / 1_000 - 5 };
  kit.clock.time += 60_000;
  await expect(kit.authenticate(bearer)).rejects.toThrow('was revoked: sign in at https://id.example.com anew');
  for (const claims of [{}, before]) await expect(kit.comeWith(claims)).rejects.toMatchObject({ code: 'forbidden' });
  expect(await kit.comeWith({ client_id: 'other' })).toMatchObject({ kind: 'agent' });
  const again = await kit.comeWith({ auth_time: kit.clock.time / 1_000 });
  expect(again.name).toBe(name);
  expect(again.id).not.toBe(id);
});

test('a revoked agent shuts its client out under each address of the control plane', async () => {
  const kit = await buildIssuedKit([agentGrant('operators')], { publicUrls: [ORIGIN, 'https://mesh.example.net'] });
  const { name } = await kit.comeWith();
  await kit.root('revoke_agent', { id: name });
  const bearer = await kit.tokenOf({}, { audience: 'https://mesh.example.net/mcp' });
  await expect(kit.authenticate(bearer)).rejects.toThrow('was revoked');
});

test('where the issuer has a directory, a person counts who is in it, with the groups that it says', async () => {
  const rules = { ...CORP, directory: { claim: 'sub' } };
  const kit = await buildIssuedKit([agentGrant('operators')], { issuers: [rules] });
  const call = { services: kit.services, rules, why: { actor: 'system:issuer:corp', requestId: 'r_1' } };
  const entry = { userName: 'ada', externalId: 'ada', active: true, attributes: {} };
  const { uid } = await saveDirectoryUser(call, undefined, entry);
  const add = (displayName: string) =>
    saveDirectoryGroup(call, undefined, { displayName, attributes: {}, joins: [uid], leaves: [] });
  await add('admins');
  const added = await add('operators');
  await kit.signIn(identity('ada@example.com', [], 'ada'));
  const bearer = await kit.tokenOf({ groups: ['strangers'] });
  expect(await kit.authenticate(bearer)).toMatchObject({ kind: 'agent' });
  const operators = await directoryGroup(kit.services, rules, added.uid);
  await saveDirectoryGroup(call, operators, { displayName: 'operators', attributes: {}, joins: [], leaves: [uid] });
  await expect(kit.authenticate(bearer)).rejects.toThrow('No scope, group or other claim');
  await expect(kit.comeWith()).rejects.toThrow('No scope, group or other claim');
  // Not one who leaves, whose account is disabled, but one of whom the directory never told.
  await kit.services.store.commit(SYSTEM_WORKSPACE, [{ op: 'delete', key: { kind: 'DirectoryUser', name: uid } }], {
    ...call.why,
    reason: 'forgot',
  });
  await expect(kit.comeWith()).rejects.toThrow('Example Corp does not tell this control plane of ada@example.com');
});

test('where the issuer does not say when somebody signed in, a person frees the name of a revoked agent, and no agent does', async () => {
  const kit = await buildIssuedKit([agentGrant('operators', { scopes: ['network:read', 'agents:delegate'] })]);
  const { name } = await kit.comeWith();
  await kit.root('revoke_agent', { id: name });
  kit.clock.time += 60_000;
  const other = await kit.comeWith({ client_id: 'other' });
  const taking = { id: 'self', subAgentName: name, ttl: '10m', policyPreset: 'isolated', scopes: ['network:read'] };
  await expect(kit.call('delegate_agent', taking, { as: other, workspace: kit.prod })).rejects.toThrow(
    'choose another',
  );
  await expect(kit.comeWith()).rejects.toThrow('was revoked');
  await kit.root('create_agent', { name, scopes: ['network:read'] });
  expect((await kit.comeWith()).name).toBe(`${name}-2`);
});

test('an agent that came to its end is made again, and one that is half through its life goes on longer', async () => {
  const kit = await buildIssuedKit();
  const first = await kit.comeWith();
  kit.clock.time += 13 * HOUR;
  const longer = await kit.comeWith();
  expect(longer.id).toBe(first.id);
  kit.clock.time += 12 * HOUR;
  expect((await kit.comeWith()).id).toBe(first.id);
});

test('a token counts as long as it lasts, and no longer than its agent', async () => {
  const kit = await buildIssuedKit([agentGrant('operators', { ttl: '4m' })]);
  const bearer = await kit.tokenOf();
  const { expiresAt } = await kit.authenticate(bearer);
  expect(expiresAt).toBe(kit.clock.time + 240_000);
  kit.clock.time += 241_000;
  await expect(kit.authenticate(bearer)).rejects.toThrow('is just ending: try again');
  kit.clock.time += 120_000;
  await expect(kit.authenticate(bearer)).rejects.toThrow('it has expired');
});

test('where two people decide, a client waits for the second, once, and a longer life waits beside the agent', async () => {
  const kit = await buildIssuedKit();
  await kit.haveSettings(kit.prod, { requireApproval: true, selfApproval: false });
  const bearer = await kit.tokenOf();
  const refused = await kit.authenticate(bearer).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('has to approve'),
  });
  await expect(kit.authenticate(bearer)).rejects.toMatchObject({ code: 'forbidden' });
  const waiting = (await kit.root('list_workflows')).items;
  expect(waiting).toHaveLength(1);
  await kit.root('approve_workflow', { id: waiting[0].id });
  const { id } = await kit.authenticate(bearer);
  kit.clock.time += 13 * HOUR;
  expect((await kit.comeWith()).id).toBe(id);
  expect((await kit.root('list_workflows')).items).toHaveLength(2);
});

test('two first calls at once make one agent', async () => {
  const kit = await buildIssuedKit();
  const all = await Promise.all([kit.comeWith(), kit.comeWith(), kit.comeWith()]);
  expect(new Set(all.map(({ id }) => id)).size).toBe(1);
});

test('a token that is longer than any is refused unread', async () => {
  const kit = await buildIssuedKit();
  await expect(kit.comeWith({ groups: Array(2_000).fill('operators') })).rejects.toThrow('8192 characters at most');
});
