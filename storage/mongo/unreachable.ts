/** The driver's view of the servers when it gives up. */
export interface Topology {
  readonly setName?: string | null;
  readonly servers: ReadonlyMap<string, { readonly type: string }>;
}

/** Why no primary of the servers `named` in a URL is reached, and what to do. */
export function unreachableReason(
  { message, reason }: { message: string; reason?: unknown },
  named: readonly string[],
): string {
  return (
    wrongSet(reason as Topology | undefined, named) ??
    `no primary of MongoDB is reached (${message}): start its servers, or name the right ones`
  );
}

/** Returns why servers that answer are not the named replica set, where waiting longer cannot help. */
export function wrongSet(seen: Topology | undefined, named: readonly string[]): string | undefined {
  return notInitiated(seen) ?? otherSet(seen, named);
}

/** A member of a set that was never initiated answers, and cannot be elected. */
function notInitiated(seen: Topology | undefined): string | undefined {
  const places = [...(seen?.servers ?? [])].flatMap(([place, { type }]) => (type === 'RSGhost' ? [place] : []));
  if (places.length === 0) return undefined;
  return `MongoDB answers at ${places.join(' and ')}, but its replica set has no configuration: run rs.initiate() at one of its members (docs/deploy.md)`;
}

/** The driver drops a server that answers and is not in the set that the URL names; it keeps one that does not answer. */
function otherSet(seen: Topology | undefined, named: readonly string[]): string | undefined {
  if (!seen?.setName || [...seen.servers.values()].some(({ type }) => type.startsWith('RS'))) return undefined;
  const dropped = named.filter((place) => !seen.servers.has(place));
  if (dropped.length === 0) return undefined;
  return (
    `MongoDB answers at ${dropped.join(' and ')}, but not as the replica set ${seen.setName}: name the set that is there ` +
    `with replicaSet= in the URL or, where there is none, start the server with --replSet ${seen.setName} and run rs.initiate()`
  );
}
