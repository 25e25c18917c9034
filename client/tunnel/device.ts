import type { Tunnel, TunnelOptions } from './tunnel.ts';
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

/** An overlay address and the block that is routed with it. */
export type Place = Pick<TunnelOptions, 'address' | 'cidr'>;
export type MoveAddress = (interfaceName: string, from: Place, to: Place) => Promise<void>;

/** The tunnel over an interface that is up. */
export async function tunnelOver(device: Device, options: TunnelOptions, move: MoveAddress): Promise<Tunnel> {
  const { interfaceName } = options;
  const { listenPort, peers: inherited } = await device.get();
  let place: Place = { address: options.address, cidr: options.cidr };
  let closing: Promise<void> | undefined;
  return {
    kind: device.kind,
    mixesFamilies: device.mixesFamilies,
    interfaceName,
    listenPort,
    inherited,
    change: (put, removed) => device.set({ put, removed }),
    setEndpoint: (publicKey, endpoint) => device.set({ endpoints: [[publicKey, endpoint]] }),
    setPrivateKey: (privateKey) => device.set({ privateKey }),
    async setAddress(address, cidr) {
      if (place.address === address && place.cidr === cidr) return;
      await move(interfaceName, place, { address, cidr });
      place = { address, cidr };
    },
    peers: async () => (await device.get()).peers,
    ended: device.ended,
    close() {
      closing ??= device.remove();
      return closing;
    },
  };
}
