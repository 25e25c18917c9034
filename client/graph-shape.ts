import { ifIs, json, Mismatch, type Shape, shapeOf } from '../core/base/shape.ts';
import { isHostOf } from '../core/changes/address.ts';
import {
  type FullGraph,
  fullGraphShape,
  type GraphMessage,
  type GraphSelf,
  graphMessageShape,
} from '../core/model/graph.ts';
import { isRenumbering } from '../core/model/renumbering.ts';
import { parseRelayAddress } from '../net/relay/address.ts';

/** The whole graph as a node takes it. */
export const takenGraphShape = taken(fullGraphShape);

const messageShape = json(taken(graphMessageShape));
const keptShape = json(takenGraphShape);

/** Undefined for anything that is no such message. */
export function decodeGraphMessage(bytes: Uint8Array): GraphMessage | undefined {
  return ifIs(messageShape, Buffer.from(bytes).toString());
}

/** A graph as it was kept on disk. */
export function parseFullGraph(kept: string): FullGraph | undefined {
  return ifIs(keptShape, kept);
}

/** Also with the credential of the relay in its url; and only for addresses that a host of the network can have. */
function taken<T extends GraphMessage>(shape: Shape<T>): Shape<T> {
  return shapeOf(shape.form, (value) => {
    const graph = shape(withRelayCredential(value));
    if ('self' in graph && !isOwnAddress(graph.self)) throw new Mismatch(['self']);
    return graph;
  });
}

function isOwnAddress({ cidr, address, former }: GraphSelf): boolean {
  if (former && !(isHostOf(former.cidr, former.address) && isRenumbering(former.cidr, cidr))) return false;
  return isHostOf(cidr, address);
}

/** The credential stands beside the address of the relay, or in it: `lrp://<credential>@host:port`. */
function withRelayCredential(value: unknown): unknown {
  if (!isObject(value) || !isObject(value['relay'])) return value;
  // The combined form is for other readers.
  const { address: _, ...relay } = value['relay'];
  if (relay['credential'] !== undefined || typeof relay['url'] !== 'string') return { ...value, relay };
  return { ...value, relay: { ...relay, credential: parseRelayAddress(relay['url'])?.credential } };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
