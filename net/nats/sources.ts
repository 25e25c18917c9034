import { sourceOf } from '../source-address.ts';
import { Budget, UNBOUNDED } from './budget.ts';
import { KNOWN_ADDRESSES, type Limits, STRANGERS_PART } from './limits.ts';
import type { Session } from './session.ts';

/** Whom limits count as one: a node that proved who it is, or all others behind one address. */
export interface Source {
  readonly name: string;
  /** The node it is, where that is proven. */
  readonly node: string | undefined;
  readonly budget: Budget;
  /** In the order in which they came. */
  readonly sessions: Set<Session>;
}

/** The control plane itself, which nothing limits. */
export function controlSource(): Source {
  return { name: 'control', node: undefined, budget: new Budget(UNBOUNDED), sessions: new Set() };
}

/**
 * The sources there are. A part of every limit is kept from strangers: it is for nodes, and for addresses from which
 * a node has come before, so that these find room however many strangers there are.
 */
export class Sources {
  readonly all: Budget;
  readonly #strangers: Budget;
  readonly #limits: Limits;
  readonly #sources = new Map<string, Source>();
  /** Addresses from which nodes came, the one silent longest first. */
  readonly #known = new Set<string>();

  constructor(limits: Limits) {
    const { maxConnections, maxTotalSubscriptionBytes, maxTotalPartial } = limits;
    this.#limits = limits;
    const most = {
      ...UNBOUNDED,
      connections: maxConnections,
      subscriptionBytes: maxTotalSubscriptionBytes,
      partialBytes: maxTotalPartial,
    };
    this.all = new Budget(most);
    this.#strangers = new Budget(
      {
        ...UNBOUNDED,
        connections: Math.ceil(most.connections * STRANGERS_PART),
        subscriptionBytes: Math.ceil(most.subscriptionBytes * STRANGERS_PART),
        partialBytes: Math.ceil(most.partialBytes * STRANGERS_PART),
      },
      this.all,
    );
  }

  /** Whoever comes from there and has not proven anything. */
  ofAddress(address: string): Source {
    const name = sourceOf(address);
    const above = this.#known.has(name) ? this.all : this.#strangers;
    return this.#source(`address ${name}`, undefined, () => new Budget(this.#limits.address, above));
  }

  ofNode(node: string): Source {
    return this.#source(`node ${node}`, node, () => new Budget(this.#limits.node, this.all));
  }

  /** A node came from there. */
  know(address: string): void {
    const name = sourceOf(address);
    const isNew = !this.#known.delete(name);
    this.#known.add(name);
    if (isNew) this.#sources.get(`address ${name}`)?.budget.moveTo(this.all);
    if (this.#known.size <= KNOWN_ADDRESSES) return;
    const [oldest] = this.#known;
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  /** Nobody of the source is left: it is forgotten. */
  release(source: Source): void {
    if (source.sessions.size === 0) this.#sources.delete(source.name);
  }

  #source(name: string, node: string | undefined, budget: () => Budget): Source {
    let source = this.#sources.get(name);
    if (source === undefined) {
      source = { name, node, budget: budget(), sessions: new Set() };
      this.#sources.set(name, source);
    }
    return source;
  }
}
