import { Socket } from 'node:net';
import type { Isolation } from '../isolation.ts';
import type { CLibrary } from './c-library.ts';

/** Packets in one turn of the event loop, so that a flood leaves room for other work. */
const MAX_PACKETS = 256;
const AF_UNIX = 1;
const SOCK_STREAM_CLOEXEC = 1 | 0o2_000_000;

/**
 * Reads packets as they come. Node watches no character device: the interface takes the place of a socket that Node watches, and
 * each read of it gives one packet.
 */
export function linuxPackets(library: CLibrary): Pick<Isolation, 'readPackets'> {
  const pair = library.take('int socketpair(int domain, int type, int protocol, _Out_ int *fds)');
  const copyTo = library.take('int dup2(int fd, int to)');
  const close = library.take('int close(int fd)');
  const read = library.takeQuiet('long read(int fd, _Out_ void *bytes, size_t length)');
  return {
    readPackets(tun, maxBytes, onPacket, onEnd) {
      const fds = [0, 0];
      pair(AF_UNIX, SOCK_STREAM_CLOEXEC, 0, fds);
      const [watched = -1, other = -1] = fds;
      const bytes = new Uint8Array(maxBytes);
      const callback = (length: number, first: Uint8Array): boolean => {
        onPacket(first.subarray(0, length));
        for (let count = 1; count < MAX_PACKETS; count++) {
          const more = Number(read(watched, bytes, maxBytes));
          if (more <= 0) break;
          onPacket(bytes.subarray(0, more));
        }
        return true;
      };
      const onread = { buffer: new Uint8Array(maxBytes), callback };
      const socket = new Socket({ fd: watched, readable: true, writable: false, onread });
      // Before the event loop asks the system about it.
      copyTo(tun, watched);
      close(other);
      let isClosed = false;
      const end = () => {
        if (!isClosed) onEnd();
        isClosed = true;
      };
      socket.on('error', end).on('close', end);
      socket.resume();
      return {
        close() {
          isClosed = true;
          socket.destroy();
        },
      };
    },
  };
}
