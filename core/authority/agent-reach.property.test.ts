import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agent, peer, policy, stateWith } from '../../test/kits/records/records.ts';
import type { Change } from '../base/ports.ts';
import type { PolicySpec } from '../model/policy.ts';
import type { PeerPhase, PeerRecord } from '../model/resources.ts';
import { compile } from '../reachability/engine.ts';
import { ALL_PORTS, PortSets } from '../reachability/port-sets.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { modelOf } from '../state/network-model.ts';
import { afterCommit, type NetworkState } from '../state/state.ts';
import { reachOf } from './agent-reach.ts';

const RUNS = process.env['MESH_LONG'] === '1' ? 20_000 : 1_000;
const NOW = Date.parse('2030-01-01T00:00:00Z');

const to = (role: string, port: number) => ({ to: [{ peerSelector: { matchLabels: { role } } }], ports: [{ port }] });
const below = (name: string) => ({ parentRef: { name, namespace: 'default' } });
/** A line of four, in which each delegated all that it has. */
const LINE = [
  agent('root', { reach: [to('web', 443), to('db', 5432)] }),
  agent('upper', below('root')),
  agent('middle', below('upper')),
  agent('lower', below('middle')),
];
/** A root agent has no peer of its own: what joins with its tokens is a device. */
const NAMES = LINE.slice(1).map(({ name }) => name);
const TARGETS = [
  peer('web-1', { labels: { role: 'web' }, address: '10.96.0.1' }),
  peer('db-1', { labels: { role: 'db' }, address: '10.96.0.2' }),
];

const event = fc.oneof(
  fc.record({
    does: fc.constantFrom('join', 'leave', 'revoke', 'admit', 'rename', 'end'),
    who: fc.constantFrom(...NAMES),
  }),
  fc.constant({ does: 'end', who: 'root' }),
  fc.record({ does: fc.constant('deny'), who: fc.constantFrom(...NAMES), port: fc.constantFrom(443, 5432) }),
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

/** What an event makes of a network; nothing where it cannot happen. */
function changesOf(state: NetworkState, { does, who, ...more }: Event, step: number): Change[] {
  const own = [...state.peers.values()].find(({ spec }) => spec.agentRef === who);
  const inPhase = (phase: PeerPhase): Change[] =>
    own ? [{ type: 'updated', before: own, record: { ...own, status: { ...own.status, phase } } }] : [];
  switch (does) {
    case 'join':
      return own ? [] : [{ type: 'created', record: peerOf(who, `${who}-${step}`) }];
    case 'leave':
      return own ? [{ type: 'deleted', record: own, before: own }] : [];
    case 'revoke':
      return inPhase('revoked');
    case 'admit':
      return inPhase('ready');
    case 'rename':
      return own
        ? [
            { type: 'deleted', record: own, before: own },
            { type: 'created', record: { ...own, name: `${who}-${step}` } },
          ]
        : [];
    case 'end': {
      const before = state.agents.get(who);
      if (!before) return [];
      return [{ type: 'updated', before, record: { ...before, status: { ...before.status, phase: 'Revoked' } } }];
    }
    default: {
      if (!own || !('port' in more)) return [];
      const spec: PolicySpec = {
        action: 'DENY',
        peerSelector: { peers: [own.uid] },
        egress: [{ ports: [{ port: more.port, protocol: 'TCP' }] }],
      };
      return [{ type: 'created', record: policy(`deny-${step}`, spec) }];
    }
  }
}

function peerOf(agentRef: string, name: string): PeerRecord {
  return peer(name, { agentRef, address: `10.96.0.${10 + NAMES.indexOf(agentRef)}` });
}

function after(state: NetworkState, changes: readonly Change[]): NetworkState {
  return changes.length === 0 ? state : afterCommit(state, { revision: state.revision + 1, changes });
}

/** The network with a ready peer for one agent, whatever has become of its own. */
function withPeerOf(state: NetworkState, who: string): { readonly state: NetworkState; readonly name: string } {
  const own = [...state.peers.values()].find(({ spec }) => spec.agentRef === who);
  const probe = own ? { ...own, status: { ...own.status, phase: 'ready' as const } } : peerOf(who, 'probe');
  const change: Change = own ? { type: 'updated', before: own, record: probe } : { type: 'created', record: probe };
  return { state: after(state, [change]), name: probe.name };
}

test('the engine holds the peer of an agent to the reach that its writes are held to, whatever becomes of the peers of its line', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 12 }), (events) => {
      let network = stateWith(...LINE, ...TARGETS);
      for (const [step, one] of events.entries()) network = after(network, changesOf(network, one, step));
      for (const who of NAMES) {
        const { state, name } = withPeerOf(network, who);
        const record = state.agents.get(who);
        if (record?.status.phase !== 'Active') continue;
        const model = modelOf(state, NOW);
        const reach = compile(model);
        // By policies alone.
        const unbound = compile({
          ...model,
          peers: model.peers.map((input) => (input.name === name ? { ...input, bound: undefined } : input)),
        });
        const ports = new PortSets();
        const within = reachOf({ state, reach, now: NOW }, record, ports);
        const allowed = (of: Reachability, dst: string) => {
          const open = of.allowed(name, dst);
          return open === 'ALL' ? ALL_PORTS : ports.ofRanges(open);
        };
        for (const target of TARGETS) {
          const expected = ports.meet(allowed(unbound, target.name), within(target));
          expect(`${who} ${target.name} ${allowed(reach, target.name)}`).toBe(`${who} ${target.name} ${expected}`);
        }
      }
    }),
    { numRuns: RUNS },
  );
});
