import { createHash } from 'node:crypto';
import type { Change } from '../base/ports.ts';
import { effectOf } from '../effect/effect.ts';
import { lookUpById } from '../model/find.ts';
import { AGENT_LABEL, PARENT_LABEL } from '../model/presets.ts';
import { DEFAULT_NETWORK, type PeerRecord, type PolicyRecord } from '../model/resources.ts';
import { selects } from '../model/selector.ts';
import { sameValue } from '../model/value.ts';
import { isOpen } from '../state/agent-tree.ts';
import { afterCommit, type NetworkState } from '../state/state.ts';
import type { NetworkStates } from '../state/states.ts';
import { blocksOf, freeAddresses, stretchesOf } from './free-addresses.ts';
import {
  type JoinGrant,
  type Labels,
  labelClasses,
  labelSetsOf,
  labelsJoining,
  type NamedLabels,
  namedLabels,
  selectorsOf,
} from './label-sets.ts';
import type { Comparison } from './state-after.ts';

/** Devices that a change is tried with at most. Beyond it what opens to those that join later counts as unknown. */
export const MAX_NEWCOMERS = 512;

type States = Pick<Comparison, 'before' | 'after'>;

/** A change with those in it who may join later. */
export interface Joined extends States {
  /** Added devices by name, as sentences call them; devices that wait are among them. */
  readonly newcomers: ReadonlyMap<string, string>;
}

/**
 * The change as it meets every kind of device that may join later, and those that wait to be let in: devices with no labels
 * and with those of each token that is out, at every address that policies tell apart; sub-agents; and for each selector of
 * a policy that changes, where it means nobody today, devices that it means. Undefined where these are too many to try.
 */
export function withNewcomers(change: States, joins: readonly JoinGrant[]): Joined | undefined {
  const { before, after } = change;
  const devices: PeerRecord[] = [];
  const newcomers = new Map<string, string>();
  for (const { labels, network, address } of kindsOf(change, joins)) {
    const text = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
    const where = [
      ...(before.networks.size > 1 ? [` in ${network}`] : []),
      ...(text.length > 0 ? [` with ${text.join(', ')}`] : []),
      ...(address === undefined ? [] : [` at ${address}`]),
    ].join('');
    const whose = address === undefined ? ['every device', 'every other device'] : ['a device'];
    for (const who of whose) {
      if (devices.length >= MAX_NEWCOMERS) return undefined;
      const name = `${who} that joins later${where}`;
      newcomers.set(name, name);
      devices.push(newcomer({ name, labels, network, ...(address !== undefined && { address }) }, before));
    }
  }
  const waiting = waitingIn(change);
  for (const name of waiting.names) newcomers.set(name, `the device ${name}, once it is let in,`);
  return {
    before: joined(before, [...devices, ...waiting.before]),
    after: joined(after, [...devices, ...waiting.after]),
    newcomers,
  };
}

interface KindOfDevice extends JoinGrant {
  readonly address?: string;
}

/** Each kind once, as far as policies can tell them apart. */
function* kindsOf(change: States, joins: readonly JoinGrant[]): Generator<KindOfDevice> {
  const states = [change.before, change.after];
  const named = namedLabels(states);
  const classOf = labelClasses(named);
  const blocks = states.flatMap(blocksOf);
  const known = new Set<string>();
  const isNew = ({ labels, network }: JoinGrant) => {
    const key = `${network} ${classOf(labels)}`;
    return known.size < known.add(key).size;
  };
  for (const [name, network] of change.before.networks) {
    if (!change.after.networks.has(name)) continue;
    const kinds = [{ labels: {}, network: name }].filter(isNew);
    const own = joins.filter((one) => one.network === name);
    for (const kind of labelsJoining(own, named)) {
      if (isNew(kind)) kinds.push(kind);
      if (kinds.length > MAX_NEWCOMERS) break;
    }
    yield* kinds;
    for (const address of freeAddresses(network, stretchesOf(network, blocks), states)) {
      for (const kind of kinds) yield { ...kind, address };
    }
    for (const labels of labelsMeant(change, name))
      if (isNew({ labels, network: name })) yield { labels, network: name };
  }
}

/** Labels of the sub-agents of today's agents, and those by which policies that change mean peers that are not there. */
function* labelsMeant(change: States, network: string): Generator<Labels> {
  const { before } = change;
  if (network === DEFAULT_NETWORK) {
    for (const agent of before.agents.values()) {
      if (isOpen(agent)) yield { [AGENT_LABEL]: 'any', [PARENT_LABEL]: agent.uid };
    }
  }
  const peers = [...before.peers.values()].filter((peer) => isReady(peer) && peer.spec.network === network);
  for (const { spec } of policiesThatDiffer(change)) {
    if (spec.network !== undefined && spec.network !== network) continue;
    for (const selector of selectorsOf(spec)) {
      if (!peers.some((peer) => selects(selector, peer))) yield* labelSetsOf(selector);
    }
  }
}

export function policiesThatDiffer({ before, after }: States): PolicyRecord[] {
  const differ = (policies: NetworkState['policies'], others: NetworkState['policies']) =>
    [...policies.values()].filter(({ name, spec }) => !sameValue(others.get(name)?.spec, spec));
  return [...differ(before.policies, after.policies), ...differ(after.policies, before.policies)];
}

/** Peers that are not let in after the change either, in each state as they would be. */
function waitingIn({ before, after }: States) {
  const waits = ({ peers }: NetworkState) => [...peers.values()].filter((peer) => !isReady(peer));
  const gone = waits(before).filter(({ uid }) => !lookUpById(after.peers, uid));
  const left = waits(after);
  const were = left.flatMap(({ uid }) => lookUpById(before.peers, uid) ?? []);
  return {
    before: [...gone, ...were].map(letIn),
    after: left.map(letIn),
    names: new Set([...gone, ...were, ...left].map(({ name }) => name)),
  };
}

function isReady({ status }: PeerRecord): boolean {
  return status.phase === 'ready';
}

/** As it is once it is let in. */
function letIn(peer: PeerRecord): PeerRecord {
  return { ...peer, status: { ...peer.status, phase: 'ready' } };
}

/**
 * The same change as it would meet a peer that joins later, one for each policy that is written: one with the labels that
 * the policy selects, or, where it lists peers, those of them that are not let in today. A policy that shuts nobody off
 * today may shut off who comes tomorrow.
 */
export function* newcomerViews(
  { before, after, now }: Pick<Comparison, 'before' | 'after' | 'now'>,
  states: Pick<NetworkStates, 'reachability'>,
): Generator<Comparison> {
  for (const { name, spec } of after.policies.values()) {
    if (sameValue(before.policies.get(name)?.spec, spec)) continue;
    const { peerSelector = {}, network = DEFAULT_NETWORK } = spec;
    const [labels] = labelSetsOf(peerSelector);
    const peers = peerSelector.peers
      ? peerSelector.peers.flatMap((id) => lookUpById(before.peers, id) ?? []).filter((peer) => !isReady(peer))
      : labels
        ? [newcomer({ name: `a device that joins later for ${name}`, labels, network }, before)]
        : [];
    if (peers.length === 0) continue;
    const [old, next] = [joined(before, peers.map(letIn)), joined(after, peers.map(letIn))];
    const [was, is] = [states.reachability(old, now), states.reachability(next, now)];
    yield { before: old, after: next, was, is, effect: effectOf(was, is), now };
  }
}

/** A state with these peers in it, new ones or others of the same id. */
function joined(state: NetworkState, records: readonly PeerRecord[]): NetworkState {
  if (records.length === 0) return state;
  const changes = records.map((record): Change => {
    const old = lookUpById(state.peers, record.uid);
    return { type: old ? 'updated' : 'created', record, ...(old && { before: old }) };
  });
  return afterCommit(state, { revision: state.revision + 1, changes });
}

/**
 * Returns a state with one device of each kind that joins with some tokens, those without labels apart. Undefined where
 * these are too many to judge.
 */
export function withThoseOf(
  state: NetworkState,
  joins: readonly JoinGrant[],
  named: NamedLabels,
): NetworkState | undefined {
  const kinds = new Map<string, JoinGrant>();
  for (const { labels, network } of labelsJoining(joins, named)) {
    const text = Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .sort();
    if (text.length > 0 && state.networks.has(network))
      kinds.set(`${network} with ${text.join(', ')}`, { labels, network });
    if (kinds.size > MAX_NEWCOMERS) return undefined;
  }
  const devices = [...kinds].map(([where, { labels, network }]) => {
    const device = newcomer({ name: `a device that joins later in ${where}`, labels, network }, state);
    return { ...device, spec: { ...device.spec, publicKey: ANY_KEY } };
  });
  return joined(state, devices);
}

/** No device joins without a WireGuard key: the base point of Curve25519, which no device has. */
const ANY_KEY = `CQ${'A'.repeat(41)}=`;

interface NewcomerInput {
  /** With a space in it, which no name of a peer has. Its id follows from it: the same device is the same each time. */
  readonly name: string;
  readonly labels: Labels;
  readonly network: string;
  readonly address?: string;
}

/** A ready peer that is not there yet. */
function newcomer(
  { name, labels, network, address }: NewcomerInput,
  { workspace, revision }: NetworkState,
): PeerRecord {
  const spec = { displayName: '', hostname: '', platform: 'linux', publicKey: '', network } as const;
  const status = { phase: 'ready', address: address ?? null } as const;
  const uid = `newcomer ${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
  const base = { kind: 'MeshPeer', name, uid, labels, annotations: {}, unique: [] } as const;
  return { ...base, spec, status, workspace, revision, createdAt: 0, generation: 1 };
}
