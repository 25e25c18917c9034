import { createSocket, type Socket, type SocketType } from 'node:dgram';
import { lookup } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';
import type { Clock, Log } from '../../core/base/ports.ts';
import { udpHandleOf } from '../udp-handle.ts';
import { parseIp } from './address.ts';
import { type Drain, loadDrain } from './batch.ts';
import { type StunMetrics, StunServer } from './server.ts';

/** A burst of requests must not be lost in the kernel before we read it. */
const RECEIVE_BUFFER_BYTES = 4_194_304;

export interface StunListenerOptions {
  /** An address of either family, or `0.0.0.0` or `::` for every address of both. */
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  readonly log?: Log;
  /** MESH_STUN_RATE. */
  readonly ratePerSecond?: number;
  /** MESH_STUN_BATCHED: `auto` answers many datagrams with one system call where the platform can. */
  readonly batched?: 'auto' | 'off';
}

/** The STUN server's sockets: one for each address family. */
export class StunListener {
  readonly #options: StunListenerOptions;
  readonly #server: StunServer;
  #sockets: Socket[] = [];
  #drain: Drain | undefined;

  constructor(options: StunListenerOptions) {
    this.#options = options;
    const { ratePerSecond } = options;
    this.#server = new StunServer(ratePerSecond === undefined ? {} : { ratePerSecond });
  }

  /** Both families get the same port. A machine without IPv6 serves IPv4 alone. */
  async start(): Promise<{ readonly port: number; readonly families: readonly SocketType[] }> {
    const { host, port, log, batched = 'off' } = this.#options;
    if (batched === 'auto') {
      this.#drain = await loadDrain((reason) => log?.info({ reason }, 'STUN answers without batched system calls.'));
    }
    const isAny = host === '0.0.0.0' || host === '::';
    let bound = port;
    try {
      if (isAny || !isIPv6(host)) bound = await this.#bind('udp4', isAny ? '0.0.0.0' : host, bound);
      if (isAny) {
        await this.#bind('udp6', '::', bound).catch((error: unknown) => {
          log?.warn({ err: error }, 'STUN answers on IPv4 only: IPv6 could not be bound.');
        });
      } else if (isIPv6(host)) bound = await this.#bind('udp6', host, bound);
    } catch (error) {
      await this.stop();
      throw error;
    }
    return {
      port: bound,
      families: this.#sockets.map((socket) => (socket.address().family === 'IPv6' ? 'udp6' : 'udp4')),
    };
  }

  async stop(): Promise<void> {
    const sockets = this.#sockets;
    this.#sockets = [];
    await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.close(resolve))));
  }

  metrics(): StunMetrics {
    return this.#server.metrics();
  }

  #bind(type: SocketType, address: string, port: number): Promise<number> {
    const socket = createSocket({
      type,
      ipv6Only: type === 'udp6',
      // Answers go to addresses: the resolver is a detour for each of them.
      lookup: (name, options, callback) =>
        isIP(name) ? callback(null, name, type === 'udp4' ? 4 : 6) : lookup(name, options, callback),
    });
    const { clock } = this.#options;
    const drain = this.#drain;
    let fd: number | undefined;
    let now = 0;
    const answer = (datagram: Uint8Array, ip: Uint8Array, from: number) => this.#server.answer(datagram, ip, from, now);
    socket.on('message', (datagram, source) => {
      now = clock.now();
      const ip = source.family === 'IPv4' ? parseIp(source.address) : undefined;
      if (drain !== undefined && fd !== undefined && ip !== undefined) {
        // What waits behind the datagram that came as an event is answered with it.
        drain(fd, answer, { datagram, ip, port: source.port });
        return;
      }
      const bytes = this.#server.handle(datagram, source, now);
      if (bytes !== undefined) socket.send(bytes, 0, bytes.length, source.port, source.address);
      if (drain !== undefined && fd !== undefined) drain(fd, answer);
    });
    return new Promise((resolve, reject) => {
      socket.once('error', (error) => {
        socket.close();
        reject(error);
      });
      socket.bind(port, address, () => {
        socket.removeAllListeners('error');
        // An answer that cannot be sent concerns its asker alone.
        socket.on('error', (error) => this.#options.log?.debug({ err: error }, 'A STUN answer was not sent.'));
        socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES);
        this.#sockets.push(socket);
        fd = drain && udpHandleOf(socket)?.fd;
        resolve(socket.address().port);
      });
    });
  }
}
