import { parseInstant } from '../base/time.ts';
import { containsRange, parseAddress, parseCidr } from './cidr.ts';
import type { PeerEntry, PolicySpec, Rule } from './policy.ts';
import { type Selectable, selects } from './selector.ts';

/*
 * The meaning of policies and their entries, for all code that reads them without the engine. This is the only such place;
 * `core/reachability/meaning.property.test.ts` checks that the engine agrees. docs/policy.md says the same in words.
 */

export const DIRECTIONS = ['ingress', 'egress'] as const satisfies readonly Rule['direction'][];
export type Direction = (typeof DIRECTIONS)[number];

/** The fields of a peer that policies match; a peer record has them. */
export interface MatchablePeer extends Selectable {
  readonly spec: { readonly network: string };
  readonly status: { readonly address: string | null };
}

/** Returns true if a policy names neither direction: it governs both, without rules. */
export function namesNoDirection({ ingress, egress }: PolicySpec): boolean {
  return ingress === undefined && egress === undefined;
}

/** Returns the rules of one direction; undefined where the policy does not govern it. */
export function rulesOf(spec: PolicySpec, direction: Direction): Rule[] | undefined {
  if (namesNoDirection(spec)) return [];
  if (direction === 'ingress') {
    return spec.ingress?.map(({ from, ports }) => ({ direction, peers: from ?? [], ports: ports ?? [] }));
  }
  return spec.egress?.map(({ to, ports }) => ({ direction, peers: to ?? [], ports: ports ?? [] }));
}

/** Returns the rules of both directions. */
export function allRulesOf(spec: PolicySpec): Rule[] {
  return DIRECTIONS.flatMap((direction) => rulesOf(spec, direction) ?? []);
}

type Written = Omit<Rule, 'direction'>;

/** Returns a policy with other rules in place of each, which governs the same directions. */
export function replacingRules(
  spec: PolicySpec,
  othersOf: (rule: Rule, index: number) => readonly Written[],
): PolicySpec {
  const written = (direction: Direction, end: 'from' | 'to') =>
    spec[direction] && {
      [direction]: rulesOf(spec, direction)
        ?.flatMap(othersOf)
        .map(({ peers, ports }) => ({ ...(peers.length > 0 && { [end]: peers }), ...(ports.length > 0 && { ports }) })),
    };
  return { ...spec, ...written('ingress', 'from'), ...written('egress', 'to') };
}

/** Returns true if a policy isolates its subjects: default deny. A DENY with rules closes only the connections of its rules. */
export function isolates(spec: PolicySpec, direction: Direction): boolean {
  const rules = rulesOf(spec, direction);
  return rules !== undefined && (spec.action === 'ALLOW' || rules.length === 0);
}

/** The instant from which a policy no longer counts, ms. */
export function endOf({ expiresAt }: Pick<PolicySpec, 'expiresAt'>): number {
  return expiresAt === undefined ? Number.POSITIVE_INFINITY : parseInstant(expiresAt);
}

/** Returns true if a stored policy waits for its begin: it counts for nothing, whatever time it is, until a job takes that off. */
export function waits(spec: unknown): boolean {
  return typeof spec === 'object' && spec !== null && 'startsAt' in spec && spec.startsAt !== undefined;
}

/** The instant at which a policy begins that waits, ms; before all others for one that has begun. */
export function beginOf({ startsAt }: Pick<PolicySpec, 'startsAt'>): number {
  return startsAt === undefined ? Number.NEGATIVE_INFINITY : parseInstant(startsAt);
}

/** Returns a policy as it counts once it has begun. */
export function begun(spec: PolicySpec): PolicySpec {
  if (spec.startsAt === undefined) return spec;
  const { startsAt: _, ...rest } = spec;
  return rest;
}

/** Returns true if a peer is a subject of a policy. */
export function isSubject(
  { network, peerSelector }: Pick<PolicySpec, 'network' | 'peerSelector'>,
  peer: MatchablePeer,
): boolean {
  return (network === undefined || network === peer.spec.network) && selects(peerSelector ?? {}, peer);
}

/** Returns true if the entries of a rule match anyone, addresses outside included. */
export function matchesAnyone(entries: readonly PeerEntry[] | undefined): boolean {
  return !entries?.length || entries.includes('*');
}

/** Returns true if the entries of a rule match a peer, by a selector or by its address in the network. */
export function entriesMatch(entries: readonly PeerEntry[] | undefined, peer: MatchablePeer): boolean {
  return matchesAnyone(entries) || (entries ?? []).some((entry) => entryMatches(entry, peer));
}

/**
 * Returns true if an entry matches a peer. A block that cannot be parsed matches no peer; an exception that cannot be parsed
 * covers its whole block.
 */
function entryMatches(entry: PeerEntry, peer: MatchablePeer): boolean {
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
