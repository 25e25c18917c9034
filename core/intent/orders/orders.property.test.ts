import fc from 'fast-check';
import { expect, test } from 'vitest';
import { network, peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import { MeshError } from '../../base/errors.ts';
import { type PolicySpec, type Protocol, policySpecSchema, type Selector } from '../../model/policy.ts';
import type { PeerRecord, PolicyRecord } from '../../model/resources.ts';
import { ORDERED_BY } from '../../model/written-by.ts';
import { compile } from '../../reachability/engine.ts';
import type { NetworkModel } from '../../reachability/model.ts';
import { naiveVerdict } from '../../reachability/naive.testkit.ts';
import { stateAt } from '../../state/begins.ts';
import { modelOf } from '../../state/network-model.ts';
import type { NetworkState } from '../../state/state.ts';
import { compileOrders } from './compile-orders.ts';
import { holdUnmet } from './judge-orders.ts';
import type { OrderInput } from './order.ts';
import { readHold, readOrders } from './read-orders.ts';
import { undoOf } from './undo.ts';

/*
 * Orders against an oracle that reads their words by itself, pair by pair and port by port, on the naive reading of policies:
 * it shares nothing with the compiler.
 */

const RUNS = process.env['MESH_LONG'] === '1' ? 20_000 : 500;
const NOW = Date.parse('2030-01-01T00:00:00Z');
const PORTS: readonly (readonly [Protocol, number?])[] = [
  ['TCP', 22],
  ['TCP', 80],
  ['TCP', 443],
  ['UDP', 53],
  ['ICMP'],
];
const OUTSIDE = { office: '203.0.113.7', elsewhere: '8.8.8.8' };

const PEERS = [
  peer('web-1', { uid: `p_${'a'.repeat(26)}`, labels: { role: 'web' }, address: '10.96.0.1' }),
  peer('web-2', { uid: `p_${'b'.repeat(26)}`, labels: { role: 'web', env: 'prod' }, address: '10.96.0.2' }),
  peer('db-1', { uid: `p_${'c'.repeat(26)}`, labels: { role: 'db', env: 'prod' }, address: '10.96.0.3' }),
  peer('db-2', { uid: `p_${'d'.repeat(26)}`, labels: { role: 'db', env: 'test' }, address: '10.96.0.4' }),
  peer('lap', { uid: `p_${'e'.repeat(26)}`, address: '10.96.0.5' }),
  peer('far-1', { uid: `p_${'f'.repeat(26)}`, labels: { role: 'web' }, network: 'far', address: '10.97.0.1' }),
  peer('wait-1', { uid: `p_${'g'.repeat(26)}`, labels: { role: 'db' }, phase: 'pending' }),
];
/** Peers that join after the orders. */
const LATER = [
  peer('new-web', { uid: `p_${'h'.repeat(26)}`, labels: { role: 'web', env: 'test' }, address: '10.96.0.8' }),
  peer('new-db', { uid: `p_${'i'.repeat(26)}`, labels: { role: 'db', env: 'prod' }, address: '10.96.0.9' }),
  peer('new-api', { uid: `p_${'j'.repeat(26)}`, labels: { role: 'api' }, address: '10.96.0.10' }),
];
const IDS = PEERS.map(({ uid }) => uid);

const selector: fc.Arbitrary<Selector> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  fc.constantFrom('web', 'db', 'api').map((role) => ({ matchLabels: { role } })),
  fc.constantFrom('prod', 'test').map((env) => ({ matchLabels: { env } })),
  fc.subarray(IDS, { minLength: 1, maxLength: 2 }).map((peers) => ({ peers })),
  fc.subarray(IDS, { minLength: 1, maxLength: 2 }).map((notPeers) => ({ notPeers })),
  fc.constantFrom<Selector>(
    { matchExpressions: [{ key: 'role', operator: 'NotIn', values: ['db'] }] },
    { matchExpressions: [{ key: 'env', operator: 'Exists' }] },
  ),
);
const entry = fc.oneof(
  { weight: 5, arbitrary: selector.map((peerSelector) => ({ peerSelector })) },
  { weight: 1, arbitrary: fc.constant('*' as const) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('203.0.113.0/24', '0.0.0.0/0', '10.96.0.0/30').map((cidr) => ({ ipBlock: { cidr } })),
  },
);
const port = fc.constantFrom(
  { port: 22 },
  { port: 80, endPort: 443 },
  { protocol: 'UDP' as const },
  { protocol: 'ICMP' as const },
);
const rules = fc.array(
  fc.record({
    peers: fc.option(fc.array(entry, { minLength: 1, maxLength: 2 }), { nil: undefined, freq: 3 }),
    ports: fc.option(fc.array(port, { minLength: 1, maxLength: 2 }), { nil: undefined, freq: 2 }),
  }),
  { maxLength: 2 },
);
const spec: fc.Arbitrary<PolicySpec> = fc
  .record({
    action: fc.constantFrom<PolicySpec['action'][]>('ALLOW', 'ALLOW', 'DENY'),
    peerSelector: selector,
    network: fc.option(fc.constantFrom('default', 'far'), { nil: undefined, freq: 5 }),
    ingress: fc.option(rules, { nil: undefined, freq: 3 }),
    egress: fc.option(rules, { nil: undefined, freq: 1 }),
  })
  .map(({ ingress, egress, ...rest }) =>
    JSON.parse(
      JSON.stringify({
        ...rest,
        ...(ingress && { ingress: ingress.map(({ peers: from, ports }) => ({ from, ports })) }),
        ...(egress && { egress: egress.map(({ peers: to, ports }) => ({ to, ports })) }),
      }),
    ),
  );
const base: fc.Arbitrary<PolicySpec[]> = fc.constantFrom<PolicySpec[]>([], [{ action: 'DENY', peerSelector: {} }]);
const scene = fc.record({
  isClosed: fc.boolean(),
  base,
  specs: fc.array(spec, { maxLength: 4 }),
});

const word = fc.constantFrom(
  ...[
    'web-1',
    'web-2',
    'db-1',
    'lap',
    'far-1',
    'wait-1',
    'role=web',
    'role=db',
    'role=db,env=prod',
    'env!=prod',
    'peers',
  ],
  ...['outside', 'anyone', 'network=default', 'network=far', '203.0.113.0/24', '10.96.0.4'],
);
const words = fc.uniqueArray(word, { minLength: 1, maxLength: 2 });
const except = fc.option(
  fc.uniqueArray(fc.constantFrom('web-2', 'role=db', 'env=prod', '203.0.113.0/24'), { minLength: 1, maxLength: 1 }),
  {
    nil: undefined,
    freq: 4,
  },
);
const orderOf = (...verbs: OrderInput['do'][]): fc.Arbitrary<OrderInput> =>
  fc
    .record({
      do: fc.constantFrom(...verbs),
      from: words,
      to: words,
      except_from: except,
      except_to: except,
      side: fc.option(fc.constantFrom<'to' | 'from'>('to', 'from'), { nil: undefined }),
      ports: fc.option(fc.constantFrom(['tcp/22'], ['tcp/80-443', 'udp'], ['icmp'], ['!tcp/22'], ['443', 'udp/53']), {
        nil: undefined,
        freq: 3,
      }),
    })
    .map(({ side, ...rest }) => JSON.parse(JSON.stringify({ ...rest, ...(rest.do === 'only' && { side }) })));

function stateOf({
  isClosed,
  base: first,
  specs,
}: {
  isClosed: boolean;
  base: PolicySpec[];
  specs: PolicySpec[];
}): NetworkState {
  return stateWith(
    network('default', { defaultAction: isClosed ? 'DENY' : 'ALLOW' }),
    network('far', { cidr: '10.97.0.0/24' }),
    ...PEERS,
    ...[...first, ...specs].map((one, index) => policy(`pol-${index}`, one)),
  );
}

// The oracle

function modelWith(state: NetworkState, later: readonly PeerRecord[], at = NOW): NetworkModel {
  const peers = new Map([...state.peers, ...later.map((one): [string, PeerRecord] => [one.name, one])]);
  const externals = Object.entries(OUTSIDE).map(([name, range]) => ({ name, range }));
  return { ...modelOf({ ...state, peers }, at), externals };
}

const ALL = [...PEERS, ...LATER];
const NAMES = [...ALL.map(({ name }) => name), ...Object.keys(OUTSIDE)];
const labelsOf = (name: string) => ALL.find((one) => one.name === name)?.labels;
const networkOf = (name: string) => ALL.find((one) => one.name === name)?.spec.network;

function isMeant(name: string, one: string): boolean {
  const isPeer = labelsOf(name) !== undefined;
  if (one === 'anyone') return true;
  if (one === 'peers') return isPeer;
  if (one === 'outside') return !isPeer;
  if (one === '203.0.113.0/24') return name === 'office';
  if (one === '10.96.0.4') return name === 'db-2';
  if (!one.includes('=')) return one === name;
  if (!isPeer) return false;
  return one.split(',').every((part) => {
    if (part.startsWith('network=')) return networkOf(name) === part.slice(8);
    const [key = '', value] = part.split(/!?=/);
    return (labelsOf(name)?.[key] === value) !== part.includes('!=');
  });
}

const isOn = (name: string, of: readonly string[], but: readonly string[] = []) =>
  of.some((one) => isMeant(name, one)) && !but.some((one) => isMeant(name, one));

function isPort([protocol, number]: (typeof PORTS)[number], of: readonly string[] = []): boolean {
  const is = (one: string) => {
    const [name = '', range = ''] = /^\d/.test(one) ? ['tcp', one] : one.split('/');
    if (name.toUpperCase() !== protocol) return false;
    const [from = '0', to = from] = range.split('-');
    return range === '' || (number !== undefined && number >= Number(from) && number <= Number(to));
  };
  const left = of.filter((one) => one.startsWith('!')).map((one) => one.slice(1));
  const named = of.filter((one) => !one.startsWith('!'));
  return (named.length === 0 || named.some(is)) && !left.some(is);
}

type Wanted = 'open' | 'closed' | 'same';

function wantedOf(order: OrderInput, src: string, dst: string, at: (typeof PORTS)[number]): Wanted {
  if (src === dst || !isPort(at, order.ports)) return 'same';
  const [from, to] = [isOn(src, order.from, order.except_from), isOn(dst, order.to, order.except_to)];
  if (order.do === 'only') {
    if (from && to) return 'open';
    return (order.side === 'from' ? from : to) ? 'closed' : 'same';
  }
  if (!from || !to) return 'same';
  return order.do === 'allow' ? 'open' : 'closed';
}

/** Undefined where orders contradict each other about a connection. */
function wantedOfAll(
  orders: readonly OrderInput[],
  src: string,
  dst: string,
  at: (typeof PORTS)[number],
): Wanted | undefined {
  const wanted = new Set(orders.map((order) => wantedOf(order, src, dst, at)).filter((one) => one !== 'same'));
  return wanted.size > 1 ? undefined : ([...wanted][0] ?? 'same');
}

const isHeld = (src: string, dst: string) => {
  const [one, other] = [networkOf(src), networkOf(dst)];
  return (one === undefined && other === undefined) || (one && other && one !== other) || [src, dst].includes('wait-1');
};

/** The model without the rules of its DENY policies. */
function undenied(model: NetworkModel): NetworkModel {
  const isRuled = ({ action, ingress, egress }: PolicySpec) =>
    action === 'DENY' && ((ingress?.length ?? 0) > 0 || (egress?.length ?? 0) > 0);
  return { ...model, policies: model.policies.filter(({ spec: of }) => !isRuled(policySpecSchema.parse(of))) };
}

function connections(model: NetworkModel): Set<string> {
  const open = new Set<string>();
  for (const src of NAMES)
    for (const dst of NAMES)
      for (const at of PORTS)
        if (src !== dst && naiveVerdict(model, src, dst, ...at)) open.add(`${src} ${dst} ${at.join(' ')}`);
  return open;
}

const LATER_NAMES = new Set(LATER.map(({ name }) => name));

interface Seen {
  readonly before: ReadonlySet<string>;
  readonly after: ReadonlySet<string>;
  readonly model: NetworkModel;
  readonly notChanged: readonly string[];
}

/** Returns the connections that are not as ordered. */
function faults(orders: readonly OrderInput[], { before, after, model, notChanged }: Seen): string[] {
  const open = undenied(model);
  return NAMES.flatMap((src) =>
    NAMES.flatMap((dst) =>
      PORTS.flatMap((at) => {
        if (src === dst) return [];
        const key = `${src} ${dst} ${at.join(' ')}`;
        const wanted = wantedOfAll(orders, src, dst, at);
        if (wanted === undefined) return isHeld(src, dst) ? [] : [`${key}: the orders contradict each other`];
        const [was, is] = [before.has(key), after.has(key)];
        const isLater = LATER_NAMES.has(src) || LATER_NAMES.has(dst);
        if (wanted === 'same') return was === is ? [] : [`${key}: ${was} to ${is}, and nobody asked`];
        if (wanted === 'open') {
          if (was && !is) return [`${key} closed by what should open it`];
          if (is || isHeld(src, dst)) return [];
          if (isLater && naiveVerdict(open, src, dst, ...at)) return [];
          return [`${key} stays closed`];
        }
        if (!was && is) return [`${key} opened by what should close it`];
        if (!is) return [];
        if (
          orders.some((one) => one.do === 'remove') &&
          (isLater || notChanged.some((one) => one.includes('No policy gives this')))
        )
          return [];
        return [`${key} stays open`];
      }),
    ),
  );
}

const reachOf = (state: NetworkState) => compile(modelOf(state, NOW));
const CONTEXT = { now: NOW, joins: [], isPersons: true, reachOf };
const read = (input: OrderInput[], state: NetworkState) => readOrders(input, state, { now: NOW, timeZone: 'UTC' });
const compiled = (input: OrderInput[], state: NetworkState) => compileOrders(read(input, state), state, CONTEXT);
const openAfter = (input: OrderInput[], state: NetworkState) =>
  [...connections(modelWith(compiled(input, state).after, []))].sort();

/** Undefined where the orders are refused, which changes nothing. */
function tried<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof MeshError && error.code === 'invalid_input') return undefined;
    throw error;
  }
}

const any = orderOf('allow', 'deny', 'only', 'remove');
const several = fc.oneof(
  { weight: 3, arbitrary: any.map((one) => [one]) },
  fc.array(any, { minLength: 2, maxLength: 3 }),
);

test('orders do exactly what they say, to all pairs and ports, those outside and those that join later too', {
  timeout: 900_000,
}, () => {
  const done = { allow: 0, deny: 0, only: 0, remove: 0, already: 0, several: 0 };
  fc.assert(
    fc.property(scene, several, (made, orders) => {
      const state = stateOf(made);
      const result = tried(() => compiled(orders, state));
      if (!result) return;
      for (const { do: verb } of orders) done[result.already ? 'already' : verb] += 1;
      if (orders.length > 1) done.several += 1;
      const model = modelWith(result.after, LATER);
      const seen = {
        before: connections(modelWith(state, LATER)),
        after: connections(model),
        model,
        notChanged: result.notChanged,
      };
      expect({ faults: faults(orders, seen), changes: result.changes }).toEqual({
        faults: [],
        changes: result.changes,
      });
    }),
    { numRuns: RUNS },
  );
  for (const count of Object.values(done)) expect(count).toBeGreaterThan(RUNS / 100);
});

/** Returns an allow that goes through each DENY that refusals of it name; undefined where it is refused all the same. */
function throughDenials(input: OrderInput, state: NetworkState): OrderInput | undefined {
  let order = input;
  for (let count = 0; count <= state.policies.size; count += 1) {
    try {
      compiled([order], state);
      return order;
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      const [, names] = /"through": (\[.*?\])/.exec(error.message) ?? [];
      if (names === undefined) return undefined;
      order = { ...order, through: JSON.parse(names) };
    }
  }
  throw new Error(`A refusal names ${order.through} again.`);
}

test('an allow through the policies that its refusal names opens exactly what it says, for later peers too', {
  timeout: 900_000,
}, () => {
  let count = 0;
  fc.assert(
    fc.property(scene, orderOf('allow'), (made, input) => {
      const state = stateOf(made);
      const order = throughDenials(input, state);
      if (!order?.through) return;
      count += 1;
      const result = compiled([order], state);
      const model = modelWith(result.after, LATER);
      const seen = { before: connections(modelWith(state, LATER)), after: connections(model), model };
      const wrong = faults([order], { ...seen, notChanged: result.notChanged });
      expect({ wrong, changes: result.changes }).toEqual({ wrong: [], changes: result.changes });
    }),
    { numRuns: RUNS },
  );
  expect(count).toBeGreaterThan(RUNS / 50);
});

/** A port of each set that the policies and orders here tell apart. */
const EACH_PORT: typeof PORTS = [...PORTS, ['TCP', 1], ['TCP', 100], ['UDP', 1], ['SCTP', 1]];

test('hold fails exactly where a connection is not as it says, or where it opens between no two peers', {
  timeout: 900_000,
}, () => {
  const found = { met: 0, unmet: 0 };
  fc.assert(
    fc.property(scene, any, (made, input) => {
      const state = stateOf(made);
      const hold = tried(() => readHold([input], state, { now: NOW, timeZone: 'UTC' }));
      if (!hold) return;
      const unmet = holdUnmet(hold, { after: state, is: reachOf(state) });
      const externals = Object.entries({ ...OUTSIDE, six: '2001:db8::1' }).map(([name, range]) => ({ name, range }));
      const model: NetworkModel = { ...modelWith(state, []), externals };
      const names = [...PEERS.map(({ name }) => name), ...externals.map(({ name }) => name)];
      const pairs = names.flatMap((src) => names.flatMap((dst) => (src === dst ? [] : [[src, dst] as const])));
      const isDecided = ([src, dst]: readonly [string, string]) => [src, dst].some((name) => labelsOf(name));
      const decided = pairs.filter(isDecided);
      const meant = decided.filter(([src, dst]) => EACH_PORT.some((at) => wantedOf(input, src, dst, at) === 'open'));
      const wrong = decided.some(([src, dst]) =>
        EACH_PORT.some((at) => {
          const wanted = wantedOf(input, src, dst, at);
          return wanted !== 'same' && (wanted === 'open') !== naiveVerdict(model, src, dst, ...at);
        }),
      );
      const isEmpty = ['allow', 'only'].includes(input.do) && meant.length === 0;
      found[unmet.length > 0 ? 'unmet' : 'met'] += 1;
      expect({ unmet, isWrong: unmet.length > 0 }).toEqual({ unmet, isWrong: wrong || isEmpty });
    }),
    { numRuns: RUNS },
  );
  for (const count of Object.values(found)) expect(count).toBeGreaterThan(RUNS / 50);
});

test('deny leaves nothing that a later ALLOW could open', { timeout: 900_000 }, () => {
  const done = { already: 0, written: 0 };
  fc.assert(
    fc.property(scene, orderOf('deny'), (made, order) => {
      const result = tried(() => compiled([order], stateOf(made)));
      if (!result) return;
      done[result.already ? 'already' : 'written'] += 1;
      const later = policy('later', { action: 'ALLOW', peerSelector: {}, ingress: [{}], egress: [{}] });
      const policies = new Map([...result.after.policies, [later.name, later]]);
      const open = connections(modelWith({ ...result.after, policies }, LATER));
      const left = NAMES.flatMap((src) =>
        NAMES.flatMap((dst) =>
          PORTS.filter(
            (at) => wantedOf(order, src, dst, at) === 'closed' && open.has(`${src} ${dst} ${at.join(' ')}`),
          ).map((at) => `${src} ${dst} ${at.join(' ')}`),
        ),
      );
      expect({ left, changes: result.changes }).toEqual({ left: [], changes: result.changes });
    }),
    { numRuns: RUNS },
  );
  for (const count of Object.values(done)) expect(count).toBeGreaterThan(RUNS / 50);
});

const HOUR = 3_600_000;

/** Returns a network after orders, whose new policies are known to be written for them. */
function ordered(input: OrderInput[], state: NetworkState, owner: string): NetworkState {
  const { after } = compileOrders(read(input, state), state, { ...CONTEXT, owner });
  const policies = [...after.policies].map(([name, record]): [string, PolicyRecord] => {
    const isNew = !state.policies.has(name);
    return [name, isNew ? { ...record, annotations: { [ORDERED_BY]: owner } } : record];
  });
  return { ...after, policies: new Map(policies) };
}

test('an order that is repeated with a later end is as if it had been given with that end at first, in the same policies', {
  timeout: 900_000,
}, () => {
  const done = { allow: 0, deny: 0, only: 0 };
  fc.assert(
    fc.property(scene, orderOf('allow', 'deny', 'only'), (made, order) => {
      const state = stateOf(made);
      const [shorter, longer] = [
        { ...order, for: '2h' },
        { ...order, for: '4h' },
      ];
      const once = tried(() => ordered([shorter], state, 'ada'));
      if (!once || once.policies === state.policies || once.policies.size === state.policies.size) return;
      const again = ordered([longer], once, 'ada');
      const direct = ordered([longer], state, 'ada');
      done[order.do as keyof typeof done] += 1;
      expect([...again.policies.keys()].sort()).toEqual([...once.policies.keys()].sort());
      const at = (of: NetworkState, hours: number) => [...connections(modelWith(of, LATER, NOW + hours * HOUR))].sort();
      expect(at(again, 0)).toEqual(at(once, 0));
      expect(at(again, 3)).toEqual(at(direct, 3));
      expect(at(again, 5)).toEqual(at(state, 5));
      const back = tried(() => compileOrders(read([shorter], again), again, { ...CONTEXT, owner: 'ada' }));
      if (back) expect(back).toMatchObject({ already: expect.anything(), changes: [] });
    }),
    { numRuns: RUNS / 5 },
  );
  for (const count of Object.values(done)) expect(count).toBeGreaterThan(RUNS / 250);
});

test('orders that begin later change nothing until then, and then do what they would do if they were given then', {
  timeout: 900_000,
}, () => {
  const begin = NOW + HOUR;
  const done = { allow: 0, deny: 0, only: 0 };
  const verbs = orderOf('allow', 'deny', 'only');
  fc.assert(
    fc.property(scene, fc.array(verbs, { minLength: 1, maxLength: 2 }), (made, orders) => {
      const state = stateOf(made);
      const waiting = orders.map((order) => ({ ...order, starts: '2030-01-01T01:00:00Z' }));
      const result = tried(() => compiled(waiting, state));
      if (!result || result.already) return;
      for (const { do: verb } of orders) done[verb as keyof typeof done] += 1;
      const at = (of: NetworkState, ms: number) => [...connections(modelWith(stateAt(of, ms), LATER, ms))].sort();
      const direct = compiled(orders, state).after;
      expect(result.after.policies).toBe(state.policies);
      expect(at(result.after, begin - 1)).toEqual(at(state, NOW));
      expect(at(result.after, begin)).toEqual(at(direct, begin));
      const undo = undoOf(waiting, { before: state, after: result.after }, CONTEXT);
      if (undo) expect(at(compiled(undo, result.after).after, begin)).toEqual(at(state, begin));
    }),
    { numRuns: RUNS },
  );
  for (const count of Object.values(done)) expect(count).toBeGreaterThan(RUNS / 50);
});

test('remove takes back an allow that opened all that it is about', { timeout: 900_000 }, () => {
  let count = 0;
  fc.assert(
    fc.property(scene, orderOf('allow'), (made, order) => {
      const state = stateOf(made);
      const opened = tried(() => compiled([order], state));
      if (!opened || opened.already) return;
      const before = connections(modelWith(state, []));
      const undo = undoOf([order], { before: state, after: opened.after }, CONTEXT);
      if (undo) expect(openAfter(undo, opened.after)).toEqual([...before].sort());
      const isNew = NAMES.every((src) =>
        NAMES.every((dst) =>
          PORTS.every((at) => wantedOf(order, src, dst, at) !== 'open' || !before.has(`${src} ${dst} ${at.join(' ')}`)),
        ),
      );
      if (!isNew) return;
      const remove = { ...order, do: 'remove' as const };
      if (!tried(() => compiled([remove], opened.after))) return;
      count += 1;
      expect(openAfter([remove], opened.after)).toEqual([...before].sort());
    }),
    { numRuns: RUNS },
  );
  expect(count).toBeGreaterThan(RUNS / 50);
});
