import { Socket } from 'node:net';

/** Called with the shared read buffer: what is not used at once must be copied. */
export type OnBytes = (bytes: Uint8Array) => void;

interface Handled {
  _handle: object | null;
}

/**
 * Reads an accepted socket into one buffer shared by all connections, instead of a new 64 KiB one for each read.
 * `net` offers that (`onread`) only for sockets it connects, so the handle moves to a socket made that way; should a
 * future Node hide the handle, reading falls back to `data` events.
 */
export function adoptSocket(accepted: Socket, buffer: Uint8Array, onBytes: OnBytes): Socket {
  const owner = accepted as unknown as Handled;
  const handle = owner._handle;
  if (handle === null || handle === undefined) {
    accepted.on('data', onBytes);
    accepted.resume();
    return accepted;
  }
  owner._handle = null;
  accepted.destroy();
  const callback = (length: number, bytes: Uint8Array): boolean => {
    onBytes(bytes.subarray(0, length));
    return true;
  };
  return new Socket({ handle, onread: { buffer, callback } } as ConstructorParameters<typeof Socket>[0]);
}
