import type { NetworkChange } from '../changes/changes.ts';
import { containsRange, parseCidr } from '../model/cidr.ts';
import type { PeerEntry, PolicySpec, PortEntry, Selector } from '../model/policy.ts';
import type { PeerRecord, PolicyRecord } from '../model/resources.ts';
import { selects } from '../model/selector.ts';

/** A rule that is to spare one pair, by its place in the policy. */
export interface Spared {
  readonly direction: 'ingress' | 'egress';
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
export function sparing(
  { name, spec }: PolicyRecord,
  spared: readonly Spared[],
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
export function droppingRules({ name, spec }: PolicyRecord, spared: readonly Spared[]): NetworkChange {
  const resource = 'MeshPolicy';
  const left = withRules(spec, spared, () => []);
  return left ? { action: 'update', resource, name, spec: left } : { action: 'delete', resource, name };
}

/** The policy with other rules for some; undefined where none is left, because without rules it would isolate. */
function withRules(
  { ingress, egress, ...rest }: PolicySpec,
  spared: readonly Spared[],
  instead: typeof split,
): PolicySpec | undefined {
  const at = (direction: Spared['direction'], index: number) =>
    spared.find((one) => one.direction === direction && one.rule_index === index);
  const into = ingress?.flatMap((rule, index) => {
    const one = at('ingress', index);
    return one ? instead(rule.from, rule.ports, one).map(({ peers, ...on }) => ({ ...on, from: peers })) : [rule];
  });
  const out = egress?.flatMap((rule, index) => {
    const one = at('egress', index);
    return one ? instead(rule.to, rule.ports, one).map(({ peers, ...on }) => ({ ...on, to: peers })) : [rule];
  });
  const isGone = (left: readonly unknown[] | undefined, before: readonly unknown[] | undefined) =>
    left === undefined || (left.length === 0 && before?.length !== 0);
  const left = { ...(!isGone(into, ingress) && { ingress: into }), ...(!isGone(out, egress) && { egress: out }) };
  return Object.keys(left).length === 0 ? undefined : { ...rest, ...left };
}

interface Side {
  readonly peers: PeerEntry[];
  readonly ports?: PortEntry[];
}

/** Splits a rule into the rule for everyone else, and one for the other end on the ports that stay. */
function split(
  peers: readonly PeerEntry[] | undefined,
  ports: PortEntry[] | undefined,
  { keeps, other }: Spared,
): Side[] {
  const entries: readonly PeerEntry[] = peers?.length ? peers : ['*'];
  const rest = entries.flatMap((entry) => entriesWithout(entry, other));
  const sides: Side[] = [];
  if (rest.length > 0) sides.push({ peers: rest, ...(ports && { ports }) });
  if (keeps.length > 0) sides.push({ peers: [{ peerSelector: { peers: [other.uid] } }], ports: [...keeps] });
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
