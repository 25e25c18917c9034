import { socketAddressOf } from '../../platform/datagrams.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import { shownAddress } from './loopback-addresses.ts';
import type { OpenLoopbackLink } from './loopback-link.ts';

/** Packets of a userspace WireGuard for relayed peers, whose endpoints exist in it alone. */
export interface RelayedPackets {
  /** Hands WireGuard packets, coalesced ones by their segment, as if they came from there. */
  sendRelayed(bytes: Uint8Array, segment: number, from: Endpoint): void;
  /** Takes what WireGuard sends to such an endpoint; another handler replaces it. */
  receiveRelayed(handler: (bytes: Uint8Array, segment: number, to: Endpoint) => void): void;
}

/** Endpoints that no other program of the host sees: neither addresses nor rules are needed. */
export function userspaceLink(packets: RelayedPackets): OpenLoopbackLink {
  return async ({ wireguardPort, onDatagrams, onDrained }) => {
    // Any port but WireGuard's own.
    const port = (wireguardPort % 65_535) + 1;
    packets.receiveRelayed((bytes, segment, { address }) => {
      onDatagrams(bytes, segment, socketAddressOf(address, wireguardPort));
      onDrained();
    });
    const close = async () => packets.receiveRelayed(() => {});
    return {
      addresses: {
        family: 'ipv6',
        addressOf: (n) => shownAddress(wireguardPort, n),
        add: async () => {},
        remove: async () => {},
        close,
      },
      socket: {
        port,
        send: (bytes, segment, { address }) => packets.sendRelayed(bytes, segment, { address, port }),
        close,
      },
      redirect: async () => true,
      close,
    };
  };
}
