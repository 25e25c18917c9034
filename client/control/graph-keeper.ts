import { applyDelta, type DeltaGraph, type FullGraph } from '../../core/model/graph.ts';

export type GraphAction =
  /** In force from now on. */
  | { readonly do: 'use'; readonly graph: FullGraph }
  /** An older one, or the same again. */
  | { readonly do: 'ignore' }
  /** Something before it was missed: ask for the whole graph. */
  | { readonly do: 'ask'; readonly why: string }
  /** It may be a recording, or a mistake: fetch the graph over the API. */
  | { readonly do: 'confirm'; readonly why: string };

/** Below so many peers a loss of half of them is everyday. */
const FEW_PEERS = 4;
/** Reasons that say nothing of what changed. */
const NO_REASON = new Set(['', 'requested']);

/** The graph that a node holds, and which pushed ones may replace it. */
export class GraphKeeper {
  #current: FullGraph | undefined;

  constructor(held?: FullGraph) {
    this.#current = held;
  }

  get held(): FullGraph | undefined {
    return this.#current;
  }

  /** `isFresh`: sent by the present process of the control plane; anything else may be a recording. */
  take(pushed: FullGraph | DeltaGraph, isFresh: boolean): GraphAction {
    const held = this.#current;
    if (held === undefined) {
      if (pushed.kind === 'delta') return { do: 'ask', why: 'no graph is held yet' };
      return isFresh ? this.#use(pushed) : { do: 'confirm', why: 'the first graph' };
    }
    if (pushed.self.id !== held.self.id) return { do: 'ignore' };
    if (pushed.epoch !== held.epoch) {
      if (pushed.kind === 'full' && isFresh) return this.#use(pushed);
      return { do: 'confirm', why: 'the control plane was restored' };
    }
    if (pushed.version < held.version) return { do: 'ignore' };
    if (pushed.version === held.version && !(isFresh && pushed.kind === 'full')) return { do: 'ignore' };
    const next = pushed.kind === 'full' ? pushed : applyDelta(held, pushed);
    if (next === undefined)
      return { do: 'ask', why: `version ${held.version} is held, ${pushed.version} does not fit` };
    if (NO_REASON.has(pushed.reason) && losesMost(held, next)) {
      return { do: 'confirm', why: 'more than half of the peers are gone without a reason' };
    }
    return this.#use(next);
  }

  /** Takes what the API answered: it is always the present one. */
  confirm(graph: FullGraph): FullGraph {
    this.#current = graph;
    return graph;
  }

  #use(graph: FullGraph): GraphAction {
    this.#current = graph;
    return { do: 'use', graph };
  }
}

function losesMost(held: FullGraph, next: FullGraph): boolean {
  if (held.peers.length < FEW_PEERS) return false;
  const ids = new Set(next.peers.map(({ id }) => id));
  return held.peers.filter(({ id }) => ids.has(id)).length < held.peers.length / 2;
}
