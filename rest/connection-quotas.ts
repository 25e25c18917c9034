/** A connection as the shares of a listener see it. */
export interface Connection {
  readonly source: string;
  /** True if callers share the source: this machine, or a trusted proxy. Such sources have no limit of their own. */
  readonly isShared: boolean;
  /** True while a request that arrived whole is being answered. */
  isBusy(): boolean;
  cut(): void;
}

export interface ConnectionLimits {
  readonly total: number;
  readonly perSource: number;
}

/**
 * The connections of a listener, of bounded number. A newcomer where there is no room takes the place of the connection that
 * waits longest: of its own source where that has its share, else of the source that has most.
 */
export class ConnectionQuotas {
  readonly #limits: ConnectionLimits;
  /** By source, the one that waits longest first. None is empty. */
  readonly #sources = new Map<string, Set<Connection>>();
  #size = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns whether there is room, perhaps since another one was cut */
  add(connection: Connection): boolean {
    const { source, isShared } = connection;
    const own = this.#sources.get(source);
    if (!isShared && own && own.size >= this.#limits.perSource && !this.#cut(longestWaiting(own))) return false;
    if (this.#size >= this.#limits.total && !this.#makeRoom()) return false;
    const siblings = this.#sources.get(source) ?? new Set();
    this.#sources.set(source, siblings.add(connection));
    this.#size += 1;
    return true;
  }

  /** It did something: from now on it waits anew. */
  touch(connection: Connection): void {
    const siblings = this.#sources.get(connection.source);
    if (siblings?.delete(connection)) siblings.add(connection);
  }

  /** Idempotent. */
  remove(connection: Connection): void {
    const siblings = this.#sources.get(connection.source);
    if (!siblings?.delete(connection)) return;
    this.#size -= 1;
    if (siblings.size === 0) this.#sources.delete(connection.source);
  }

  #makeRoom(): boolean {
    let most = 0;
    let found: Connection | undefined;
    for (const siblings of this.#sources.values()) {
      const rank = this.#rankOf(siblings);
      const waiting = rank > most ? longestWaiting(siblings) : undefined;
      if (!waiting) continue;
      most = rank;
      found = waiting;
    }
    return this.#cut(found);
  }

  /**
   * Returns the rank of a source; the highest gives way first. A shared source ranks as half a quota at most, so that a flood
   * gives way before it.
   */
  #rankOf(siblings: ReadonlySet<Connection>): number {
    const [first] = siblings;
    return first?.isShared ? Math.min(siblings.size, this.#limits.perSource / 2) : siblings.size;
  }

  #cut(connection: Connection | undefined): boolean {
    if (!connection) return false;
    this.remove(connection);
    connection.cut();
    return true;
  }
}

function longestWaiting(siblings: ReadonlySet<Connection>): Connection | undefined {
  for (const connection of siblings) if (!connection.isBusy()) return connection;
  return undefined;
}
