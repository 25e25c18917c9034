import { parseInstant } from '../base/time.ts';
import { containsRange, parseAddress, parseCidr } from './cidr.ts';
import type { PeerEntry, PolicySpec, Rule } from './policy.ts';
import { type Selectable, selects } from './selector.ts';

/*
 * What a policy and its entries mean, for all who read them without the engine: one place, which the engine is held to by
 * `core/reachability/meaning.property.test.ts`. docs/policy.md says the same in words.
 */

type Direction = Rule['direction'];

/** What policies look at in a peer; a stored one is such. */
export interface Meant extends Selectable {
  readonly spec: { readonly network: string };
  readonly status: { readonly address: string | null };
}

/** The rules of one direction; undefined where the policy says nothing about it. One that names neither is about both. */
export function rulesOf(spec: PolicySpec, direction: Direction): Rule[] | undefined {
  if (spec.ingress === undefined && spec.egress === undefined) return [];
  if (direction === 'ingress') {
    return spec.ingress?.map(({ from, ports }) => ({ direction, peers: from ?? [], ports: ports ?? [] }));
  }
  return spec.egress?.map(({ to, ports }) => ({ direction, peers: to ?? [], ports: ports ?? [] }));
}

/** Whether whom a policy selects keep nothing by default. A DENY with rules closes what these say and leaves the rest. */
export function isolates(spec: PolicySpec, direction: Direction): boolean {
  const rules = rulesOf(spec, direction);
  return rules !== undefined && (spec.action === 'ALLOW' || rules.length === 0);
}

/** The instant from which a policy no longer counts, ms. */
export function endOf({ expiresAt }: Pick<PolicySpec, 'expiresAt'>): number {
  return expiresAt === undefined ? Number.POSITIVE_INFINITY : parseInstant(expiresAt);
}

/** Whether a policy has a say on a peer as the subject. */
export function isSubject(
  { network, peerSelector }: Pick<PolicySpec, 'network' | 'peerSelector'>,
  peer: Meant,
): boolean {
  return (network === undefined || network === peer.spec.network) && selects(peerSelector ?? {}, peer);
}

/** Whether the other end of a rule is anyone at all, addresses outside included. */
export function meansAnyone(entries: readonly PeerEntry[] | undefined): boolean {
  return !entries?.length || entries.includes('*');
}

/** Whether the other end of a rule means a peer, by what it is or by its address in the network. */
export function entriesMean(entries: readonly PeerEntry[] | undefined, peer: Meant): boolean {
  return meansAnyone(entries) || (entries ?? []).some((entry) => entryMeans(entry, peer));
}

/** What cannot be read means nobody, and a hole that cannot be read is all of its block. */
function entryMeans(entry: PeerEntry, peer: Meant): boolean {
  if (entry === '*') return true;
  if (entry.peerSelector) return selects(entry.peerSelector, peer);
  const block = parseCidr(entry.ipBlock?.cidr ?? '');
  const { address: own } = peer.status;
  const address = own === null ? undefined : parseAddress(own);
  if (!block || !address || !containsRange(block, address)) return false;
  return !(entry.ipBlock?.except ?? []).some((text) => {
    const hole = parseCidr(text);
    return hole === undefined || containsRange(hole, address);
  });
}
