import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Log } from '../../core/base/ports.ts';
import { isPort } from '../../net/host-port.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';

/** Bursts of checks of many peers must not be lost in the kernel. */
const BUFFER_BYTES = 1_048_576;
/** Both families want the same port number; another program may hold one half of it. */
const PORT_TRIES = 8;

/** The agent's own UDP port: one socket for each address family that the host has, same number. */
export interface PortSockets {
  readonly port: number;
  /** Datagrams that cannot be sent, wherever they are to go, are lost as on the network. */
  send(to: Endpoint, bytes: Uint8Array): void;
  close(): Promise<void>;
}

/**
 * @param wanted port number; 0 takes any that is free
 * @throws Error with the system's code where it is taken
 */
export async function openPortSockets(
  onDatagram: (bytes: Buffer, from: Endpoint) => void,
  log: Log,
  wanted = 0,
): Promise<PortSockets> {
  for (let tries = 1; ; tries++) {
    const ipv4 = await open('udp4', wanted, onDatagram, log);
    const { port } = ipv4.address();
    try {
      const ipv6 = await open('udp6', port, onDatagram, log).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE') throw error;
        // A host without IPv6.
        return undefined;
      });
      return {
        port,
        send(to, bytes) {
          // Node throws where the kernel would lose it: a datagram can come from port 0, and a graph or a file can name any.
          if (isPort(to.port)) (isIPv6(to.address) ? ipv6 : ipv4)?.send(bytes, to.port, to.address);
        },
        close: async () => {
          await Promise.all(
            [ipv4, ipv6].map((socket) => new Promise<void>((done) => (socket ? socket.close(done) : done()))),
          );
        },
      };
    } catch (error) {
      ipv4.close();
      if (wanted !== 0 || tries >= PORT_TRIES) throw error;
    }
  }
}

function open(
  type: 'udp4' | 'udp6',
  port: number,
  onDatagram: (bytes: Buffer, from: Endpoint) => void,
  log: Log,
): Promise<Socket> {
  const socket = createSocket({
    type,
    ipv6Only: type === 'udp6',
    recvBufferSize: BUFFER_BYTES,
    // Only addresses are sent to: the resolver would be a detour.
    lookup: (name, _options, callback) => callback(null, name, type === 'udp6' ? 6 : 4),
  });
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close();
      reject(error);
    });
    socket.bind(port, () => {
      socket.removeAllListeners('error');
      // An address that cannot be reached from here is what checks are there to find out.
      socket.on('error', (error) => log.debug({ err: error }, 'A datagram of the shared port was not sent.'));
      socket.on('message', onDatagram);
      resolve(socket);
    });
  });
}
