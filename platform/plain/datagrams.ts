import type { Socket } from 'node:dgram';
import {
  type DatagramOptions,
  type DatagramSocket,
  type Datagrams,
  type SocketAddress,
  socketAddressOf,
} from '../datagrams.ts';
import { boundSocket, closed, sendApart } from './udp-socket.ts';

/** An event and a system call for each datagram. */
export const plainDatagrams: Datagrams = {
  open: async (options) => new PlainSocket(options, await boundSocket(options)),
};

export class PlainSocket implements DatagramSocket {
  readonly port: number;
  readonly #socket: Socket;
  #closing: Promise<void> | undefined;

  constructor({ onDatagrams }: DatagramOptions, socket: Socket) {
    this.port = socket.address().port;
    this.#socket = socket;
    socket.on('message', (datagram, { address, port }) => {
      if (this.#closing === undefined) onDatagrams(datagram, 0, socketAddressOf(address, port));
    });
  }

  send(bytes: Uint8Array, segment: number, to: SocketAddress): void {
    if (this.#closing === undefined) sendApart(this.#socket, bytes, segment, to);
  }

  close(): Promise<void> {
    this.#closing ??= closed(this.#socket);
    return this.#closing;
  }
}
