import { MeshError } from '../../../core/base/errors.ts';
import type { Place } from '../../places.ts';
import { type Device, tunnelOver } from '../device.ts';
import type { TunnelPlatform } from '../tunnel.ts';
import { encodeSet, errnoOf, GET_REQUEST, parseGet } from '../uapi.ts';

/** A WireGuard of this process, as far as the tunnel needs it. */
export interface UserspaceWireGuard {
  /** UDP port that it has. */
  readonly port: number;
  /** Sends a request in the text protocol of uapi.ts. */
  configure(request: string): Promise<string>;
  /** @param places the present one first */
  setPlaces(places: readonly Place[]): Promise<void>;
  /** Resolves with the reason once it is gone. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

export interface UserspaceTunnelOptions {
  /** @throws MeshError where its UDP port cannot be had */
  readonly open: (options: { address: string; cidr: string; mtu: number; port: number }) => Promise<UserspaceWireGuard>;
  readonly watchNetwork: TunnelPlatform['watchNetwork'];
}

/** Tunnels that end in this process. They need no right of the host and change nothing of it, and end with the process. */
export function userspaceTunnels({ open, watchNetwork }: UserspaceTunnelOptions): TunnelPlatform {
  return {
    obstacles: async () => [],
    collisions: async () => [],
    takeOver: async () => undefined,
    recover: async () => {},
    async open(options) {
      const { address, cidr, mtu, privateKey } = options;
      const wireGuard = await open({ address, cidr, mtu, port: options.listenPort });
      const device = userspaceDevice(wireGuard);
      try {
        await device.set({ privateKey, listenPort: wireGuard.port });
        return await tunnelOver(device, options, (_name, _from, to) => wireGuard.setPlaces(to));
      } catch (error) {
        await device.remove();
        throw error;
      }
    },
    watchNetwork,
  };
}

function userspaceDevice(wireGuard: UserspaceWireGuard): Device {
  const ask = async (request: string): Promise<string> => {
    const answer = await wireGuard.configure(request);
    if (errnoOf(answer) !== 0) throw new MeshError('unavailable', 'WireGuard of this process refused a change.');
    return answer;
  };
  return {
    kind: 'userspace',
    mixesFamilies: true,
    async set(change) {
      await ask(encodeSet(change));
    },
    get: async () => parseGet(await ask(GET_REQUEST)),
    ended: wireGuard.ended,
    remove: () => wireGuard.close(),
  };
}
