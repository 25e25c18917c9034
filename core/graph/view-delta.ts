import { getOrInsertComputed } from '../base/get-or-insert.ts';
import {
  type DeltaGraph,
  type FirewallEntry,
  type FirewallRules,
  type GraphPeer,
  inOrder,
  ruleKey,
  sameJson,
} from '../model/graph.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { Block, GraphView } from './view.ts';
import type { GraphViews } from './views.ts';

/** The part of a delta that follows from the network. */
export interface NetworkDelta extends Pick<DeltaGraph, 'peers'>, Pick<DeltaGraph['firewall'], 'delta'> {}

const NO_RULES: FirewallRules = { in: [], out: [] };
export const NOTHING: NetworkDelta = {
  peers: { added: [], updated: [], removed: [] },
  delta: { added: NO_RULES, removed: NO_RULES },
};

/** Differences between views before and after, made once for all nodes that saw the one and see the other. */
export class ViewDeltas {
  readonly before: GraphViews;
  readonly after: GraphViews;
  readonly #made = new Map<GraphView, Map<GraphView, ViewDelta>>();

  constructor(before: GraphViews, after: GraphViews) {
    this.before = before;
    this.after = after;
  }

  /** Returns the delta for a node, by its peer record before and now. */
  of(was: PeerRecord, is: PeerRecord): ViewDelta {
    const [before, after] = [this.before.of(was), this.after.of(is)];
    const deltas = getOrInsertComputed(this.#made, before, () => new Map<GraphView, ViewDelta>());
    return getOrInsertComputed(deltas, after, () => new ViewDelta(before, after));
  }
}

/** A peer as others saw it before and see it now; at least one of them exists. */
interface Difference {
  readonly id: string;
  readonly before: Block | undefined;
  readonly after: Block | undefined;
}

class ViewDelta {
  readonly #differing: ReadonlySet<string>;
  readonly #parts: Parts;
  readonly #whole: NetworkDelta | undefined;

  constructor({ blocks: before }: GraphView, { blocks: after }: GraphView) {
    const differences = [...new Set([...before.keys(), ...after.keys()])]
      .sort()
      .map((id) => ({ id, before: before.get(id), after: after.get(id) }))
      .filter((difference) => !isSame(difference));
    this.#differing = new Set(differences.map(({ id }) => id));
    this.#parts = partsOf(differences);
    this.#whole = differences.length === 0 ? undefined : changedBy(this.#parts, () => true);
  }

  /** Returns the delta for the node of that id, without its own peer, which the views contain; undefined for nothing. */
  without(id: string): NetworkDelta | undefined {
    if (!this.#differing.has(id)) return this.#whole;
    return this.#differing.size === 1 ? undefined : changedBy(this.#parts, (of) => of !== id);
  }
}

function isSame({ before, after }: Difference): boolean {
  if (before === undefined || after === undefined) return false;
  return sameJson(before.peer, after.peer) && sameRules(before.in, after.in) && sameRules(before.out, after.out);
}

function sameRules(a: readonly FirewallEntry[], b: readonly FirewallEntry[]): boolean {
  return a === b || (a.length === b.length && a.every((entry, nth) => ruleKey(entry) === keyAt(b, nth)));
}

function keyAt(entries: readonly FirewallEntry[], nth: number): string | undefined {
  const entry = entries[nth];
  return entry && ruleKey(entry);
}

/** Something of a delta, and the peer that it is of. */
interface Part<T> {
  readonly of: string;
  readonly item: T;
}
type RuleParts = { readonly [Way in 'in' | 'out']: readonly Part<FirewallEntry>[] };

/** All of a delta in the order in which it is told, so that each node is told of it by leaving out what is of itself. */
interface Parts {
  readonly peers: {
    readonly added: readonly Part<GraphPeer>[];
    readonly updated: readonly Part<GraphPeer>[];
    readonly removed: readonly Part<string>[];
  };
  readonly added: RuleParts;
  readonly removed: RuleParts;
}

/** @param differences by id */
function partsOf(differences: readonly Difference[]): Parts {
  const partsFrom = <T>(itemsOf: (difference: Difference) => readonly T[]): Part<T>[] =>
    differences.flatMap((one) => itemsOf(one).map((item) => ({ of: one.id, item })));
  const rules = (of: 'before' | 'after', without: 'before' | 'after'): RuleParts => ({
    in: inOrderOfRules(partsFrom((one) => minus(one[of]?.in, one[without]?.in))),
    out: inOrderOfRules(partsFrom((one) => minus(one[of]?.out, one[without]?.out))),
  });
  return {
    peers: {
      added: partsFrom(({ before, after }) => (after && !before ? [after.peer] : [])),
      updated: partsFrom(({ before, after }) =>
        before && after && !sameJson(before.peer, after.peer) ? [after.peer] : [],
      ),
      removed: partsFrom(({ id, after }) => (after ? [] : [id])),
    },
    added: rules('after', 'before'),
    removed: rules('before', 'after'),
  };
}

function inOrderOfRules(parts: readonly Part<FirewallEntry>[]): Part<FirewallEntry>[] {
  return inOrder(parts, ({ item }) => ruleKey(item));
}

function changedBy({ peers, added, removed }: Parts, isTold: (of: string) => boolean): NetworkDelta {
  const told = <T>(parts: readonly Part<T>[]): T[] => parts.flatMap(({ of, item }) => (isTold(of) ? [item] : []));
  const rules = (parts: RuleParts): FirewallRules => ({ in: told(parts.in), out: told(parts.out) });
  return {
    peers: { added: told(peers.added), updated: told(peers.updated), removed: told(peers.removed) },
    delta: { added: rules(added), removed: rules(removed) },
  };
}

/**
 * Rules are compared with those of the same peer alone: one address may have gone from one peer to another, of which a node is
 * either.
 */
function minus(
  entries: readonly FirewallEntry[] = [],
  without: readonly FirewallEntry[] = [],
): readonly FirewallEntry[] {
  const gone = new Set(without.map(ruleKey));
  return entries.filter((entry) => !gone.has(ruleKey(entry)));
}
