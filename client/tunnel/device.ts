import { sameJson } from '../../core/model/graph.ts';
import type { Place } from '../places.ts';
import type { Tunnel, TunnelOptions, TunnelPeer, TunnelPeerState } from './tunnel.ts';
import type { DeviceChange, DeviceState } from './uapi.ts';

/** An interface without addresses, of either kind. */
export interface Device {
  readonly kind: Tunnel['kind'];
  readonly mixesFamilies: Tunnel['mixesFamilies'];
  set(change: DeviceChange): Promise<void>;
  get(): Promise<DeviceState>;
  readonly ended: Promise<string>;
  remove(): Promise<void>;
}

/** Gives an interface other places: new ones before the old ones go, so that connections of those that stay are not touched. */
export type MovePlaces = (interfaceName: string, from: readonly Place[], to: readonly Place[]) => Promise<void>;

/** Seconds; any but 0. */
const SPEAK_UP = 1;

/**
 * The tunnel over an interface that is up.
 *
 * @param places that it has
 */
export async function tunnelOver(
  device: Device,
  options: TunnelOptions,
  move: MovePlaces,
  places: readonly Place[] = [{ address: options.address, cidr: options.cidr }],
): Promise<Tunnel> {
  const { interfaceName } = options;
  const { listenPort, peers: inherited } = await device.get();
  let current = places;
  let closing: Promise<void> | undefined;
  const held = new Map<string, TunnelPeer>(inherited.map((peer) => [peer.publicKey, heldOf(peer)]));
  let last: Promise<unknown> = Promise.resolve();
  /** Serial: a peer that leaves is not put back by a handshake that began before. */
  const inOrder = (run: () => Promise<void>): Promise<void> => {
    const done = last.then(run);
    last = done.catch(() => {});
    return done;
  };
  return {
    kind: device.kind,
    mixesFamilies: device.mixesFamilies,
    interfaceName,
    listenPort,
    inherited,
    change: (put, removed) =>
      inOrder(async () => {
        for (const publicKey of removed) held.delete(publicKey);
        for (const peer of put) held.set(peer.publicKey, { ...held.get(peer.publicKey), ...peer });
        await device.set({ put, removed });
      }),
    async setEndpoint(publicKey, endpoint) {
      const peer = held.get(publicKey);
      if (peer) held.set(publicKey, { ...peer, endpoint });
      await device.set({ endpoints: [[publicKey, endpoint]] });
    },
    handshake: (publicKey, isRenewal) =>
      inOrder(async () => {
        const peer = held.get(publicKey);
        if (!peer) return;
        // WireGuard speaks at once where it begins to keep a peer alive, and needs a session for that.
        if (isRenewal) await device.set({ removed: [publicKey], put: [{ ...peer, keepalive: SPEAK_UP }] });
        else await device.set({ keepalives: [[publicKey, SPEAK_UP]] });
        await device.set({ keepalives: [[publicKey, peer.keepalive]] });
      }),
    setPrivateKey: (privateKey) => device.set({ privateKey }),
    async setPlaces(wanted) {
      if (sameJson(current, wanted)) return;
      await move(interfaceName, current, wanted);
      current = wanted;
    },
    peers: async () => (await device.get()).peers,
    ended: device.ended,
    close() {
      closing ??= device.remove();
      return closing;
    },
  };
}

/** Nothing is kept alive by WireGuard. */
function heldOf({ publicKey, allowedIps, endpoint }: TunnelPeerState): TunnelPeer {
  return { publicKey, allowedIps, keepalive: 0, ...(endpoint && { endpoint }) };
}
