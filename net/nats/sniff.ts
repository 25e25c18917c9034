import type { Socket } from 'node:net';

/** The first byte of a TLS handshake (RFC 8446, 5.1); no operation of NATS begins with it. */
const TLS_HANDSHAKE = 0x16;

/** Tells by the first bytes of a client whether it upgrades to TLS or goes on in clear; they are read again afterwards. */
export function onFirstBytes(socket: Socket, decide: (isTls: boolean) => void): void {
  const look = () => {
    const bytes = socket.read() as Uint8Array | null;
    if (bytes === null) return;
    socket.off('readable', look);
    socket.unshift(bytes);
    decide(bytes[0] === TLS_HANDSHAKE);
  };
  socket.on('readable', look);
}
