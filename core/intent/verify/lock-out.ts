import type { ReservedRange } from '../../changes/change-checks.ts';
import { type Effect, namesOn } from '../../effect/effect.ts';
import { parseAddress } from '../../model/cidr.ts';
import type { PeerRecord } from '../../model/resources.ts';
import type { Settings } from '../../model/services.ts';
import { NO_PORTS } from '../../reachability/port-sets.ts';
import type { Reachability } from '../../reachability/reachability.ts';
import type { NetworkState } from '../../state/state.ts';

/** An address of the control plane as nodes are given it. */
interface ControlAddress {
  readonly host: string;
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP';
}

/** A peer that loses access, and the kind of access that it loses. */
export interface LockOut {
  readonly who: 'caller' | 'admin' | 'control';
  readonly peer: string;
  readonly message: string;
}

interface Comparison {
  readonly before: NetworkState;
  readonly was: Reachability;
  readonly is: Reachability;
  readonly effect: Effect;
  /** The peer that the caller acts from, where it is known. */
  readonly callerPeer: string | undefined;
  readonly control: readonly ControlAddress[];
}

/** The configured addresses of the control plane. */
export type AddressSettings = Pick<Settings, 'apiUrl' | 'publicUrls' | 'signalingUrl' | 'relays' | 'stunUrls'>;

/** Returns the configured addresses that are IP addresses: no network may hold one. Host names are not looked up. */
export function controlRanges(settings: AddressSettings): ReservedRange[] {
  return controlAddresses(settings).flatMap(({ host, port, protocol }) => {
    const range = parseAddress(host);
    return range ? [{ text: `${host} (${protocol} ${port})`, range }] : [];
  });
}

/** The addresses behind which an overlay peer may stand: where one does, closing it cuts nodes off from the control plane. */
export function controlAddresses({
  apiUrl,
  publicUrls = [],
  signalingUrl,
  relays,
  stunUrls,
}: AddressSettings): ControlAddress[] {
  return [
    ...new Set([apiUrl, ...publicUrls]).values().map((url) => addressOf(url, 'TCP', 18_090)),
    addressOf(signalingUrl, 'TCP', 4_222),
    ...relays.map(({ url }) => addressOf(url, 'TCP', 6_266)),
    ...stunUrls.map((url) => addressOf(url, 'UDP', 3_478)),
  ].flatMap((address) => address ?? []);
}

/**
 * Returns the peers that a change would lock out: peers from the control plane, where that is itself a peer, and the caller's
 * own peer and those of administrators (labels `role=admin`, `admin=true`) from everything they could reach.
 */
export function lockOuts({ before, was, is, effect, callerPeer, control }: Comparison): LockOut[] {
  const closing = effect.groups.filter(({ closed }) => closed.length > 0);
  if (closing.length === 0) return [];
  const losing = namesOn(closing, 'src');
  const found: LockOut[] = [];
  for (const { host, port, protocol } of control) {
    const plane = peerAt(before, host);
    if (plane === undefined) continue;
    const cut = closing
      .flatMap(({ src, dst }) => (dst.includes(plane) ? src : []))
      .find((src: string) => was.verdict(src, plane, protocol, port) && !is.verdict(src, plane, protocol, port));
    if (cut === undefined) continue;
    const message = `${cut} and others like it could not reach the control plane at ${plane} (${protocol} ${port}) any more`;
    found.push({ who: 'control', peer: plane, message });
  }
  for (const { name, labels } of before.peers.values()) {
    const who = name === callerPeer ? 'caller' : isAdmin(labels) ? 'admin' : undefined;
    if (who === undefined || !losing.has(name) || reachesAny(is, name) || !reachesAny(was, name)) continue;
    const whose = who === 'caller' ? 'the peer that asks for this' : 'a device of an administrator';
    found.push({ who, peer: name, message: `${name}, ${whose}, could not reach anything any more` });
  }
  return found;
}

/** The peer that has an overlay address. */
export function peerAt({ peers }: Pick<NetworkState, 'peers'>, address: string): string | undefined {
  for (const { name, status } of peers.values()) if (status.address === address) return name;
  return undefined;
}

function isAdmin(labels: PeerRecord['labels']): boolean {
  return labels['role'] === 'admin' || labels['admin'] === 'true';
}

function reachesAny(reach: Reachability, name: string): boolean {
  const self = reach.placeOf(name);
  if (self === undefined) return false;
  return reach.parts.endpoints.some((_, place) => place !== self && reach.pair(self, place) !== NO_PORTS);
}

/** The default port of each scheme; a URL never keeps the port of its scheme. */
const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** `host:port`, with or without a scheme. */
function addressOf(text: string | undefined, protocol: 'TCP' | 'UDP', usual: number): ControlAddress | undefined {
  const url = text === undefined ? undefined : URL.parse(text.includes('://') ? text : `tcp://${text}`);
  if (!url?.hostname) return undefined;
  const port = url.port === '' ? (PORTS[url.protocol] ?? usual) : Number(url.port);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, protocol };
}
