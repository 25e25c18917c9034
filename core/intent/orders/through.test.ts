import { expect, test } from 'vitest';
import { peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import type { PolicySpec } from '../../model/policy.ts';
import { compile } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import type { NetworkState } from '../../state/state.ts';
import { compileOrders } from './compile-orders.ts';
import type { OrderInput } from './order.ts';
import { readOrders } from './read-orders.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const reachOf = (of: NetworkState) => compile(modelOf(of, NOW));
const PEERS = [
  peer('web-1', { labels: { role: 'web' }, address: '10.96.0.1' }),
  peer('web-2', { labels: { role: 'web' }, address: '10.96.0.2' }),
  peer('lab', { address: '10.96.0.3' }),
  peer('db-1', { labels: { role: 'db' }, address: '10.96.0.4' }),
  peer('db-2', { labels: { role: 'db' }, address: '10.96.0.5' }),
];
const DB = { matchLabels: { role: 'db' } };
const NO_DB: PolicySpec = { action: 'DENY', peerSelector: DB, ingress: [{}] };

const sceneOf = (spec: PolicySpec) => stateWith(policy('no-db', spec), ...PEERS);

function ordered(state: NetworkState, order: Partial<OrderInput>) {
  const input: OrderInput = { do: 'allow', from: ['role=web'], to: ['db-1'], ports: ['tcp/443'], ...order };
  const orders = readOrders([input], state, { now: NOW, timeZone: 'UTC' });
  const { changes, after } = compileOrders(orders, state, { now: NOW, joins: [], isPersons: true, reachOf });
  const reach = reachOf(after);
  return {
    changes: changes.map(({ action, name }) => `${action} ${name}`),
    isOpen: (src: string, dst: string, port = 443) => reach.verdict(src, dst, 'TCP', port),
  };
}

test('through makes a hole in a DENY for exactly the ordered pairs and ports', () => {
  const { changes, isOpen } = ordered(sceneOf(NO_DB), { through: ['no-db'] });
  expect(changes).toEqual(['update no-db', 'create no-db-db-1']);
  expect([isOpen('web-1', 'db-1'), isOpen('web-2', 'db-1')]).toEqual([true, true]);
  expect([isOpen('web-1', 'db-1', 22), isOpen('web-1', 'db-2'), isOpen('lab', 'db-1')]).toEqual([false, false, false]);
});

test('a DENY of which nothing is left is deleted, and never begins to isolate', () => {
  const spec: PolicySpec = {
    action: 'DENY',
    peerSelector: DB,
    ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }] }],
  };
  const { changes, isOpen } = ordered(sceneOf(spec), { to: ['role=db'], ports: undefined, through: ['no-db'] });
  expect(changes).toEqual(['delete no-db']);
  expect([isOpen('web-1', 'db-2', 22), isOpen('lab', 'db-1')]).toEqual([true, true]);
});

test('a hole goes through the rules of both ends', () => {
  const both: PolicySpec = { action: 'DENY', peerSelector: {}, ingress: [{}], egress: [{}] };
  const { isOpen } = ordered(sceneOf(both), { through: ['no-db'] });
  expect([isOpen('web-1', 'db-1'), isOpen('web-2', 'db-1')]).toEqual([true, true]);
  expect([isOpen('db-1', 'web-1'), isOpen('web-1', 'db-2'), isOpen('lab', 'db-1')]).toEqual([false, false, false]);
});

test('without through the refusal names the policy, and says through', () => {
  const told = '"allow role=web to db-1 on tcp/443" does not open web-1 to db-1 on TCP 443: the policy no-db denies it';
  expect(() => ordered(sceneOf(NO_DB), {})).toThrow(told);
  expect(() => ordered(sceneOf(NO_DB), {})).toThrow('make a hole in it with "through": ["no-db"]');
});

test.each<[Partial<OrderInput>, string]>([
  [{ through: ['nodb'] }, 'There is no policy "nodb". Did you mean'],
  [{ through: ['no-db'], for: '2h' }, 'A hole in a DENY does not close by itself'],
  [{ do: 'deny', through: ['no-db'] }, 'through is for allow'],
  [{ to: ['lab'], through: ['no-db'] }, 'The policy no-db denies none of this'],
])('%j is refused', (order, fault) => {
  expect(() => ordered(sceneOf(NO_DB), order)).toThrow(fault);
});

test('a policy that only isolates needs no hole', () => {
  const closed = sceneOf({ action: 'DENY', peerSelector: DB });
  expect(() => ordered(closed, { through: ['no-db'] })).toThrow('no-db is no DENY with rules');
  expect(ordered(closed, {}).isOpen('web-1', 'db-1')).toBe(true);
});
