/** A TCP connection as the process that accepted it sees it; as `node:net` sockets have it. */
export interface ConnectionEnds {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** Finds the uid of the user whose process holds the other end of a connection on this machine; undefined where that is not known. */
export type ConnectionOwner = (ends: ConnectionEnds) => Promise<number | undefined>;
