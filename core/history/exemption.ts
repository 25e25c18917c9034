import type { NetworkChange } from '../changes/changes.ts';
import { containsRange, parseCidr } from '../model/cidr.ts';
import type { PeerEntry, PolicySpec, PortEntry, Rule, Selector } from '../model/policy.ts';
import { DIRECTIONS, type Direction, namesNoDirection, replacingRules } from '../model/policy-match.ts';
import type { PeerRecord, PolicyRecord } from '../model/resources.ts';
import { selects } from '../model/selector.ts';

/** A rule that is to spare one pair, by its place in the policy. */
export interface Exemption {
  readonly direction: Direction;
  readonly rule_index: number;
  /** Ports on which it stays for the pair. */
  readonly keeps: readonly PortEntry[];
  /** The peer that the policy selects, and the one at the other end. */
  readonly subject: PeerRecord;
  readonly other: PeerRecord;
}

/**
 * Changes of one DENY policy after which these rules spare these pairs and do all else that they did. Where it selects
 * more than the subject, the subject gets a policy of its own with the rest of the rules.
 */
export function withExemptions(
  { name, spec }: PolicyRecord,
  spared: readonly Exemption[],
  nameFor: (subject: string) => string,
): NetworkChange[] {
  const subjects = [...new Set(spared.map(({ subject }) => subject))];
  const selector = spec.peerSelector ?? {};
  const others = subjects.reduce<Selector | undefined>((left, { uid }) => left && leavingOut(left, uid), selector);
  const own = subjects.flatMap((subject) => {
    const rules = spared.filter((one) => one.subject === subject);
    const left = withRules(spec, rules, split);
    return left ? [{ subject, spec: { ...left, peerSelector: { ...selector, peers: [subject.uid] } } }] : [];
  });
  const [first, ...more] = own;
  const resource = 'MeshPolicy';
  if (!others && first && more.length === 0) return [{ action: 'update', resource, name, spec: first.spec }];
  return [
    others
      ? { action: 'update', resource, name, spec: { ...spec, peerSelector: others } }
      : { action: 'delete', resource, name },
    ...own.map((one): NetworkChange => {
      return { action: 'create', resource, name: nameFor(one.subject.name), spec: one.spec };
    }),
  ];
}

/** The change after which one policy no longer has these rules, for anyone. */
export function droppingRules({ name, spec }: PolicyRecord, spared: readonly Exemption[]): NetworkChange {
  const resource = 'MeshPolicy';
  const left = withRules(spec, spared, () => []);
  return left ? { action: 'update', resource, name, spec: left } : { action: 'delete', resource, name };
}

/** The policy with other rules for some; undefined where none is left, because without rules it would isolate. */
function withRules(spec: PolicySpec, spared: readonly Exemption[], instead: typeof split): PolicySpec | undefined {
  const next = replacingRules(spec, (rule, index) => {
    const one = spared.find(({ direction, rule_index: at }) => direction === rule.direction && at === index);
    return one ? instead(rule, one) : [rule];
  });
  for (const direction of DIRECTIONS) if (!next[direction]?.length && spec[direction]?.length) delete next[direction];
  return namesNoDirection(next) ? undefined : next;
}

type Side = Pick<Rule, 'peers' | 'ports'>;

/** Splits a rule into the rule for everyone else, and one for the other end on the ports that stay. */
function split({ peers, ports }: Side, { keeps, other }: Exemption): Side[] {
  const entries: readonly PeerEntry[] = peers.length > 0 ? peers : ['*'];
  const rest = entries.flatMap((entry) => entriesWithout(entry, other));
  const sides: Side[] = [];
  if (rest.length > 0) sides.push({ peers: rest, ports });
  if (keeps.length > 0) sides.push({ peers: [{ peerSelector: { peers: [other.uid] } }], ports: keeps });
  return sides;
}

const EVERY_ADDRESS = ['0.0.0.0/0', '::/0'] as const;

function entriesWithout(entry: PeerEntry, other: PeerRecord): PeerEntry[] {
  if (entry === '*') {
    const blocks = EVERY_ADDRESS.flatMap((cidr) => entriesWithout({ ipBlock: { cidr } }, other));
    return [{ peerSelector: { notPeers: [other.uid] } }, ...blocks];
  }
  const { peerSelector, ipBlock } = entry;
  if (peerSelector) {
    const left = selects(peerSelector, other) ? leavingOut(peerSelector, other.uid) : peerSelector;
    return left ? [{ peerSelector: left }] : [];
  }
  const { address } = other.status;
  const one = address === null ? undefined : `${address}/${address.includes(':') ? 128 : 32}`;
  const [block, own] = [ipBlock && parseCidr(ipBlock.cidr), one === undefined ? undefined : parseCidr(one)];
  if (!ipBlock || !block || !own || one === undefined || !containsRange(block, own)) return [entry];
  if (containsRange(own, block)) return [];
  return [{ ipBlock: { ...ipBlock, except: [...(ipBlock.except ?? []), one] } }];
}

/** Undefined where nobody would be left. */
function leavingOut(selector: Selector, uid: string): Selector | undefined {
  const { peers, notPeers = [] } = selector;
  if (!peers) return { ...selector, notPeers: [...new Set([...notPeers, uid])] };
  const left = peers.filter((id) => id !== uid);
  return left.length > 0 ? { ...selector, peers: left } : undefined;
}
