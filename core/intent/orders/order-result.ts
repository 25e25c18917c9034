import { type PortSpan, spansOf, spanText } from '../../effect/port-spans.ts';
import { holderOf, isOfAgent } from '../../model/presets.ts';
import type { PolicyRecord } from '../../model/resources.ts';
import { explain } from '../../reachability/explain.ts';
import type { Blocker } from '../../reachability/explanation.ts';
import { countPairs, examplesOf, pairsBetween, placeGroups } from '../../reachability/pairs-between.ts';
import { NO_PORTS, type PortSetId } from '../../reachability/port-sets.ts';
import type { Reachability } from '../../reachability/reachability.ts';
import type { NetworkState } from '../../state/state.ts';
import { extend } from '../verify/expectations.ts';
import { portEntriesOf } from './order-ports.ts';
import type { Region } from './regions.ts';
import { endsOfSide } from './who.ts';

/** Policies that make so what holds already, as many as are named. */
export const MAX_NAMED = 20;
/** Reasons for what stays otherwise than ordered, as many as are told. */
export const MAX_TOLD = 100;

/** Connections that are not as an order says, all for the same reason. */
export interface UnmetPairs {
  readonly count: number;
  /** A connection of those that stay. */
  readonly src: string;
  readonly dst: string;
  readonly ports: string;
  readonly reason: string;
  /** True where a stage above policies holds them, or an order cannot change them; false where a policy contradicts. */
  readonly isHeld: boolean;
  /** The DENY that wins over an allow. */
  readonly deniedBy?: string;
  /** The policy of an agent's preset that gives what an order closes. */
  readonly preset?: string;
}

/** Returns the connections that are not as regions say, joined by their reason. */
export function unmetPairs(regions: readonly Region[], state: NetworkState, whole: Reachability): UnmetPairs[] {
  const found = new Map<string, UnmetPairs>();
  for (const region of regions) {
    for (const pair of unmetIn(region, state, whole)) {
      const known = found.get(pair.reason);
      found.set(pair.reason, known ? { ...known, count: known.count + pair.count } : pair);
    }
  }
  return [...found.values()];
}

function* unmetIn(region: Region, state: NetworkState, whole: Reachability): Generator<UnmetPairs> {
  const { side, spans } = region;
  const compared = compare(region, state, whole);
  if (!compared) {
    yield {
      count: 1,
      src: 'outside',
      dst: 'peers',
      ports: spanText(spans),
      reason: 'more ranges of addresses than can be compared',
      isHeld: false,
    };
    return;
  }
  const { reach, titles, groups } = compared;
  for (const { pairs, unmet, example } of groups) {
    if (unmet === NO_PORTS) continue;
    const [src, dst] = example;
    const told = reasonOf(reach, src, dst, unmet, side, state);
    if (!told) continue;
    const ports = spanText(spansOf(reach.parts.ports.describe(unmet)));
    yield { count: pairs, src: titles.get(src) ?? src, dst: titles.get(dst) ?? dst, ports, ...told };
  }
}

interface ComparedGroup {
  readonly pairs: number;
  /** Ports that are as the region says, and those that are not. */
  readonly met: PortSetId;
  readonly unmet: PortSetId;
  readonly example: readonly [src: string, dst: string];
}

/** The connections of a region by groups; undefined for more ranges of addresses than can be compared. */
function compare(
  { side, from, to, spans }: Region,
  state: NetworkState,
  whole: Reachability,
):
  | {
      readonly reach: Reachability;
      readonly titles: ReadonlyMap<string, string>;
      readonly groups: Iterable<ComparedGroup>;
    }
  | undefined {
  const extended = extend(whole, endsOfSide(from, state), endsOfSide(to, state));
  if (!extended) return undefined;
  const { reach, sides, titles } = extended;
  const { ports } = reach.parts;
  const asked = ports.ofEntries(portEntriesOf(spans));
  function* groups(): Generator<ComparedGroup> {
    for (const group of pairsBetween(reach, placeGroups(reach, sides[0]), placeGroups(reach, sides[1]))) {
      const [example] = examplesOf(reach, group, 1);
      // Mesh decides nothing between addresses outside.
      if (!example || (titles.has(example[0]) && titles.has(example[1]))) continue;
      const open = ports.meet(group.ports, asked);
      const closed = ports.minus(asked, open);
      const [met, unmet] = side === 'opened' ? [open, closed] : [closed, open];
      yield { pairs: countPairs(group), met, unmet, example };
    }
  }
  return { reach, titles, groups: { [Symbol.iterator]: groups } };
}

export const OPEN_BY_DEFAULT = 'No policy gives this: use deny or only';

type Told = Pick<UnmetPairs, 'reason' | 'isHeld' | 'deniedBy' | 'preset'>;

function reasonOf(
  reach: Reachability,
  src: string,
  dst: string,
  wrong: PortSetId,
  side: Region['side'],
  state: NetworkState,
): Told | undefined {
  const [first] = spansOf(reach.parts.ports.describe(wrong));
  const { blocked_by, steps } = explain(reach, { src, dst, protocol: first?.protocol, port: first?.from });
  if (side === 'closed') {
    const givers = steps.flatMap(({ policy, reason_code }) =>
      reason_code === 'ALLOWED_BY_RULE' && policy !== null ? [policy] : [],
    );
    const preset = givers.flatMap((name) => presetIn(state, name) ?? [])[0];
    if (preset) {
      const { name } = preset;
      return { reason: `the preset of ${holderOf(preset)} gives it (${name})`, isHeld: true, preset: name };
    }
    if (givers.length === 0) return { reason: OPEN_BY_DEFAULT, isHeld: true };
    return { reason: `the policy ${givers[0]} gives it`, isHeld: false };
  }
  // The first stage that stops it is the one to name.
  return blocked_by.map((blocker) => heldBy(blocker, state)).sort((a, b) => Number(b.isHeld) - Number(a.isHeld))[0];
}

function presetIn({ policies }: NetworkState, name: string): PolicyRecord | undefined {
  const policy = policies.get(name);
  return isOfAgent(policy) ? policy : undefined;
}

function heldBy({ reason_code, policy }: Blocker, state: NetworkState): Told {
  switch (reason_code) {
    case 'DIFFERENT_NETWORK':
      return { reason: 'they are in different networks', isHeld: true };
    case 'PEER_PENDING':
      return { reason: 'a peer awaits approval', isHeld: true };
    case 'PEER_REVOKED':
      return { reason: 'a peer is revoked', isHeld: true };
    case 'PEER_EXPIRED':
      return { reason: 'a peer has ended', isHeld: true };
    case 'DELEGATION_BOUND':
      return { reason: 'it is more than the agent was delegated', isHeld: true };
    default:
  }
  const preset = policy === null ? undefined : presetIn(state, policy);
  if (preset) return { reason: `the preset of ${holderOf(preset)} holds it (${policy})`, isHeld: true };
  if (policy !== null && (reason_code === 'EGRESS_DENIED_BY_RULE' || reason_code === 'INGRESS_DENIED_BY_RULE'))
    return { reason: `the policy ${policy} denies it`, isHeld: false, deniedBy: policy };
  const isolation = policy === null ? 'the default of the network' : `the policy ${policy}`;
  return { reason: `no policy allows it, and ${isolation} isolates`, isHeld: false };
}

/** Returns unmet connections as a sentence. */
export function unmetText({ count, src, dst, ports, reason }: UnmetPairs): string {
  const more = count > 1 ? ` (and ${count - 1} more)` : '';
  return `${src} to ${dst}${more} on ${ports}: ${reason}`;
}

/** Returns true if a region has a connection between those there are now. */
export function hasPair(region: Region, state: NetworkState, whole: Reachability): boolean {
  const compared = compare(region, state, whole);
  return !compared?.groups[Symbol.iterator]().next().done;
}

/** Returns the number of pairs that are as regions say on all of their ports. */
export function countMet(regions: readonly Region[], state: NetworkState, whole: Reachability): number {
  const groups = regions.flatMap((region) => [...(compare(region, state, whole)?.groups ?? [])]);
  return groups.reduce((sum, { pairs, unmet }) => sum + (unmet === NO_PORTS ? pairs : 0), 0);
}

/** Returns true if a connection of a region is as it says, on some port. */
export function isMetSomewhere(region: Region, state: NetworkState, whole: Reachability): boolean {
  return [...(compare(region, state, whole)?.groups ?? [])].some(({ met }) => met !== NO_PORTS);
}

/** Returns policies that make an order hold already; none where it is the default. */
export function madeSoBy(region: Region, state: NetworkState, whole: Reachability): string[] {
  const names = new Set<string>();
  const [first]: readonly PortSpan[] = region.spans;
  const compared = compare(region, state, whole);
  if (!compared) return [];
  for (const { met, example } of compared.groups) {
    if (met === NO_PORTS) continue;
    const [src, dst] = example;
    const { steps, blocked_by } = explain(compared.reach, { src, dst, protocol: first?.protocol, port: first?.from });
    for (const { policy } of region.side === 'opened' ? steps : blocked_by) if (policy !== null) names.add(policy);
    if (names.size >= MAX_NAMED) break;
  }
  return [...names].slice(0, MAX_NAMED);
}
