import type { Socket } from 'node:net';
import { loadKoffi } from './libc.ts';

const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
type Send = (fd: number, bytes: Uint8Array, length: number, flags: number) => number;

let send: Send | undefined;

/**
 * Writes what the kernel takes at once, from where it lies: the bytes are the caller's again. The stream of Node keeps what it
 * is given until it calls back, through a dozen functions.
 *
 * @returns bytes written, none before `loadDirectSend`; the stream has to write the rest
 */
export function sendDirect(socket: Socket, bytes: Uint8Array): number {
  if (send === undefined) return 0;
  // What waits in the stream comes first; what leaves through TLS is not this.
  if (socket.writableLength > 0 || socket.connecting || !socket.writable || 'encrypted' in socket) return 0;
  const fd = descriptorOf(socket);
  return fd < 0 ? 0 : Math.max(0, send(fd, bytes, bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL));
}

/** For a process that is busy: it costs some 9 MB. */
export async function loadDirectSend(): Promise<void> {
  if (send !== undefined) return;
  send = (await loadKoffi())?.load(null).func('int send(int, void *, size_t, int)');
}

/** Not part of Node's interface. @returns -1 where there is none */
function descriptorOf(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { readonly _handle?: { readonly fd?: unknown } | null };
  return typeof handle?.fd === 'number' ? handle.fd : -1;
}
