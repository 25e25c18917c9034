import { parseAddress, parseRange, rangeBetween } from '../model/cidr.ts';
import type { ExternalInput, PeerInput } from './model.ts';
import { type Atoms, atomsOf, type Projection } from './projection.ts';

/** Endpoints that no policy of a {@link Projection} can tell apart. */
export interface EndpointClass {
  readonly signature: string;
  readonly network: string | undefined;
  readonly group: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly address: Atoms | undefined;
}

const OTHER_VALUE = -1;
const ABSENT = -2;

/** The class of a peer. Its address counts only where some policy names addresses. */
export function classOfPeer(peer: PeerInput, projection: Projection): EndpointClass {
  const { labels, edges, groups } = projection;
  const range = edges.length > 0 && peer.address !== undefined ? parseAddress(peer.address) : undefined;
  const address = range && atomsOf(range, edges);
  let signature = `${peer.network.length}:${peer.network}`;
  for (const { key, values } of labels) {
    const value = Object.hasOwn(peer.labels, key) ? peer.labels[key] : undefined;
    signature += `,${value === undefined ? ABSENT : (values.get(value) ?? OTHER_VALUE)}`;
  }
  if (address) signature += `@${address.from}`;
  const group = groups.size === 0 ? undefined : groups.get(peer.uid ?? peer.name);
  if (group !== undefined) signature += `#${group}`;
  return { signature, network: peer.network, group, labels: peer.labels, address };
}

/** The class of an external. One whose range cannot be read is matched by no block. */
export function classOfExternal(external: ExternalInput, projection: Projection): EndpointClass {
  const range = typeof external.range === 'string' ? parseRange(external.range) : rangeBetween(...external.range);
  const address = range && atomsOf(range, projection.edges);
  const signature = address ? `x@${address.from}-${address.to}` : 'x';
  return { signature, network: undefined, group: undefined, labels: {}, address };
}
