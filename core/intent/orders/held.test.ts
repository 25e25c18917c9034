import { expect, test } from 'vitest';
import { agent, network, peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import { agentLabels, presetPolicies } from '../../model/presets.ts';
import type { AgentRecord, PolicyPreset, PolicyRecord } from '../../model/resources.ts';
import { compile } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import type { NetworkState } from '../../state/state.ts';
import { compileOrders } from './compile-orders.ts';
import type { OrderInput } from './order.ts';
import { readOrders } from './read-orders.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');

function bot(name: string, preset: PolicyPreset, parentRef?: AgentRecord) {
  const record = agent(name, {
    policyPreset: preset,
    ...(parentRef && { parentRef: { name: parentRef.name, namespace: 'ns' } }),
  });
  const drafts = presetPolicies(record, parentRef, []);
  const policies = drafts.map((draft): PolicyRecord => ({ ...policy(draft.name, draft.spec), labels: draft.labels }));
  return { record, peer: peer(`${name}-peer`, { agentRef: name, labels: agentLabels(record, parentRef) }), policies };
}

function ordered(state: NetworkState, ...inputs: OrderInput[]) {
  const orders = readOrders(inputs, state, { now: NOW, timeZone: 'UTC' });
  const compiled = compileOrders(orders, state, { now: NOW, joins: [], isPersons: true, reachOf });
  const reach = reachOf(compiled.after);
  return { ...compiled, reach, names: compiled.changes.map(({ name }) => name) };
}

const reachOf = (of: NetworkState) => compile(modelOf(of, NOW));
const base = policy('base', { action: 'DENY', peerSelector: {} });
const allow = (from: string, to: string): OrderInput => ({ do: 'allow', from: [from], to: [to], ports: ['tcp/443'] });

test('pairs in different networks and pending peers stay, and are told with the reason', () => {
  const state = stateWith(
    network('default'),
    network('far', { cidr: '10.97.0.0/24' }),
    base,
    peer('web-1'),
    peer('db-1'),
    peer('far-1', { network: 'far' }),
    peer('wait-1', { phase: 'pending' }),
  );
  const { notChanged, reach } = ordered(state, allow('peers', 'db-1'));
  expect(notChanged).toEqual([
    'far-1 to db-1 on TCP 443: they are in different networks',
    'wait-1 to db-1 on TCP 443: a peer awaits approval',
  ]);
  expect(reach.verdict('web-1', 'db-1', 'TCP', 443)).toBe(true);
  expect(() => ordered(state, allow('far-1', 'db-1'))).toThrow(
    'Nothing of "allow far-1 to db-1 on tcp/443" can be done',
  );
});

test('an isolated sub-agent does not make an order about everybody fail', () => {
  const { record, peer: own, policies } = bot('quiet', 'isolated');
  const state = stateWith(base, peer('web-1'), peer('db-1'), record, own, ...policies);
  const { notChanged, names, reach } = ordered(state, allow('peers', 'db-1'));
  expect(notChanged).toEqual([`quiet-peer to db-1 on TCP 443: the preset of an agent holds it (${policies[0]?.name})`]);
  expect(names).toEqual(['allow-to-db-1', 'allow-from-peers']);
  expect(reach.verdict('web-1', 'db-1', 'TCP', 443)).toBe(true);
  expect(() => ordered(state, allow('quiet-peer', 'db-1'))).toThrow('the preset of an agent holds it');
});

test('the isolation of a preset is opened where the order names its peer', () => {
  const { record, peer: own, policies } = bot('lead', 'coordinator');
  const state = stateWith(peer('web-1'), record, own, ...policies);
  expect(ordered(state, allow('web-1', 'lead-peer')).reach.verdict('web-1', 'lead-peer', 'TCP', 443)).toBe(true);
  expect(() => ordered(state, { do: 'remove', from: ['lead-peer'], to: ['web-1'] })).not.toThrow();
});

test('a sub-agent gets no more than it was delegated', () => {
  const parent = bot('boss', 'inherit');
  const child = bot('child', 'inherit', parent.record);
  const records = [parent, child].flatMap(({ record, peer: own, policies }) => [record, own, ...policies]);
  const state = stateWith(base, peer('db-1'), ...records);
  expect(() => ordered(state, allow('child-peer', 'db-1'))).toThrow('it is more than the agent was delegated');
});

test('orders of one call share a policy for an end, and what stands already is never added to', () => {
  const state = stateWith(base, peer('web-1'), peer('api-1'), peer('db-1'));
  const named = ({ changes }: ReturnType<typeof ordered>) => changes.map(({ action, name }) => `${action} ${name}`);
  const both = ordered(state, allow('web-1', 'db-1'), allow('api-1', 'db-1'));
  expect(named(both)).toEqual(['create allow-to-db-1', 'create allow-from-web-1', 'create allow-from-api-1']);
  const { after } = ordered(state, allow('web-1', 'db-1'));
  expect(named(ordered(after, allow('api-1', 'db-1')))).toEqual(['create allow-to-db-1-2', 'create allow-from-api-1']);
});

test('remove leaves a policy that orders wrote without its rule, for it still isolates', () => {
  const state = stateWith(base, peer('web-1'), peer('db-1'));
  const { after } = ordered(state, allow('web-1', 'db-1'));
  const { changes } = ordered(after, { ...allow('web-1', 'db-1'), do: 'remove' });
  expect(changes.map(({ action, name }) => `${action} ${name}`)).toEqual(['update allow-to-db-1']);
});

test('only removes a policy of which no rule is left that could select anybody, where others isolate the same', () => {
  const state = stateWith(
    base,
    peer('laptop'),
    peer('api-1', { labels: { role: 'api' } }),
    peer('db-1', { labels: { role: 'db' } }),
  );
  const { after } = ordered(state, { ...allow('laptop', 'db-1'), for: '2h' });
  const { changes, reach } = ordered(after, { ...allow('role=api', 'role=db'), do: 'only' });
  expect(changes.map(({ action, name }) => `${action} ${name}`)).toEqual([
    'delete allow-to-db-1',
    'create allow-to-db',
    'create allow-from-api',
  ]);
  expect(reach.verdict('laptop', 'db-1', 'TCP', 443)).toBe(false);
});

test('only leaves no rule for listed peers that have none of its labels', () => {
  const state = stateWith(peer('laptop'), peer('api-1', { labels: { role: 'api' } }), peer('db-1'));
  const { uid } = state.peers.get('laptop') ?? { uid: '' };
  const own = policy('own', {
    action: 'ALLOW',
    peerSelector: {},
    ingress: [{ from: [{ peerSelector: { peers: [uid] } }] }],
  });
  const { after } = ordered(
    { ...state, policies: new Map([[own.name, own]]) },
    { ...allow('role=api', 'db-1'), do: 'only' },
  );
  const specs = [...after.policies.values()].map(({ spec }) => JSON.stringify(spec));
  expect(specs.filter((spec) => spec.includes(uid) && spec.includes('matchExpressions'))).toEqual([]);
});

test('an allow ends with the isolation that it opens', () => {
  const ending = policy('ending', {
    action: 'ALLOW',
    peerSelector: {},
    ingress: [],
    expiresAt: '2030-01-02T00:00:00Z',
  });
  const state = stateWith(ending, peer('web-1'), peer('db-1'));
  const { changes } = ordered(state, allow('web-1', 'db-1'));
  expect(changes).toMatchObject([{ name: 'allow-to-db-1', spec: { expiresAt: '2030-01-02T00:00:00.000Z' } }]);
});

test('an order that was carried out is already so when it is asked again, beside pairs that another network holds', () => {
  const state = stateWith(
    network('default'),
    network('far', { cidr: '10.97.0.0/24' }),
    base,
    peer('web-1'),
    peer('db-1'),
    peer('far-1', { network: 'far' }),
  );
  const { after } = ordered(state, allow('peers', 'db-1'));
  const { already, notChanged, changes } = ordered(after, allow('peers', 'db-1'));
  expect([already, changes]).toEqual([['allow-from-peers', 'allow-to-db-1'], []]);
  expect(notChanged).toEqual(['far-1 to db-1 on TCP 443: they are in different networks']);
});

test('only is refused for an agent whose preset gives what it would close, naming the preset', () => {
  const { record, peer: own, policies } = bot('bot', 'inherit');
  const state = stateWith(peer('web-1'), peer('db-1'), record, own, ...policies);
  const only: OrderInput = { do: 'only', from: ['bot-peer'], to: ['db-1'], side: 'from', ports: ['tcp/443'] };
  expect(() => ordered(state, only)).toThrow(`the preset ${policies[0]?.name} gives it, and no order changes a preset`);
});

test('labels that contradict each other are nobody, and no order is about nobody', () => {
  const labeled = peer('web-1', { labels: { env: 'prod' } });
  const state = stateWith(base, labeled, peer('db-1'));
  const order: OrderInput = { do: 'only', from: ['env=prod,env!=prod'], to: ['db-1'] };
  expect(() => ordered(state, order)).toThrow('one side is nobody');
});

test('a block that holds addresses of a network is refused with the word for its peers', () => {
  const state = stateWith(network('default'), base, peer('web-1'), peer('db-1'));
  expect(() => ordered(state, allow('10.0.0.0/8', 'db-1'))).toThrow('write network=default for its peers');
});
