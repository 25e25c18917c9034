import type { Log } from '../../core/base/ports.ts';
import type { DatagramOptions, DatagramSocket } from '../../platform/datagrams.ts';
import { datagrams } from '../../platform/platform.ts';
import type { Family } from '../family.ts';
import { type LoopbackAddresses, openLoopbackAddresses } from './loopback-addresses.ts';
import { applyRelayRules, removeRelayRules } from './rules.ts';

/** WireGuard sends in bursts, and they wait here while a turn of the event loop lasts. The kernel may grant less. */
const SOCKET_BUFFER_BYTES = 8_388_608;

/** How packets come and go between WireGuard and the endpoints of relayed peers. */
export interface LoopbackLink {
  readonly addresses: LoopbackAddresses;
  readonly socket: DatagramSocket;
  /** Has what is sent to an endpoint's own port handed to WireGuard. @returns whether it is */
  redirect(): Promise<boolean>;
  close(): Promise<void>;
}

export interface LoopbackLinkOptions extends Pick<DatagramOptions, 'onDatagrams'> {
  readonly wireguardPort: number;
  /** Preferred family of the endpoints. */
  readonly family: Family;
  readonly log: Log;
  readonly onDrained: () => void;
}

export type OpenLoopbackLink = (options: LoopbackLinkOptions) => Promise<LoopbackLink>;

/** The loopback interface of the host, for a WireGuard that has its own socket. */
export async function openHostLink(options: LoopbackLinkOptions): Promise<LoopbackLink> {
  const { wireguardPort, family, log, onDatagrams, onDrained } = options;
  const addresses = await openLoopbackAddresses(wireguardPort, family);
  try {
    const socket = await datagrams.open({
      family: addresses.family,
      host: addresses.family === 'ipv6' ? '::' : '0.0.0.0',
      port: 0,
      receiveBufferBytes: SOCKET_BUFFER_BYTES,
      sendBufferBytes: SOCKET_BUFFER_BYTES,
      maxBytes: 'coalesced',
      log,
      onDatagrams,
      // All of it passes through the connection to the relay too.
      onDrained,
    });
    return {
      addresses,
      socket,
      redirect: () => applyRelayRules(wireguardPort, socket.port),
      async close() {
        await socket.close();
        await addresses.close();
        await removeRelayRules(wireguardPort);
      },
    };
  } catch (error) {
    await addresses.close();
    throw error;
  }
}
