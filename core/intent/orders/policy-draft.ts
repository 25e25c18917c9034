import { formatInstant, hasEnded } from '../../base/time.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import { subtract } from '../../effect/port-spans.ts';
import { lookUpById } from '../../model/find.ts';
import type { PeerEntry, PolicySpec, Rule, Selector } from '../../model/policy.ts';
import { begun, DIRECTIONS, endOf, isolates, rulesOf } from '../../model/policy-match.ts';
import { isOfAgent } from '../../model/presets.ts';
import type { PolicyRecord } from '../../model/resources.ts';
import { selectorWithin } from '../../model/selector-within.ts';
import { sameValue } from '../../model/value.ts';
import { ORDERED_BY, WRITTEN_BY } from '../../model/written-by.ts';
import type { Reachability } from '../../reachability/reachability.ts';
import type { NetworkState } from '../../state/state.ts';
import { spansOfEntries } from './order-ports.ts';
import { selectorName } from './policy-names.ts';
import { both } from './selectors.ts';
import { type Group, membersOf, merged } from './who.ts';

export type Direction = Rule['direction'];

/** Compiles a state at an instant, ms; without one at that of now. */
export type ReachOf = (state: NetworkState, at?: number) => Reachability;

/** A part of a group that is isolated in a direction, and until when (ms). */
export interface IsolatedPart {
  readonly group: Group;
  readonly endsAt: number;
}

interface Drafted {
  readonly record: PolicyRecord;
  /** Written by this draft: what others wrote is never added to or deleted. */
  readonly isOwn: boolean;
}

/** The policies of a network while orders are written into them. */
export class PolicyDraft {
  readonly #original: NetworkState;
  readonly #now: number;
  readonly #reachOf: ReachOf;
  readonly #takenNames: ReadonlySet<string>;
  #policies: ReadonlyMap<string, PolicyRecord>;
  #state: NetworkState;

  /** @param now ms */
  constructor(original: NetworkState, now: number, reachOf: ReachOf, takenNames: ReadonlySet<string> = new Set()) {
    this.#original = original;
    this.#now = now;
    this.#reachOf = reachOf;
    this.#takenNames = takenNames;
    this.#policies = original.policies;
    this.#state = original;
  }

  get state(): NetworkState {
    return this.#state;
  }

  reach(state: NetworkState = this.#state): Reachability {
    return this.#reachOf(state);
  }

  /** Goes back to an earlier state of this draft. */
  restore(state: NetworkState): void {
    this.#policies = state.policies;
    this.#state = state;
  }

  /** Policies in force. */
  active(): Drafted[] {
    return [...this.#policies.values()]
      .filter(({ spec }) => !hasEnded(spec, this.#now))
      .map((record) => ({ record, isOwn: !this.#original.policies.has(record.name) }));
  }

  put(name: string, spec: PolicySpec): void {
    const known = this.#policies.get(name);
    const record: PolicyRecord = { ...(known ?? newPolicy(name, this.#original)), spec };
    this.#set(new Map([...this.#policies, [name, record]]));
  }

  delete(name: string): void {
    const left = new Map(this.#policies);
    left.delete(name);
    this.#set(left);
  }

  /** Adds a policy of one rule: to one that this draft wrote for the same end, else a new one. */
  addRule(
    verb: string,
    part: IsolatedPart,
    direction: Direction,
    action: PolicySpec['action'],
    rules: readonly RuleText[],
  ): void {
    const { group } = part;
    const head = headOf(part, action);
    const withoutRules = (spec: PolicySpec) => ({ ...spec, ingress: undefined, egress: undefined });
    const governsAlone = (spec: PolicySpec) =>
      DIRECTIONS.every((one) => (rulesOf(spec, one) !== undefined) === (one === direction));
    const found = this.active().find(
      ({ record: { spec }, isOwn }) => isOwn && sameValue(withoutRules(spec), withoutRules(head)) && governsAlone(spec),
    );
    const rulesOfAll = [
      ...(found ? (rulesOf(found.record.spec, direction) ?? []).map(({ peers, ports }) => ({ peers, ports })) : []),
      ...rules,
    ];
    const spec = withRules(head, direction, joinRules(rulesOfAll));
    const end = direction === 'ingress' ? 'to' : 'from';
    this.put(found?.record.name ?? this.freeName(`${verb}-${end}-${selectorName(group, this.#state)}`), spec);
  }

  /**
   * Moves the end of a policy that earlier orders of the same owner wrote, in place of a new one that ends later beside it, and
   * the begin of one of those that wait, where the new one begins before it and lasts as long.
   */
  renew(owner: string, waiting: Iterable<PolicyRecord>): void {
    const isDelegated = lookUpById(this.#state.agents, owner)?.spec.parentRef !== undefined;
    // A policy that a person approved is no longer the agent's, and a delegated agent may change its own alone.
    const isOwners = ({ annotations }: PolicyRecord) =>
      annotations[ORDERED_BY] === owner && (!isDelegated || annotations[WRITTEN_BY] === owner);
    const later = [...waiting].filter(isOwners);
    for (const { record, isOwn } of this.active()) {
      if (!isOwn) continue;
      const wanted = lasting(record.spec);
      const former =
        this.active()
          .map((one) => one.record)
          .find(
            (one) =>
              this.#original.policies.get(one.name)?.spec === one.spec &&
              isOwners(one) &&
              endOf(one.spec) < endOf(record.spec) &&
              sameValue(lasting(one.spec), wanted),
          ) ?? later.find(({ spec }) => endOf(spec) <= endOf(record.spec) && sameValue(lasting(begun(spec)), wanted));
      if (!former) continue;
      this.delete(record.name);
      this.put(former.name, record.spec);
    }
  }

  /** Returns the policy in force that is what `addRule` would write anew but for its end, and of several the one that ends last. */
  like(
    part: IsolatedPart,
    direction: Direction,
    action: PolicySpec['action'],
    rules: readonly RuleText[],
  ): PolicyRecord | undefined {
    const wanted = lasting(withRules(headOf(part, action), direction, joinRules(rules)));
    const found = this.active().flatMap(({ record }) => (sameValue(lasting(record.spec), wanted) ? [record] : []));
    return found.toSorted((a, b) => endOf(b.spec) - endOf(a.spec))[0];
  }

  freeName(wanted: string): string {
    const taken = new Set(
      [...this.#policies.keys(), ...this.#original.policies.keys(), ...this.#takenNames].map((name) =>
        name.toLowerCase(),
      ),
    );
    for (let count = 1; ; count += 1) {
      const name = count === 1 ? wanted : `${wanted}-${count}`;
      if (!taken.has(name.toLowerCase())) return name;
    }
  }

  /** The parts of a group that policies or the default of a network isolate, now and later; not those of presets alone. */
  isolatedParts({ selector, network }: Group, direction: Direction, apartFrom?: string): IsolatedPart[] {
    const { peers, networks } = this.#state;
    const parts: IsolatedPart[] = [];
    for (const { name, spec } of networks.values()) {
      if (spec.defaultAction !== 'DENY' || (network !== undefined && network !== name)) continue;
      parts.push({ group: { selector, network: name }, endsAt: Number.POSITIVE_INFINITY });
    }
    for (const { record } of this.active()) {
      const { spec } = record;
      if (record.name === apartFrom || !isolates(spec, direction)) continue;
      if (isOfAgent(record) && selector.peers === undefined) continue;
      if (network !== undefined && spec.network !== undefined && spec.network !== network) continue;
      const of = spec.network ?? network;
      const within = { ...(of !== undefined && { network: of }) };
      const joined = this.#joined(selector, { ...within, selector: spec.peerSelector ?? {} });
      if (joined) parts.push({ group: { ...within, selector: joined }, endsAt: endOf(spec) });
    }
    const widest = parts.filter(
      (part, index) =>
        !parts.some(
          (other, at) => at !== index && covers(other, part, peers) && (at < index || !covers(part, other, peers)),
        ),
    );
    return [...Map.groupBy(widest, ({ endsAt }) => endsAt)].flatMap(([endsAt, same]) =>
      merged(same.map(({ group }) => group)).map((group) => ({ group, endsAt })),
    );
  }

  /** For peers that are listed, their present labels count. */
  #joined(selector: Selector, isolating: Group): Selector | undefined {
    const { peers } = this.#state;
    if (selectorWithin(selector, isolating.selector, peers) && selector.peers === undefined) return selector;
    const joined = both(selector, isolating.selector);
    if (joined?.peers === undefined) return joined;
    const members = membersOf({ ...isolating, selector: joined }, this.#state);
    return members.length === 0 ? undefined : { peers: members.map(({ uid }) => uid) };
  }

  /** Returns true if one part is isolated for as long as another one stands, whoever joins. */
  isWhole(group: Group, parts: readonly IsolatedPart[], endsAt = Number.POSITIVE_INFINITY): boolean {
    return parts.some((part) => covers(part, { group, endsAt }, this.#state.peers));
  }

  /** The difference to the original, as typed changes. */
  changes(): NetworkChange[] {
    const { policies } = this.#original;
    const gone = [...policies.keys()].flatMap((name): NetworkChange[] =>
      this.#policies.has(name) ? [] : [{ action: 'delete', resource: 'MeshPolicy', name }],
    );
    const written = [...this.#policies.values()].flatMap(({ name, spec }): NetworkChange[] => {
      const before = policies.get(name);
      if (before === undefined) return [{ action: 'create', resource: 'MeshPolicy', name, spec }];
      return sameValue(before.spec, spec) ? [] : [{ action: 'update', resource: 'MeshPolicy', name, spec }];
    });
    return [...gone, ...written];
  }

  #set(policies: ReadonlyMap<string, PolicyRecord>): void {
    this.#policies = policies;
    this.#state = { ...this.#state, policies };
  }
}

/** Returns a policy that orders write, but for its spec. */
export function newPolicy(name: string, { workspace, revision }: NetworkState): Omit<PolicyRecord, 'spec'> {
  const uid = `new ${name}`;
  const rest = { labels: {}, annotations: {}, createdAt: 0, generation: 1, status: {}, unique: [] };
  return { kind: 'MeshPolicy', workspace, name, uid, revision: revision + 1, ...rest };
}

function headOf({ group, endsAt }: IsolatedPart, action: PolicySpec['action']): PolicySpec {
  return {
    action,
    peerSelector: group.selector,
    ...(group.network !== undefined && { network: group.network }),
    ...(endsAt !== Number.POSITIVE_INFINITY && { expiresAt: formatInstant(endsAt) }),
  };
}

export function lasting({ expiresAt: _, ...spec }: PolicySpec): PolicySpec {
  return spec;
}

function covers(outer: IsolatedPart, inner: IsolatedPart, peers: NetworkState['peers']): boolean {
  const { network } = outer.group;
  if (network !== undefined && network !== inner.group.network) return false;
  return outer.endsAt >= inner.endsAt && selectorWithin(inner.group.selector, outer.group.selector, peers);
}

/** Entries and ports of a rule; no entries are anyone, no ports everything. */
export type RuleText = Pick<Rule, 'peers' | 'ports'>;

/** Returns a spec with other rules of one direction. */
export function withRules(spec: PolicySpec, direction: Direction, rules: readonly RuleText[]): PolicySpec {
  const ends = (peers: readonly PeerEntry[]) => (peers.length === 0 ? undefined : [...peers]);
  const ports = (rule: RuleText) => (rule.ports.length === 0 ? {} : { ports: [...rule.ports] });
  if (direction === 'ingress') {
    return {
      ...spec,
      ingress: rules.map((rule) => ({ ...(ends(rule.peers) && { from: [...rule.peers] }), ...ports(rule) })),
    };
  }
  return {
    ...spec,
    egress: rules.map((rule) => ({ ...(ends(rule.peers) && { to: [...rule.peers] }), ...ports(rule) })),
  };
}

/** Joins rules for the same others, or for the same ports. */
function joinRules(rules: readonly RuleText[]): RuleText[] {
  const joined: RuleText[] = [];
  for (const rule of rules) {
    const at = joined.findIndex(({ peers, ports }) => sameValue(peers, rule.peers) || sameValue(ports, rule.ports));
    const known = joined[at];
    if (!known) joined.push(rule);
    else if (sameValue(known.peers, rule.peers)) {
      const isWhole = known.ports.length === 0 || rule.ports.length === 0;
      joined[at] = { peers: known.peers, ports: isWhole ? [] : distinct([...known.ports, ...rule.ports]) };
    } else {
      const isWhole = known.peers.length === 0 || rule.peers.length === 0;
      joined[at] = { peers: isWhole ? [] : distinct([...known.peers, ...rule.peers]), ports: known.ports };
    }
  }
  return joined;
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** Returns true if a rule matches all that another one does, whoever joins. */
export function ruleCovers(outer: RuleText, inner: RuleText, peers: NetworkState['peers']): boolean {
  if (subtract(spansOfEntries(inner.ports), spansOfEntries(outer.ports)).length > 0) return false;
  if (outer.peers.length === 0 || outer.peers.includes('*')) return true;
  if (inner.peers.length === 0 || inner.peers.includes('*')) return false;
  return inner.peers.every((entry) =>
    outer.peers.some((other) => {
      if (entry === '*' || other === '*') return other === '*';
      if (entry.peerSelector && other.peerSelector)
        return selectorWithin(entry.peerSelector, other.peerSelector, peers);
      return sameValue(entry, other);
    }),
  );
}
