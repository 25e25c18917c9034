import type { EgressRule, Protocol } from '../core/model/policy.ts';
import type { PeerRecord } from '../core/model/resources.ts';
import type { PeerInput } from '../core/reachability/model.ts';
import { naiveVerdict } from '../core/reachability/naive.testkit.ts';
import { modelOf } from '../core/state/network-model.ts';
import type { NetworkState } from '../core/state/state.ts';
import type { GrantedAgent, Ledger } from './authority-scene.ts';

/** What connections are asked about. A set of them is a number with a bit for each. */
export const POINTS: readonly (readonly [Protocol, number?])[] = [
  ['TCP', 22],
  ['TCP', 80],
  ['TCP', 5432],
  ['UDP', 53],
  ['ICMP'],
];

/** Somebody who is no peer. */
export const OUTSIDE = { name: 'outside', range: '203.0.113.0/24' } as const;

/** Who could open what at one instant, by the second reading of the rules. */
export interface View {
  readonly state: NetworkState;
  readonly now: number;
  /** By uid. */
  readonly peers: ReadonlyMap<string, PeerRecord>;
  /** Points that `src` may open at `dst`, by uid; `outside` stands for itself. */
  open(src: string, dst: string): number;
}

export function viewOf(state: NetworkState, now: number): View {
  const peers = new Map([...state.peers.values()].map((peer) => [peer.uid, peer]));
  const model = { ...modelOf(state, now), externals: [OUTSIDE] };
  const rows = new Map<string, number>();
  const nameOf = (uid: string) => peers.get(uid)?.name ?? uid;
  return {
    state,
    now,
    peers,
    open(src, dst) {
      const key = `${src} ${dst}`;
      const known =
        rows.get(key) ?? pointsWhere((protocol, port) => naiveVerdict(model, nameOf(src), nameOf(dst), protocol, port));
      rows.set(key, known);
      return known;
    },
  };
}

function pointsWhere(holds: (protocol: Protocol, port?: number) => boolean): number {
  return POINTS.reduce((set, [protocol, port], bit) => (holds(protocol, port) ? set | (1 << bit) : set), 0);
}

export function pointsText(set: number): string {
  return POINTS.filter((_, bit) => set & (1 << bit))
    .map((point) => point.join(' '))
    .join(', ');
}

/** What egress rules let anybody open at a peer, whatever the policies say. */
function permitted(rules: readonly EgressRule[], dst: PeerRecord | undefined): number {
  const base = { network: 'n', labels: {} } as const;
  const target: PeerInput[] = dst
    ? [{ ...base, name: 'dst', uid: dst.uid, labels: dst.labels, address: dst.status.address ?? undefined }]
    : [];
  const model = {
    networks: [{ name: 'n', cidr: '0.0.0.0/0', defaultAction: 'ALLOW' as const }],
    peers: [{ ...base, name: 'src', bound: { reach: rules } }, ...target],
    policies: [],
    externals: [OUTSIDE],
    now: 0,
  };
  return pointsWhere((protocol, port) => naiveVerdict(model, 'src', dst ? 'dst' : OUTSIDE.name, protocol, port));
}

/** What a person let the root of an agent's line reach. */
export function shownReach(ledger: Ledger, agent: GrantedAgent, dst: PeerRecord | undefined): number {
  return permitted(lineOf(ledger, agent).at(-1)?.reach ?? [], dst);
}

/** What an agent was granted at a peer: the reach of its root less what each delegation down to it left out. */
export function grantedReach(ledger: Ledger, agent: GrantedAgent, dst: PeerRecord | undefined): number {
  const line = lineOf(ledger, agent);
  return line.slice(0, -1).reduce((left, member) => left & presetReach(member, dst), shownReach(ledger, agent, dst));
}

function presetReach({ uid, parent, preset, egress }: GrantedAgent, dst: PeerRecord | undefined): number {
  const relatives = [uid, parent].map((id) => ({
    peerSelector: { matchLabels: { 'mesh.internal/parent': id ?? '' } },
  }));
  switch (preset) {
    case 'isolated':
      return 0;
    case 'sandboxed':
      return permittedOrNothing(egress, dst);
    case 'coordinator':
      return permitted([...egress, { to: relatives }], dst);
    case 'inherit':
      return 2 ** POINTS.length - 1;
    default:
      return preset satisfies never;
  }
}

function permittedOrNothing(rules: readonly EgressRule[], dst: PeerRecord | undefined): number {
  return rules.length === 0 ? 0 : permitted(rules, dst);
}

/** An agent and its ancestors, nearest first. */
export function lineOf(ledger: Ledger, agent: GrantedAgent): GrantedAgent[] {
  const parent = agent.parent === undefined ? undefined : ledger.agents.get(agent.parent);
  return [agent, ...(parent ? lineOf(ledger, parent) : [])];
}

/** Whether one agent is another or descends from it. */
export function isBelow(ledger: Ledger, agent: string | undefined, top: string): boolean {
  const found = agent === undefined ? undefined : ledger.agents.get(agent);
  return found !== undefined && lineOf(ledger, found).some(({ uid }) => uid === top);
}

export function isEnded(ledger: Ledger, agent: GrantedAgent, { agents }: NetworkState, now: number): boolean {
  const records = new Map([...agents.values()].map((record) => [record.uid, record]));
  return lineOf(ledger, agent).some(({ uid, endsAt }) => {
    const phase = records.get(uid)?.status.phase;
    return (phase !== 'Active' && phase !== 'Pending') || endsAt <= now;
  });
}
