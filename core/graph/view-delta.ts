import { getOrInsertComputed } from '../base/get-or-insert.ts';
import {
  type DeltaGraph,
  type FirewallEntry,
  type FirewallRules,
  ruleKey,
  sameJson,
  sortedRules,
} from '../model/graph.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { Block, GraphView } from './view.ts';
import type { GraphViews } from './views.ts';

/** The part of a delta that follows from the network. */
export interface Changed extends Pick<DeltaGraph, 'peers'>, Pick<DeltaGraph['firewall'], 'delta'> {}

const NO_RULES: FirewallRules = { in: [], out: [] };
export const NOTHING: Changed = {
  peers: { added: [], updated: [], removed: [] },
  delta: { added: NO_RULES, removed: NO_RULES },
};

/** What differs between the views before and after, made once for all nodes that saw the one and see the other. */
export class ViewDeltas {
  readonly before: GraphViews;
  readonly after: GraphViews;
  readonly #made = new Map<GraphView, Map<GraphView, ViewDelta>>();

  constructor(before: GraphViews, after: GraphViews) {
    this.before = before;
    this.after = after;
  }

  /** Of a node that was one peer before and is another record of it now. */
  of(was: PeerRecord, is: PeerRecord): ViewDelta {
    const [before, after] = [this.before.of(was), this.after.of(is)];
    const deltas = getOrInsertComputed(this.#made, before, () => new Map<GraphView, ViewDelta>());
    return getOrInsertComputed(deltas, after, () => new ViewDelta(before, after));
  }
}

/** What one peer was and is to those who see it; one of the two is there. */
interface Difference {
  readonly before: Block | undefined;
  readonly after: Block | undefined;
}

class ViewDelta {
  readonly #differences = new Map<string, Difference>();
  readonly #whole: Changed | undefined;

  constructor({ blocks: before }: GraphView, { blocks: after }: GraphView) {
    for (const id of new Set([...before.keys(), ...after.keys()])) {
      const difference = { before: before.get(id), after: after.get(id) };
      if (!isSame(difference)) this.#differences.set(id, difference);
    }
    this.#whole = changedBy(this.#differences);
  }

  /** What of it the node of that id is told, which is part of the views itself; undefined for nothing. */
  without(id: string): Changed | undefined {
    if (!this.#differences.has(id)) return this.#whole;
    const others = new Map(this.#differences);
    others.delete(id);
    return changedBy(others);
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

/**
 * Rules are compared with those of the same peer alone: one address may have gone from one peer to another, of which a node is
 * either.
 */
function changedBy(differences: ReadonlyMap<string, Difference>): Changed | undefined {
  if (differences.size === 0) return undefined;
  const inOrder = [...differences]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, difference]) => ({ id, ...difference }));
  const rules = (of: 'before' | 'after', without: 'before' | 'after'): FirewallRules =>
    sortedRules({
      in: inOrder.flatMap((one) => minus(one[of]?.in, one[without]?.in)),
      out: inOrder.flatMap((one) => minus(one[of]?.out, one[without]?.out)),
    });
  return {
    peers: {
      added: inOrder.flatMap(({ before, after }) => (after && !before ? [after.peer] : [])),
      updated: inOrder.flatMap(({ before, after }) =>
        before && after && !sameJson(before.peer, after.peer) ? [after.peer] : [],
      ),
      removed: inOrder.flatMap(({ id, after }) => (after ? [] : [id])),
    },
    delta: { added: rules('after', 'before'), removed: rules('before', 'after') },
  };
}

function minus(
  entries: readonly FirewallEntry[] = [],
  without: readonly FirewallEntry[] = [],
): readonly FirewallEntry[] {
  const gone = new Set(without.map(ruleKey));
  return entries.filter((entry) => !gone.has(ruleKey(entry)));
}
