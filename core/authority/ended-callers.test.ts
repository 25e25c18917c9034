import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { enrol, freshKey } from '../../test/kits/plane/devices.ts';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import type { Kind } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import { CREDENTIAL_KINDS } from '../identity/credential-cache.ts';

/** Some are told more exactly by the operation itself, which finds their record gone. */
const REFUSED = expect.stringMatching(/^(forbidden|unauthenticated|not_found)$/) as unknown;
const HOUR = 3_600_000;
const DENY = { action: 'DENY', peerSelector: {}, ingress: [{}] };
const REACH = [{ to: [{ peerSelector: {} }] }];

/** Callers of every kind, each with the write that it makes: nobody but them writes what it would leave. */
async function buildScene() {
  const kit = await buildPeopleKit();
  const { prod: workspace, ada, root, askWith } = kit;
  const opSession = await kit.person('op', 'operator', workspace);
  const op = askWith(opSession);
  const apiToken = await op('create_api_token', { name: 'ci', scopes: ['network:read', 'network:write'] });
  const made = { name: 'planner', scopes: ['network:read', 'network:write', 'agents:delegate'], reach: REACH };
  const planner = await ada('create_agent', made);
  const asPlanner = askWith(planner.token);
  const delegation = {
    subAgentName: 'kid',
    ttl: '30m',
    policyPreset: 'inherit',
    scopes: ['network:read', 'network:write'],
  };
  const { enrollmentToken } = await asPlanner('delegate_agent', { id: 'self', ...delegation });
  const kid = await enrol(kit, enrollmentToken, 'kid');
  const join = await ada('generate_join_token', { name: 'fleet', usageLimit: 10, expiry: '1h' });
  const web = await enrol(kit, join.token, 'web-1');
  const late = await ada('generate_join_token', { name: 'late', usageLimit: 10, expiry: '1h' });
  const policy = ['create_policy', { name: 'late', spec: DENY }] as const;
  const device = { name: 'late', publicKey: freshKey().publicKey };
  const callers = {
    session: { bearer: opSession, write: policy },
    'api token': { bearer: apiToken.token as string, write: policy },
    'root agent': { bearer: planner.token as string, write: policy },
    'sub-agent': { bearer: kid.agentToken as string, write: policy },
    device: { bearer: web.deviceToken as string, write: ['rename_own_device', { name: 'late' }] as const },
    enrolment: { bearer: late.token as string, write: ['register_device', device] as const },
  };
  const id = async (peer: string) => (await ada('get_peer', { id: peer })).id as string;
  const again = async (name: string) => {
    await ada('revoke_agent', { id: name });
    await ada('create_agent', { ...made, name });
  };
  const demote = (username: string) => ada('set_member', { username, role: 'viewer' });
  const pass = (ms: number) => {
    kit.clock.time += ms;
  };
  const person = {
    'is disabled': ['Account', () => root('update_user', { username: 'op', disabled: true })],
    'is deleted': ['Account', () => root('delete_user', { username: 'op' })],
    'loses its role': ['Member', () => demote('op')],
    'is no member any more': ['Member', () => ada('remove_member', { username: 'op' })],
  } as const;
  const agents = {
    'has a person who loses its role': ['Member', () => root('set_member', { username: 'ada', role: 'viewer' })],
    'has a person who is disabled': ['Account', () => root('update_user', { username: 'ada', disabled: true })],
    'has a root that is revoked': ['AgentIdentity', () => ada('revoke_agent', { id: 'planner' })],
    'has a root whose name is taken anew': ['AgentIdentity', () => again('planner')],
    'has ended with its root': ['time', () => pass(25 * HOUR)],
  } as const;
  const deleteWorkspace = async () => {
    for (const name of ['kid', 'web-1']) await ada('delete_peer', { id: name });
    await root('delete_workspace');
  };
  const gone = { 'was in a workspace that is deleted': ['Workspace', deleteWorkspace] } as const;
  const ways: Readonly<Record<keyof typeof callers, Readonly<Record<string, Way>>>> = {
    session: {
      ...person,
      'has logged out': ['Session', () => op('log_out')],
      'has expired': ['time', () => pass(13 * HOUR)],
    },
    'api token': {
      ...person,
      ...gone,
      'is revoked': ['Token', () => op('revoke_api_token', { id: apiToken.id })],
      'has expired': ['time', () => pass(91 * 24 * HOUR)],
    },
    'root agent': {
      ...agents,
      ...gone,
      'has a token that was renewed': ['Token', () => ada('renew_agent', { id: 'planner' })],
    },
    'sub-agent': {
      ...agents,
      ...gone,
      'is revoked': ['AgentIdentity', () => ada('revoke_agent', { id: 'kid' })],
      'has a name that is taken anew': ['AgentIdentity', () => again('kid')],
      'has a peer that is revoked': ['MeshPeer', async () => ada('revoke_peer', { id: await id('kid') })],
      'has expired': ['time', () => pass(HOUR)],
    },
    device: {
      ...gone,
      'is revoked': ['MeshPeer', async () => ada('revoke_peer', { id: await id('web-1') })],
      'is deleted': ['Token', async () => ada('delete_peer', { id: await id('web-1') })],
    },
    enrolment: {
      ...gone,
      'is revoked': ['Token', () => ada('revoke_join_token', { id: late.id })],
      'has expired': ['time', () => pass(2 * HOUR)],
    },
  };
  return { kit, workspace, callers, ways, again };
}

/** The kind of record by which a caller ends, and how. */
type Way = readonly [Kind | 'time', () => unknown];
type Scene = Awaited<ReturnType<typeof buildScene>>;
type CallerKind = keyof Scene['callers'];

/** All that the late writes would leave. */
async function written({ kit, workspace }: Scene): Promise<unknown[]> {
  const { store } = kit.services;
  const kinds = ['MeshPolicy', 'MeshPeer', 'Workflow'] as const;
  const all = await Promise.all(kinds.map((kind) => store.list(workspace, kind)));
  return all.flatMap(({ items }) => items.map(({ kind, name, spec }) => ({ kind, name, spec })));
}

const scene = await buildScene();
const CASES = Object.entries(scene.ways).flatMap(([kind, ways]) =>
  Object.keys(ways).map((way) => [kind as CallerKind, way] as const),
);
await scene.kit[Symbol.asyncDispose]();

describe('what was let in and waits when its caller ends is refused and leaves nothing', () => {
  test.each(CASES)('a %s that %s', async (kind, way) => {
    const own = await buildScene();
    await using kit = own.kit;
    const { bearer, write } = own.callers[kind];
    const caller = await kit.gate.authenticate(bearer, '');
    const [by, end] = own.ways[kind][way] as Way;
    const changed = new Set<Kind>();
    const stop = kit.services.store.onCommit(({ changes }) => {
      for (const { record } of changes) changed.add(record.kind);
    });
    await end();
    stop();
    if (by !== 'time') expect(changed).toContain(by);
    const before = await written(own);
    const [operation, input] = write;
    await expect(
      kit.call(
        operation,
        { ...input, ...(kind === 'enrolment' && { token: bearer }) },
        { as: caller, bearer, workspace: own.workspace },
      ),
    ).rejects.toMatchObject({ code: REFUSED });
    expect(await written(own)).toEqual(before);
  });

  test.each(Object.keys(scene.callers) as CallerKind[])('a %s that has not ended writes', async (kind) => {
    const own = await buildScene();
    await using kit = own.kit;
    const { bearer, write } = own.callers[kind];
    const caller = await kit.gate.authenticate(bearer, '');
    const before = await written(own);
    await kit.call(write[0], { ...write[1] }, { as: caller, bearer, workspace: own.workspace });
    expect(await written(own)).not.toEqual(before);
  });

  test('every kind of record that a verification rests on ends some caller here', () => {
    const ended = new Set(Object.values(scene.ways).flatMap((ways) => Object.values(ways).map(([by]) => by)));
    expect(ended).toEqual(new Set([...CREDENTIAL_KINDS, 'time']));
  });
});

test('a sub-agent whose name is taken while its writes wait for their turn writes nothing', async () => {
  const own = await buildScene();
  await using kit = own.kit;
  const caller = await kit.gate.authenticate(own.callers['sub-agent'].bearer, '');
  const before = await written(own);
  const turn = Promise.withResolvers<void>();
  const held = serialized(kit.services.store, own.workspace, () => turn.promise);
  const ending = own.again('kid');
  const writes = Array.from({ length: 20 }, (_, n) =>
    kit.call('create_policy', { name: `late-${n}`, spec: DENY }, { as: caller, workspace: own.workspace }).then(
      () => 'written',
      (error: { code?: string }) => error.code,
    ),
  );
  turn.resolve();
  await Promise.all([held, ending]);
  expect(await Promise.all(writes)).toContain('forbidden');
  // What had its turn before has ended with the agent, and its peer too.
  const left = await written(own);
  expect(left.filter((record) => !before.some((one) => isDeepStrictEqual(one, record)))).toEqual([]);
});
