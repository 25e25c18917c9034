import { sourceOf } from '../source-address.ts';
import { Budget, type Kind, UNBOUNDED } from './budget.ts';
import { KNOWN_ADDRESSES, type Limits, STRANGERS_PART } from './limits.ts';

/** A connection as its source counts it. */
export interface Counted {
  readonly address: string;
  readonly budget: Budget;
  /** Bytes on the way to it. */
  readonly pending: number;
  source: Source;
  fail(message: string, reason: 'limit'): void;
}

/** Whom limits count as one: a node that proved who it is, or all others behind one address. */
export interface Source {
  readonly name: string;
  /** The node it is, where that is proven. */
  readonly node: string | undefined;
  readonly budget: Budget;
  /** In the order in which they came. */
  readonly sessions: Set<Counted>;
}

/** The amounts that a session takes along to another source, besides its connection. */
const MOVED = ['subscriptions', 'subscriptionBytes', 'partialBytes'] as const satisfies readonly Kind[];

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

  /** From now on the session counts there, unless it holds more than a node may. */
  join(session: Counted, node: string): void {
    const source = this.#source(`node ${node}`, node, () => new Budget(this.#limits.node, this.all));
    const { held } = session.budget;
    if (MOVED.every((kind) => source.budget.hasRoom(kind, held[kind]))) {
      // A session of an earlier connect may be dead without knowing it yet.
      for (const earlier of source.sessions) {
        if (source.budget.hasRoom('connections', held.connections)) break;
        earlier.fail('maximum connections exceeded', 'limit');
      }
      this.#know(session.address);
      const before = session.source;
      before.sessions.delete(session);
      source.sessions.add(session);
      session.source = source;
      session.budget.moveTo(source.budget);
      this.#release(before);
    }
    this.#release(source);
  }

  /** The session is over. */
  leave(session: Counted): void {
    const { source, budget } = session;
    budget.give('connections', budget.held.connections);
    source.sessions.delete(session);
    this.#release(source);
  }

  #know(address: string): void {
    const name = sourceOf(address);
    const isNew = !this.#known.delete(name);
    this.#known.add(name);
    if (isNew) this.#sources.get(`address ${name}`)?.budget.moveTo(this.all);
    if (this.#known.size <= KNOWN_ADDRESSES) return;
    const [oldest] = this.#known;
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  /** It is forgotten when nobody of it is left. */
  #release(source: Source): void {
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
