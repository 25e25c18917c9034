import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { isPort } from '../../net/host-port.ts';
import { readQuery, writeRejection, writeReply } from './message.ts';
import type { Zone } from './zone.ts';

const MAX_CONNECTIONS = 16;
/** From its beginning, or from an answer, to the end of the next query: what trickles in does not extend it. */
const QUERY_MS = 5_000;
/** A question is at most 271 bytes long; resolvers add little to it. */
const MAX_QUERY_BYTES = 1_232;

export interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

export interface ListenerOptions {
  /** Own address in the overlay. Whoever else sends something is not answered. */
  readonly address: string;
  readonly port: number;
  zone(): Zone;
}

/**
 * Answers queries over UDP and TCP, to this host alone: its own packets to its own address come from that address, and no peer
 * has it. @throws Error where the port is taken
 */
export async function listenForQueries({ address, port, zone }: ListenerOptions): Promise<Listener> {
  const tcp = createServer();
  const udp = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  const { close } = answerQueries(udp, tcp, zone, (from) => from === address);
  await new Promise<void>((resolve, reject) => {
    tcp.once('error', reject);
    tcp.listen({ host: address, port, exclusive: true }, resolve);
  }).catch((error: unknown) => {
    udp.close();
    throw error;
  });
  const { port: bound } = tcp.address() as AddressInfo;
  try {
    await new Promise<void>((resolve, reject) => {
      udp.once('error', reject);
      udp.bind({ address, port: bound, exclusive: true }, resolve);
    });
  } catch (error) {
    udp.close();
    tcp.close();
    throw error;
  }
  return { port: bound, close };
}

/**
 * Answers what arrives at two sockets, once they are bound.
 *
 * @param isOwn tells whether an address may ask
 */
export function answerQueries(
  udp: UdpSocket,
  tcp: Server,
  zone: () => Zone,
  isOwn: (from: string | undefined) => boolean,
): Pick<Listener, 'close'> {
  const connections = new Set<Socket>();
  tcp.on('error', () => {});
  tcp.on('connection', (socket) => {
    if (!isOwn(socket.remoteAddress)) return socket.destroy();
    // All are of this host: whoever holds many keeps nobody out, for who was answered longest ago makes room.
    if (connections.size >= MAX_CONNECTIONS) {
      const [oldest] = connections;
      oldest?.destroy();
      if (oldest) connections.delete(oldest);
    }
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    serve(socket, zone, () => {
      connections.delete(socket);
      connections.add(socket);
    });
  });
  udp.on('error', () => {});
  udp.on('message', (bytes, from) => {
    const answer = isOwn(from.address) && isPort(from.port) ? respond(zone(), bytes) : undefined;
    // Whoever does not get it asks again.
    if (answer) udp.send(answer, from.port, from.address, () => {});
  });
  return {
    async close() {
      for (const socket of connections) socket.destroy();
      await Promise.all([closed(udp), new Promise<void>((resolve) => tcp.close(() => resolve()))]);
    },
  };
}

/** Whoever made it may have closed it. */
function closed(udp: UdpSocket): Promise<void> {
  return new Promise((resolve) => {
    try {
      udp.close(resolve);
    } catch {
      resolve();
    }
  });
}

/** Each message has its length before it (RFC 1035, 4.2.2). One that is too long ends the connection. */
function serve(socket: Socket, zone: () => Zone, answered: () => void): void {
  let held: Uint8Array = Buffer.alloc(0);
  socket.on('error', () => {});
  const late = setTimeout(() => socket.destroy(), QUERY_MS);
  socket.once('close', () => clearTimeout(late));
  socket.on('data', (chunk: Buffer) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (held.length >= 2) {
      const length = ((held[0] ?? 0) << 8) | (held[1] ?? 0);
      if (length > MAX_QUERY_BYTES) return socket.destroy();
      if (held.length < 2 + length) return;
      const answer = respond(zone(), held.subarray(2, 2 + length));
      held = held.subarray(2 + length);
      // Nobody who does not read is written to.
      if (!answer || socket.writableLength > MAX_QUERY_BYTES) return socket.destroy();
      socket.write(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 0xff]), answer]));
      late.refresh();
      answered();
    }
  });
}

/** Answers a message, which may be anything; undefined for no answer at all. Never throws. */
export function respond(zone: Zone, bytes: Uint8Array): Uint8Array | undefined {
  const query = readQuery(bytes);
  if (!('reject' in query)) return writeReply(query, zone.answer(query));
  return query.reject === 'silently' ? undefined : writeRejection(query);
}
