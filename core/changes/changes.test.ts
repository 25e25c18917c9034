import { describe, expect, test } from 'vitest';
import { agent, network, peer, policy, quarantine, stateWith } from '../../test/kits/records/records.ts';
import { MeshError } from '../base/errors.ts';
import type { PolicySpec } from '../model/policy.ts';
import { AGENT_LABEL } from '../model/presets.ts';
import type { NetworkSpec } from '../model/resources.ts';
import type { NetworkState } from '../state/state.ts';
import { ADDRESS_QUARANTINE_MS } from './address.ts';
import { type NetworkChange, planChanges } from './changes.ts';

const NOW = 1_800_000_000_000;
const ALLOW_ALL: PolicySpec = { action: 'ALLOW', ingress: [{}] };
const DENY_ALL: PolicySpec = { action: 'DENY' };
const LAB: NetworkSpec = { cidr: '10.97.0.0/24', mtu: 1280, defaultAction: 'ALLOW' };

const create = (name: string, spec = ALLOW_ALL): NetworkChange => ({
  action: 'create',
  resource: 'MeshPolicy',
  name,
  spec,
});
const update = (name: string, spec = ALLOW_ALL): NetworkChange =>
  ({ ...create(name, spec), action: 'update' }) as never;
const remove = (name: string): NetworkChange => ({ action: 'delete', resource: 'MeshPolicy', name });
const createNetwork = (name: string, spec = LAB): NetworkChange => ({
  action: 'create',
  resource: 'MeshNetwork',
  name,
  spec,
});

function refusal(state: NetworkState, ...changes: NetworkChange[]): { code: string; text: string } {
  try {
    planChanges(state, changes, NOW);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const fields = (error.details['errors'] ?? []) as { pointer: string; detail: string }[];
    return { code: error.code, text: fields.map(({ pointer, detail }) => `${pointer} ${detail}`)[0] ?? error.message };
  }
  throw new Error('was not refused');
}

describe('policies', () => {
  test('a created policy is one write without a precondition on a revision', () => {
    const { ops, after, outcomes } = planChanges(stateWith(), [create('web to db')], NOW);
    expect(ops).toMatchObject([
      { op: 'create', record: { kind: 'MeshPolicy', name: 'web-to-db', labels: {}, spec: ALLOW_ALL } },
    ]);
    expect(after.policies.get('web-to-db')).toMatchObject({ generation: 1, revision: 11, createdAt: NOW });
    expect([after.revision, outcomes]).toEqual([11, [{ outcome: 'created', name: 'web-to-db' }]]);
  });

  test('an update carries the revision it was planned on', () => {
    const before = policy('base', ALLOW_ALL, { revision: 7, labels: { team: 'net' } });
    const { ops, after } = planChanges(stateWith(before), [update('base', DENY_ALL)], NOW);
    expect(ops).toMatchObject([
      { op: 'update', revision: 7, record: { uid: before.uid, spec: DENY_ALL, labels: { team: 'net' } } },
    ]);
    expect(after.policies.get('base')?.generation).toBe(2);
  });

  test('an update that changes nothing writes nothing', () => {
    const state = stateWith(policy('base', { action: 'ALLOW', ingress: [{}] }));
    const changes = [update('base', { ingress: [{}], action: 'ALLOW' })];
    const plan = planChanges(state, changes, NOW);
    expect(plan).toEqual({ ops: [], after: state, changes, outcomes: [{ outcome: 'unchanged', name: 'base' }] });
  });

  test('a policy is deleted by its id', () => {
    const before = policy('base', ALLOW_ALL, { revision: 3 });
    const { ops, after } = planChanges(stateWith(before), [remove(before.uid)], NOW);
    expect(ops).toEqual([{ op: 'delete', key: { kind: 'MeshPolicy', name: 'base' }, revision: 3 }]);
    expect(after.policies.size).toBe(0);
  });

  test('instants are kept in UTC', () => {
    const { after } = planChanges(
      stateWith(),
      [create('short', { ...ALLOW_ALL, expiresAt: '2030-01-01T02:00:00+02:00' })],
      NOW,
    );
    expect(after.policies.get('short')?.spec.expiresAt).toBe('2030-01-01T00:00:00.000Z');
  });

  test.each<[string, NetworkState, NetworkChange[], string, RegExp]>([
    ['a name in use', stateWith(policy('Base', ALLOW_ALL)), [create('base')], 'conflict', /exists already/],
    ['a name that is none', stateWith(), [create('a/b')], 'invalid_input', /^\/changes\/0\/name /],
    ['an unknown policy', stateWith(), [update('gone')], 'not_found', /no policy "gone"/],
    ['a name with a space', stateWith(policy('web-1', ALLOW_ALL)), [remove('web 1')], 'not_found', /"web-1" was meant/],
    ['one name twice', stateWith(), [create('a'), create('A')], 'invalid_input', /^\/changes\/0\/name .* named twice/],
    [
      'an end that has passed',
      stateWith(),
      [create('late', { ...ALLOW_ALL, expiresAt: '2020-01-01T00:00:00Z' })],
      'invalid_input',
      /^\/changes\/0\/spec\/expiresAt /,
    ],
    [
      'an unknown network',
      stateWith(),
      [create('p', { ...ALLOW_ALL, network: 'nowhere' })],
      'invalid_input',
      /^\/changes\/0\/spec\/network .*"nowhere"\./,
    ],
    [
      'a label of the control plane',
      stateWith(),
      [{ ...create('p'), labels: { 'mesh.internal/agent': 'agt_x' } } as NetworkChange],
      'invalid_input',
      /^\/changes\/0\/labels\/mesh\.internal~1agent /,
    ],
  ])('%s is refused', (_title, state, changes, code, text) => {
    expect(refusal(state, ...changes)).toEqual({ code, text: expect.stringMatching(text) });
  });
});

describe('networks', () => {
  test('a policy may name a network of the same batch', () => {
    const { after } = planChanges(
      stateWith(),
      [create('p', { ...ALLOW_ALL, network: 'lab' }), createNetwork('lab')],
      NOW,
    );
    expect([...after.networks.keys()]).toEqual(['default', 'lab']);
  });

  test('a network goes together with the policies that name it', () => {
    const state = stateWith(network('default'), network('lab', LAB), policy('p', { ...ALLOW_ALL, network: 'lab' }));
    const { after } = planChanges(
      state,
      [{ action: 'delete', resource: 'MeshNetwork', name: 'lab' }, remove('p')],
      NOW,
    );
    expect([after.networks.size, after.policies.size]).toEqual([1, 0]);
  });

  const used = stateWith(network('default'), network('lab', LAB), peer('db', { network: 'lab', address: '10.97.0.9' }));
  test.each<[string, NetworkState, NetworkChange, RegExp]>([
    ['has peers', used, { action: 'delete', resource: 'MeshNetwork', name: 'lab' }, /has peers: .*\bdb\b/],
    ['is the default', stateWith(), { action: 'delete', resource: 'MeshNetwork', name: 'default' }, /new devices join/],
    [
      'is named by a policy',
      stateWith(network('default'), network('lab', LAB), policy('p', { ...ALLOW_ALL, network: 'lab' })),
      { action: 'delete', resource: 'MeshNetwork', name: 'lab' },
      /name the network lab: .*\bp\b/,
    ],
  ])('a network that %s cannot be deleted', (_why, state, change, text) => {
    expect(refusal(state, change)).toEqual({ code: 'conflict', text: expect.stringMatching(text) });
  });

  test('a block may grow but not leave out an address in use', () => {
    const resize = (cidr: string): NetworkChange =>
      ({ ...createNetwork('lab', { ...LAB, cidr }), action: 'update' }) as never;
    expect(planChanges(used, [resize('10.97.0.0/16')], NOW).outcomes[0]?.outcome).toBe('updated');
    const text = expect.stringMatching(/leaves out addresses in use: db\. .* does not overlap 10\.97\.0\.0\/24/);
    expect(refusal(used, resize('10.97.0.0/29'))).toEqual({ code: 'conflict', text });
  });

  test('blocks of one workspace do not overlap', () => {
    expect(refusal(stateWith(), createNetwork('lab', { ...LAB, cidr: '10.96.0.0/16' })).text).toMatch(
      /^\/changes\/0\/spec\/cidr .* overlaps 10.96.0.0\/24 of network default/,
    );
  });
});

describe('peers', () => {
  const move = (name: string, to: string): NetworkChange => ({
    action: 'update',
    resource: 'MeshPeer',
    name,
    network: to,
  });
  const web = peer('web', {
    address: '10.96.0.5',
    revision: 4,
    labels: { 'mesh.internal/agent': 'agt_1', role: 'web' },
  });

  test('labels are replaced, but not those of the control plane', () => {
    const { after } = planChanges(
      stateWith(web),
      [{ action: 'update', resource: 'MeshPeer', name: 'web', labels: { tier: 'front' } }],
      NOW,
    );
    expect(after.peers.get('web')?.labels).toEqual({ tier: 'front', 'mesh.internal/agent': 'agt_1' });
  });

  test('a peer that changes its network takes the lowest address that is neither held nor in quarantine', () => {
    const state = stateWith(
      network('default'),
      network('lab', LAB),
      web,
      peer('db', { network: 'lab', address: '10.97.0.1' }),
      quarantine('10.97.0.2', NOW + 1, { revision: 8 }),
      quarantine('10.97.0.3', NOW, { revision: 9 }),
    );
    const { ops, after } = planChanges(state, [move('web', 'lab')], NOW);
    expect(after.peers.get('web')?.status.address).toBe('10.97.0.3');
    expect(ops).toMatchObject([
      { op: 'update', revision: 4, record: { unique: ['ip:10.97.0.3'], spec: { network: 'lab' } } },
      { op: 'delete', key: { kind: 'AddressRest', name: '10.97.0.3' }, revision: 9 },
      {
        op: 'create',
        record: { kind: 'AddressRest', name: '10.96.0.5', spec: { until: NOW + ADDRESS_QUARANTINE_MS } },
      },
    ]);
  });

  test('a pending peer changes its network without an address', () => {
    const state = stateWith(network('default'), network('lab', LAB), peer('new', { phase: 'pending' }));
    expect(planChanges(state, [move('new', 'lab')], NOW).ops).toHaveLength(1);
  });

  test.each<[string, NetworkState, RegExp]>([
    ['an unknown network', stateWith(web), /^\/changes\/0\/network .*no network "lab"/],
    [
      'a full network',
      stateWith(
        network('default'),
        network('lab', { ...LAB, cidr: '10.97.0.0/30' }),
        web,
        peer('a', { network: 'lab', address: '10.97.0.1' }),
        peer('b', { network: 'lab', address: '10.97.0.2' }),
      ),
      /no free address for web/,
    ],
  ])('a move to %s is refused', (_title, state, text) => {
    expect(refusal(state, move('web', 'lab')).text).toMatch(text);
  });
});

test('agents and presence are untouched by any change', () => {
  const state = stateWith(agent('planner'));
  const { after } = planChanges(state, [create('p')], NOW);
  expect([after.agents, after.presence]).toEqual([state.agents, state.presence]);
});

test('of a preset nobody changes a policy or takes it away; said as it is, it stays', () => {
  const preset = policy('agt_1.sandboxed', ALLOW_ALL, { labels: { [AGENT_LABEL]: 'agt_1' } });
  const state = stateWith(network('default'), preset);
  for (const change of [update('agt_1.sandboxed', DENY_ALL), remove('agt_1.sandboxed')])
    expect(refusal(state, change)).toMatchObject({ code: 'conflict' });
  expect(planChanges(state, [update('agt_1.sandboxed')], NOW).ops).toEqual([]);
});
