import { invalidInput, MeshError } from '../base/errors.ts';
import type { Op } from '../base/ports.ts';
import type { StoredRecord } from '../base/record.ts';
import { overlaps, parseCidr } from '../model/cidr.ts';
import type { PolicySpec } from '../model/policy.ts';
import { DEFAULT_NETWORK, type NetworkRecord } from '../model/resources.ts';
import { sameValue } from '../model/value.ts';
import type { NetworkState } from '../state/state.ts';
import { isHostOf } from './address.ts';

export type ChangeOutcome = 'created' | 'updated' | 'unchanged' | 'deleted';

/** One change of a batch on its way to an op. */
export interface Planned {
  readonly index: number;
  readonly resource: 'MeshPolicy' | 'MeshNetwork' | 'MeshPeer';
  readonly name: string;
  readonly outcome: ChangeOutcome;
  op?: Op;
  /** What the record is before and after; neither for no change. */
  readonly before?: StoredRecord;
  next?: StoredRecord;
}

/** What must hold of the networks of a batch once all of it is done. */
export function checkNetworks(after: NetworkState, planned: readonly Planned[]): void {
  for (const { resource, op, name, index, before, next } of planned) {
    if (resource !== 'MeshNetwork' || !op) continue;
    if (!next) {
      refuseUsedNetwork(after, name);
      continue;
    }
    const { spec } = next as NetworkRecord;
    const pointer = `/changes/${index}/spec/cidr`;
    for (const other of after.networks.values()) {
      const [a, b] = [parseCidr(spec.cidr), parseCidr(other.spec.cidr)];
      if (other.name !== name && a && b && overlaps(a, b)) {
        throw invalidInput([{ pointer, detail: `${spec.cidr} overlaps ${other.spec.cidr} of network ${other.name}.` }]);
      }
    }
    if (!before || sameValue((before as NetworkRecord).spec.cidr, spec.cidr)) continue;
    const outside = [...after.peers.values()].filter(
      (peer) => peer.spec.network === name && peer.status.address && !isHostOf(spec.cidr, peer.status.address),
    );
    if (outside.length > 0) {
      throw new MeshError('conflict', `${spec.cidr} leaves out addresses in use: ${listed(outside)}.`);
    }
  }
}

function refuseUsedNetwork(after: NetworkState, name: string): void {
  if (name === DEFAULT_NETWORK) {
    throw new MeshError('conflict', `The network ${DEFAULT_NETWORK} cannot be deleted: new devices join it.`);
  }
  const peers = [...after.peers.values()].filter(({ spec }) => spec.network === name);
  if (peers.length > 0) {
    throw new MeshError('conflict', `The network ${name} has peers: move or delete ${listed(peers)} first.`);
  }
  const policies = [...after.policies.values()].filter(({ spec }) => spec.network === name);
  if (policies.length > 0) {
    throw new MeshError('conflict', `Policies name the network ${name}: change or delete ${listed(policies)} first.`);
  }
}

/** A policy that is written names a network that is there, or none. */
export function checkReferences(state: NetworkState, after: NetworkState, planned: readonly Planned[]): void {
  for (const { resource, next, before, index } of planned) {
    if (resource !== 'MeshPolicy' || !next) continue;
    const { network } = next.spec as PolicySpec;
    if (network === undefined || after.networks.has(network)) continue;
    // A policy that already names a network which is gone may still be changed in other fields.
    if (before && (before.spec as PolicySpec).network === network && !state.networks.has(network)) continue;
    throw unknownNetwork(`/changes/${index}/spec/network`, network, after);
  }
}

export function unknownNetwork(pointer: string, network: string, { networks }: NetworkState): MeshError {
  const known = [...networks.keys()].slice(0, 10).join(', ');
  const detail = `There is no network ${JSON.stringify(network)}.`;
  return invalidInput([{ pointer, detail, offered: `${detail} There are: ${known || 'none'}.` }], detail);
}

const NAMES_SHOWN = 5;

function listed(records: readonly StoredRecord[]): string {
  const names = records.slice(0, NAMES_SHOWN).map(({ name }) => name);
  return records.length > NAMES_SHOWN
    ? `${names.join(', ')} and ${records.length - NAMES_SHOWN} more`
    : names.join(', ');
}
