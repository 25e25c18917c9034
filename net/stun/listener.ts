import { isIPv6 } from 'node:net';
import type { Clock, Log } from '../../core/base/ports.ts';
import type { DatagramSocket, Datagrams } from '../../platform/datagrams.ts';
import { datagrams } from '../../platform/platform.ts';
import { type StunMetrics, StunServer } from './server.ts';

/** A burst of requests must not be lost in the kernel before we read it. */
const RECEIVE_BUFFER_BYTES = 4_194_304;
/** Above the longest request that is read at all, so that a longer one is seen to be too long. */
const DATAGRAM_BYTES = 1_536;

export interface StunListenerOptions {
  /** An address of either family, or `0.0.0.0` or `::` for every address of both. */
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  readonly log?: Log;
  /** MESH_STUN_RATE. */
  readonly ratePerSecond?: number;
  /** Unless those that this process works with. */
  readonly datagrams?: Datagrams;
}

/** The STUN server's sockets: one for each address family. */
export class StunListener {
  readonly #options: StunListenerOptions;
  readonly #server: StunServer;
  #sockets: DatagramSocket[] = [];

  constructor(options: StunListenerOptions) {
    this.#options = options;
    const { ratePerSecond } = options;
    this.#server = new StunServer(ratePerSecond === undefined ? {} : { ratePerSecond });
  }

  /** Both families get the same port. A machine without IPv6 serves IPv4 alone. */
  async start(): Promise<{ readonly port: number }> {
    const { host, port, log } = this.#options;
    const isAny = host === '0.0.0.0' || host === '::';
    let bound = port;
    try {
      if (isAny || !isIPv6(host)) bound = await this.#bind('ipv4', isAny ? '0.0.0.0' : host, bound);
      if (isAny) {
        await this.#bind('ipv6', '::', bound).catch((error: unknown) => {
          log?.warn({ err: error }, 'STUN answers on IPv4 only: IPv6 could not be bound.');
        });
      } else if (isIPv6(host)) bound = await this.#bind('ipv6', host, bound);
    } catch (error) {
      await this.stop();
      throw error;
    }
    return { port: bound };
  }

  async stop(): Promise<void> {
    const sockets = this.#sockets;
    this.#sockets = [];
    await Promise.all(sockets.map((socket) => socket.close()));
  }

  metrics(): StunMetrics {
    return this.#server.metrics();
  }

  async #bind(family: 'ipv4' | 'ipv6', host: string, port: number): Promise<number> {
    const { clock, log, datagrams: means = datagrams } = this.#options;
    const socket = await means.open({
      family,
      host,
      port,
      receiveBufferBytes: RECEIVE_BUFFER_BYTES,
      maxBytes: DATAGRAM_BYTES,
      ...(log && { log }),
      onDatagrams: (datagram, _segment, from) => {
        const answer = this.#server.answer(datagram, from.ip, from.port, clock.now());
        if (answer !== undefined) socket.send(answer, 0, from);
      },
    });
    this.#sockets.push(socket);
    return socket.port;
  }
}
