import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns';
import { isIP } from 'node:net';
import type { DatagramOptions, SocketAddress } from '../datagrams.ts';
import { partsOf } from '../segments.ts';

/** A UDP socket of Node's of one family alone, bound. */
export async function boundSocket(options: DatagramOptions): Promise<Socket> {
  const { family, host, port, receiveBufferBytes, sendBufferBytes, log } = options;
  const isIpv6 = family === 'ipv6';
  const socket = createSocket({
    type: isIpv6 ? 'udp6' : 'udp4',
    ipv6Only: isIpv6,
    recvBufferSize: receiveBufferBytes,
    ...(sendBufferBytes !== undefined && { sendBufferSize: sendBufferBytes }),
    // Datagrams are sent to addresses: the resolver would be a detour for each.
    lookup: (name, lookupOptions, callback) =>
      isIP(name) ? callback(null, name, isIpv6 ? 6 : 4) : lookup(name, lookupOptions, callback),
  });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind(port, host, () => {
        socket.off('error', reject);
        resolve();
      });
    });
  } catch (error) {
    socket.close();
    throw error;
  }
  // A datagram that cannot be sent concerns its receiver alone.
  socket.on('error', (error) => log?.debug({ err: error }, 'A datagram was not sent.'));
  return socket;
}

/** Copies: what the kernel does not take at once waits in Node. */
export function sendApart(socket: Socket, bytes: Uint8Array, segment: number, to: SocketAddress): void {
  for (const datagram of partsOf(bytes, segment)) socket.send(new Uint8Array(datagram), to.port, to.address);
}

export async function closed(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => socket.close(() => resolve()));
}
