import fc from 'fast-check';
import { expect, test } from 'vitest';
import { draftOf, type StoredOf, type StoredRecord } from '../core/base/record.ts';
import { formatInstant } from '../core/base/time.ts';
import { futureViews } from '../core/graph/future-views.ts';
import { deltaFor, type GraphSettings, graphFor } from '../core/graph/graph-for.ts';
import { plainSurroundings } from '../core/graph/plain-graph.testkit.ts';
import { ViewDeltas } from '../core/graph/view-delta.ts';
import { viewsOf } from '../core/graph/views.ts';
import { applyDelta, type FullGraph } from '../core/model/graph.ts';
import type { Selector } from '../core/model/policy.ts';
import { buildCompiler } from '../core/state/compiled.ts';
import { type NetworkState, nextState, stateOf, trackedState } from '../core/state/state.ts';
import { agent, network, peer, policy } from '../test/kits/records/records.ts';
import { runs } from '../test/kits/runs.ts';
import { affectedBy, type StateSnapshot } from './affected-peers.ts';

const NOW = 1_800_000_000_000;
const MINUTE_MS = 60_000;
const NAMES = Array.from({ length: 10 }, (_, nth) => `n${nth}`);
const PORTS = [22, 443];
const SETTINGS: GraphSettings = { epoch: 'e', reason: 'test', relay: null, stun: [], checkpoint: null };
const ROLES = ['web', 'db', undefined];

const role = fc.constantFrom(...ROLES);
const addresses = fc.shuffledSubarray(
  NAMES.map((_, nth) => `10.96.0.${nth + 1}`),
  { minLength: NAMES.length },
);
/** Who is delegated by whom: the root bounds the child, and the child the grandchild. */
const AGENTS = [
  agent('root'),
  agent('child', { parentRef: { name: 'root', namespace: 'prod' } }, { depth: 1 }),
  agent('grandchild', { parentRef: { name: 'child', namespace: 'prod' } }, { depth: 2 }),
];
const agentRef = fc.constantFrom(undefined, undefined, undefined, 'root', 'child', 'grandchild');

const selector = fc.constantFrom<Selector>(
  {},
  { matchLabels: { role: 'web' } },
  { matchLabels: { role: 'db' } },
  { matchExpressions: [{ key: 'role', operator: 'DoesNotExist' }] },
  { peers: ['u_n1'] },
);
const rule = fc.record({ peerSelector: selector, ports: fc.subarray(PORTS) }).map(({ peerSelector, ports }) => ({
  from: [{ peerSelector }],
  ...(ports.length > 0 && { ports: ports.map((port) => ({ protocol: 'TCP' as const, port })) }),
}));
const policies = fc.array(
  fc.record({
    name: fc.constantFrom('p0', 'p1', 'p2'),
    action: fc.constantFrom('ALLOW' as const, 'DENY' as const),
    peerSelector: selector,
    ingress: fc.array(rule, { minLength: 1, maxLength: 2 }),
    ends: fc.option(fc.integer({ min: 1, max: 4 })),
  }),
  { maxLength: 3 },
);
const devices = fc.array(
  fc.record({
    there: fc.boolean(),
    role,
    key: fc.constantFrom('A', 'B'),
    phase: fc.constantFrom('ready' as const, 'ready' as const, 'ready' as const, 'pending' as const),
    agentRef,
    ends: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 8 }),
  }),
  { minLength: NAMES.length, maxLength: NAMES.length },
);

/** The network is being renumbered, was, or never was; the block before had no room for some peers. */
const former = fc.constantFrom<StoredOf<'MeshNetwork'>['status']>(
  {},
  { former: { cidr: '10.95.0.0/29', phase: 'carried', until: '2100-01-01T00:00:00.000Z' } },
  { former: { cidr: '10.95.0.0/29', phase: 'resting', until: '2100-01-01T00:00:00.000Z' } },
);

const at = (minutes: number) => formatInstant(NOW + minutes * MINUTE_MS);
/** A network: its devices with their addresses in some order, so that one address goes from one to another. */
const records = fc
  .record({ addresses, devices, policies, defaultAction: fc.constantFrom('ALLOW' as const, 'DENY' as const), former })
  .map(({ addresses: order, devices: all, policies: rules, defaultAction, former: status }): StoredRecord[] => {
    const taken = new Set<string>();
    const peers = all.flatMap(({ there, role: label, key, phase, agentRef: ref, ends }, nth) => {
      if (!there) return [];
      const name = NAMES[nth] ?? '';
      // An agent has one device.
      const own = ref !== undefined && !taken.has(ref) ? ref : undefined;
      if (own) taken.add(own);
      return peer(name, {
        uid: `u_${name}`,
        labels: label ? { role: label } : {},
        publicKey: `${name}${key}`,
        phase,
        ...(phase === 'ready' && { address: order[nth] ?? '' }),
        ...(own && { agentRef: own }),
        ...(ends !== null && { expiresAt: at(ends) }),
      });
    });
    const named = new Map(
      rules.map(({ name, ends, ...spec }) => [
        name,
        policy(name, { ...spec, ...(ends !== null && { expiresAt: at(ends) }) }, { uid: name }),
      ]),
    );
    const net = { ...network('default', { uid: 'net', defaultAction }), status };
    return [net, ...AGENTS, ...peers, ...named.values()];
  });

test('what nodes hold after pushes is the graph built for each of them anew, whatever changes and however long each push takes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(records, fc.integer({ min: 0, max: 2 })), { minLength: 2, maxLength: 4 }),
      (steps) => {
        const states = { reachability: buildCompiler() };
        const held = new Map<string, FullGraph>();
        let before: StateSnapshot | undefined;
        let minutes = 0;
        for (const [now, later] of steps) {
          minutes += later;
          const state: NetworkState =
            before === undefined ? trackedState(stateOf('w', 1, now)) : moved(before.state, now);
          const after = { state, at: NOW + minutes * MINUTE_MS };
          push(states, held, before, after);
          expectPlain(states, held, after);
          before = after;
        }
      },
    ),
    { numRuns: runs(400) },
  );
});

type States = Parameters<typeof affectedBy>[0];

/** The state in which all this is stored instead, as one commit after the other would leave it. */
function moved(state: NetworkState, now: readonly StoredRecord[]): NetworkState {
  const names = (records: Iterable<StoredRecord>) => new Set([...records].map(({ kind, name }) => `${kind} ${name}`));
  const wanted = names(now);
  const all = [...state.peers.values(), ...state.policies.values(), ...state.networks.values()];
  const known = new Map(all.map((record) => [`${record.kind} ${record.name}`, record]));
  const deleted = all.filter(({ kind, name }) => !wanted.has(`${kind} ${name}`));
  const written = now.filter((record) => {
    const old = known.get(`${record.kind} ${record.name}`);
    return record.kind !== 'AgentIdentity' && JSON.stringify(old && draftOf(old)) !== JSON.stringify(draftOf(record));
  });
  const changes = [
    ...deleted.map((record) => ({ type: 'deleted' as const, record })),
    ...written.map((record) => ({ type: 'updated' as const, record })),
  ];
  return nextState(state, { revision: state.revision + 1, changes: changes as never });
}

/** Tells every node what the control plane would tell it. */
function push(
  states: States,
  held: Map<string, FullGraph>,
  before: StateSnapshot | undefined,
  after: StateSnapshot,
): void {
  const views = ({ state, at: when }: StateSnapshot) =>
    viewsOf(state, states.reachability(state, when), futureViews(states, state, when));
  const { state } = after;
  const told = new Set(state.peers.keys());
  const affected = before ? affectedBy(states, before, after, told) : told;
  const deltas = before && new ViewDeltas(views(before), views(after));
  for (const name of affected) {
    const is = state.peers.get(name);
    if (is?.status.phase !== 'ready') {
      held.delete(name);
      continue;
    }
    const was = before?.state.peers.get(name);
    const graph = held.get(name);
    if (graph === undefined || was === undefined || before === undefined || deltas === undefined) {
      held.set(name, graphFor(state, views(after), is, SETTINGS));
      continue;
    }
    const delta = deltaFor({ state: before.state, peer: was, version: graph.version }, state, deltas, is, SETTINGS);
    if (delta === undefined) continue;
    const next = applyDelta(graph, JSON.parse(JSON.stringify(delta)));
    if (next === undefined) throw new Error('A delta does not fit.');
    held.set(name, next);
  }
  for (const name of held.keys()) if (!state.peers.has(name)) held.delete(name);
}

function expectPlain(states: States, held: ReadonlyMap<string, FullGraph>, { state, at: when }: StateSnapshot): void {
  const now = states.reachability(state, when);
  const ahead = futureViews(states, state, when);
  for (const [name, record] of state.peers) {
    if (record.status.phase !== 'ready') continue;
    const graph = held.get(name);
    const plain = plainSurroundings(state, now, ahead, record);
    expect({ name, peers: graph?.peers, firewall: graph?.firewall }).toEqual({ name, ...plain });
    expect(graphFor(state, viewsOf(state, now, ahead), record, SETTINGS)).toMatchObject(plain);
  }
}
