import { type FullGraph, type GraphRelay, MAIN_RELAY } from '../../core/model/graph.ts';
import { parseRelayAddress, type RelayAddress, redirectRelay } from '../../net/relay/address.ts';
import type { RelayPlace } from './relays.ts';

/**
 * The relays that a graph gives to this node, that of nodes of an earlier version first. One credential opens all of them.
 * `override` stands in for all: it is the only one that the host may reach (`--relay-url`).
 */
export function relaysOf(
  { relay, relays = [] }: Pick<FullGraph, 'relay' | 'relays'>,
  override?: RelayAddress,
): RelayPlace[] {
  if (relay === null) return [];
  const { credential } = relay;
  const given: readonly GraphRelay[] = relays.length > 0 ? relays : [{ name: MAIN_RELAY, url: relay.url }];
  const places = given.flatMap(({ name, url, region, capacity = 1 }) => {
    const address = parseRelayAddress(url);
    return address ? [{ name, region, capacity, address: { ...address, credential } }] : [];
  });
  const [first] = places;
  return override && first ? [{ ...first, address: redirectRelay(first.address, override) }] : places;
}
