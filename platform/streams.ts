import type { Socket } from 'node:net';

/** Called with bytes that are valid until it returns. */
export type OnBytes = (bytes: Uint8Array) => void;

/** Reads of TCP connections. */
export interface Streams {
  /**
   * Reads a connection that was accepted and is paused. The buffer is one for all connections.
   *
   * @returns the socket of the connection from now on
   */
  read(accepted: Socket, buffer: Uint8Array, onBytes: OnBytes): Socket;
}
