import { Socket } from 'node:net';
import { plainStreams } from '../plain/streams.ts';
import type { OnBytes, Streams } from '../streams.ts';

export const linuxStreams: Streams = { read: readShared };

interface HandleOwner {
  _handle: object | null;
}

/**
 * Reads an accepted socket into one buffer shared by all connections, instead of a new 64 KiB one for each read.
 * `net` offers that (`onread`) only for sockets it connects, so the handle moves to a socket made that way; should a
 * future Node hide the handle, it is read as elsewhere.
 */
function readShared(accepted: Socket, buffer: Uint8Array, onBytes: OnBytes): Socket {
  const owner = accepted as unknown as HandleOwner;
  const handle = owner._handle;
  if (handle === null || handle === undefined) return plainStreams.read(accepted, buffer, onBytes);
  owner._handle = null;
  accepted.destroy();
  const callback = (length: number, bytes: Uint8Array): boolean => {
    onBytes(bytes.subarray(0, length));
    return true;
  };
  return new Socket({ handle, onread: { buffer, callback } } as ConstructorParameters<typeof Socket>[0]);
}
