import { eachOrFaults } from '../base/each-or-faults.ts';
import { type FieldError, invalidInput, MeshError } from '../base/errors.ts';
import type { StoredRecord } from '../base/record.ts';
import { type IpRange, overlaps, parseCidr } from '../model/cidr.ts';
import { reservedText, specialRangeIn } from '../model/network-blocks.ts';
import { DEFAULT_NETWORK } from '../model/resources.ts';
import { type NetworkState, writtenPolicies } from '../state/state.ts';
import { isHostOf } from './address.ts';
import type { PlannedChange } from './planned-change.ts';

/** Checks the networks of a batch as they are once all of it is done. */
export function checkNetworks(
  after: NetworkState,
  planned: readonly PlannedChange[],
  reserved: readonly ReservedRange[],
): void {
  eachOrFaults(planned, (one) => checkNetwork(after, one, reserved));
}

/** Addresses that no network may hold, with the text that names them. */
export interface ReservedRange {
  readonly text: string;
  readonly range: IpRange;
}

/** Returns why a network may not have a block; undefined where it may. Does not judge whether the block is public. */
export function refusalOfBlock(cidr: string, reserved: readonly ReservedRange[]): string | undefined {
  const block = parseCidr(cidr);
  if (!block) return `${cidr} is no block of addresses.`;
  const special = specialRangeIn(block);
  if (special) {
    return `${reservedText(cidr, special)}. Choose a private block, such as 10.97.0.0/24.`;
  }
  const held = reserved.find(({ range }) => overlaps(range, block));
  if (!held) return undefined;
  return `${cidr} holds ${held.text}, by which nodes reach the control plane, its bus, relay or STUN server: they would lose it. Choose another block, such as 10.97.0.0/24.`;
}

function checkNetwork(
  after: NetworkState,
  { resource, op, name, index, before, next }: PlannedChange,
  reserved: readonly ReservedRange[],
): void {
  if (resource !== 'MeshNetwork' || !op) return;
  if (next?.kind !== 'MeshNetwork') {
    refuseUsedNetwork(after, name);
    return;
  }
  const { spec } = next;
  const pointer = `/changes/${index}/spec/cidr`;
  for (const other of after.networks.values()) {
    if (other.name !== name && isOverlapping(spec.cidr, other.spec.cidr)) {
      throw invalidInput([{ pointer, detail: `${spec.cidr} overlaps ${other.spec.cidr} of network ${other.name}.` }]);
    }
    const { former } = other.status;
    if (former && isOverlapping(spec.cidr, former.cidr)) {
      const detail = `${spec.cidr} overlaps ${former.cidr}, which nodes may still use: the network ${other.name} was renumbered a moment ago. Choose another block, or try again after ${former.until}.`;
      throw invalidInput([{ pointer, detail }]);
    }
  }
  const was = before?.kind === 'MeshNetwork' ? before.spec.cidr : undefined;
  // A network that has its block from before these rules keeps it.
  if (was === spec.cidr) return;
  const refused = refusalOfBlock(spec.cidr, reserved);
  if (refused !== undefined) throw invalidInput([{ pointer, detail: refused }]);
  if (was === undefined) return;
  const outside = [...after.peers.values()].filter(
    (peer) => peer.spec.network === name && peer.status.address && !isHostOf(spec.cidr, peer.status.address),
  );
  if (outside.length > 0) {
    const remedy = `To give all peers other addresses, choose a block that does not overlap ${was}.`;
    throw new MeshError('conflict', `${spec.cidr} leaves out addresses in use: ${listed(outside)}. ${remedy}`);
  }
}

function isOverlapping(one: string, other: string): boolean {
  const [a, b] = [parseCidr(one), parseCidr(other)];
  return a !== undefined && b !== undefined && overlaps(a, b);
}

function refuseUsedNetwork(after: NetworkState, name: string): void {
  if (name === DEFAULT_NETWORK) {
    throw new MeshError('conflict', `The network ${DEFAULT_NETWORK} cannot be deleted: new devices join it.`);
  }
  const peers = [...after.peers.values()].filter(({ spec }) => spec.network === name);
  if (peers.length > 0) {
    throw new MeshError('conflict', `The network ${name} has peers: move or delete ${listed(peers)} first.`);
  }
  const policies = [...writtenPolicies(after).values()].filter(({ spec }) => spec.network === name);
  if (policies.length > 0) {
    throw new MeshError('conflict', `Policies name the network ${name}: change or delete ${listed(policies)} first.`);
  }
}

/** A policy that is written names a network that is there, or none. */
export function checkReferences(state: NetworkState, after: NetworkState, planned: readonly PlannedChange[]): void {
  eachOrFaults(planned, ({ next, before, index }) => {
    if (next?.kind !== 'MeshPolicy') return;
    const { network } = next.spec;
    if (network === undefined || after.networks.has(network)) return;
    // A policy that already names a network which is gone may still be changed in other fields.
    if (before?.kind === 'MeshPolicy' && before.spec.network === network && !state.networks.has(network)) return;
    throw unknownNetwork(`/changes/${index}/spec/network`, network, after);
  });
}

export function unknownNetwork(pointer: string, network: string, state: Pick<NetworkState, 'networks'>): MeshError {
  const error = unknownNetworkAt(pointer, network, state.networks.keys());
  return invalidInput([error], error.detail);
}

export function unknownNetworkAt(pointer: string, network: string, known: Iterable<string>): FieldError {
  const detail = `There is no network ${JSON.stringify(network)}.`;
  const names = () => [...known].slice(0, 10).join(', ') || 'none';
  return { pointer, detail, offered: () => `${detail} There are: ${names()}.` };
}

const NAMES_SHOWN = 5;

function listed(records: readonly StoredRecord[]): string {
  const names = records.slice(0, NAMES_SHOWN).map(({ name }) => name);
  return records.length > NAMES_SHOWN
    ? `${names.join(', ')} and ${records.length - NAMES_SHOWN} more`
    : names.join(', ');
}
