import type { Socket } from 'node:net';

/** Called with bytes that are valid until it returns. */
export type OnBytes = (bytes: Uint8Array) => void;

/** TCP connections, beside what Node's sockets do. */
export interface Streams {
  /**
   * Reads a connection that was accepted and is paused. The buffer is one for all connections.
   *
   * @returns the socket of the connection from now on
   */
  read(accepted: Socket, buffer: Uint8Array, onBytes: OnBytes): Socket;
  /**
   * Writes what the kernel takes at once; the bytes are the caller's again.
   *
   * @returns how many were written: none where this cannot be done now. The caller writes the others to the socket
   */
  writeNow(socket: Socket, bytes: Uint8Array): number;
  /** From a process with much to write: makes `writeNow` worth calling, where that costs memory. */
  expectLoad(): Promise<void>;
}
