import type { PeerEntry } from '../../core/model/policy.ts';
import { OUTSIDE } from '../../core/model/ranges.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { namesOf } from './names.ts';
import type { Subject } from './subject.ts';

/** Who is meant by addresses, and who is no peer. */

const WORLD = ['0.0.0.0/0', '::/0'] as const;

/** Addresses, whoever has them. */
export function addresses(cidr: string, state: NetworkState, isInside: (address: string) => boolean): Subject {
  const peers = [...namesOf(state).byAddress].filter(([address]) => isInside(address)).map(([, peer]) => peer);
  return {
    everyone: false,
    selector: undefined,
    entries: [{ ipBlock: { cidr } }],
    outsiders: [],
    peers,
    terms: [cidr],
    slug: cidr.replaceAll(/[^a-z0-9.]+/g, '-'),
    noun: cidr,
    excepted: [],
  };
}

/** Every address that belongs to no network of the workspace. */
export function outside(state: NetworkState): Subject {
  return {
    everyone: false,
    selector: undefined,
    entries: outsideEntries(state),
    outsiders: [],
    peers: [],
    terms: [OUTSIDE],
    slug: 'outside',
    noun: 'addresses outside of the network',
    excepted: [],
  };
}

export function outsideEntries(state: NetworkState): PeerEntry[] {
  const inside = [...state.networks.values()].map(({ spec }) => spec.cidr);
  const isV6 = (cidr: string) => cidr.includes(':');
  return WORLD.map((cidr) => {
    const except = inside.filter((own) => isV6(own) === isV6(cidr));
    return { ipBlock: { cidr, ...(except.length > 0 && { except }) } };
  });
}
