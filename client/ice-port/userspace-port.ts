import type { Endpoint } from '../tunnel/tunnel.ts';
import type { OpenSharedPort } from './shared-port.ts';

/** Socket of a userspace WireGuard, as far as STUN needs it. */
export interface StunSocket {
  sendStun(to: Endpoint, bytes: Uint8Array): void;
  /** Takes what is not WireGuard's; another handler replaces it. */
  receiveStun(handler: (bytes: Uint8Array, from: Endpoint) => void): void;
}

/** The port of a WireGuard in this process: it has one socket, which is shared by nature. */
export function userspacePort(socket: StunSocket): OpenSharedPort {
  return async ({ onDatagram }) => {
    socket.receiveStun(onDatagram);
    return {
      send: (to, bytes) => socket.sendStun(to, bytes),
      share: async () => null,
      isShared: async () => true,
      answerOf: () => undefined,
      close: async () => socket.receiveStun(() => {}),
    };
  };
}
