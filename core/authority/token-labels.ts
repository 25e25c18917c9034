import type { TokenSpec } from '../identity/token-record.ts';
import { newId } from '../ids.ts';
import { type AgentRecord, DEFAULT_NETWORK, type PeerRecord } from '../network/resources.ts';
import { afterCommit, type NetworkState } from '../network/state.ts';
import type { NetworkStates } from '../network/states.ts';
import { ALL_PORTS, NO_PORTS, PortSets } from '../reachability/port-sets.ts';
import { reachOf } from './reach-of.ts';
import type { Write } from './writes.ts';

interface Issued {
  readonly states: Pick<NetworkStates, 'reachability'>;
  readonly state: NetworkState;
  readonly writes: readonly Write[];
  readonly now: number;
}

/**
 * Labels of join tokens that an agent makes and that would let a device reach more than the agent may, as sentences. What
 * the device may reach without them is held to the agent's reach by its delegation bound alone.
 */
export function labelsBeyond(agent: AgentRecord | undefined, { states, state, writes, now }: Issued): string[] {
  return writes.flatMap(({ type, kind, after }) => {
    const spec = after?.spec as TokenSpec | undefined;
    if (type !== 'created' || kind !== 'Token' || spec?.kind !== 'join') return [];
    const found = firstBeyond(agent, spec, { states, state, now });
    return found === undefined ? [] : [`the labels of the join token ${spec.name} let a device reach ${found}`];
  });
}

function firstBeyond(
  agent: AgentRecord | undefined,
  { labels, network = DEFAULT_NETWORK }: TokenSpec,
  { states, state, now }: Omit<Issued, 'writes'>,
): string | undefined {
  if (Object.keys(labels).length === 0 && network === DEFAULT_NETWORK) return undefined;
  const [plain, labelled] = [device({}, DEFAULT_NETWORK), device(labels, network)];
  const changes = [plain, labelled].map((record) => ({ type: 'created' as const, record: record }));
  const tried = states.reachability(afterCommit(state, { revision: state.revision + 1, changes }), now);
  const ports = new PortSets();
  const within = agent ? reachOf(state, states.reachability(state, now), agent, ports) : () => NO_PORTS;
  const setOf = (from: PeerRecord, to: string) => {
    const allowed = tried.allowed(from.name, to);
    return allowed === 'ALL' ? ALL_PORTS : ports.ofRanges(allowed);
  };
  for (const peer of state.peers.values()) {
    const more = ports.minus(setOf(labelled, peer.name), setOf(plain, peer.name));
    if (ports.minus(more, within(peer)) !== NO_PORTS) return peer.name;
  }
  return undefined;
}

/** A device that is not there. Its name has a space, which no name of a peer has. */
function device(labels: Readonly<Record<string, string>>, network: string): PeerRecord {
  const uid = newId('p');
  const spec = { displayName: '', hostname: '', platform: 'linux', publicKey: '', network } as const;
  const status = { phase: 'ready', address: null } as const;
  const base = { kind: 'MeshPeer', name: `device ${uid}`, uid, labels, annotations: {}, unique: [] } as const;
  return { ...base, spec, status, workspace: '', revision: 0, createdAt: 0, generation: 1 };
}
