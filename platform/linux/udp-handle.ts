import type { Socket } from 'node:dgram';

/** The handle below a UDP socket of Node. */
export interface UdpHandle {
  readonly fd: number;
  /** Turns the events for arriving datagrams on and off. */
  recvStart(): void;
  recvStop(): void;
}

/** Not part of Node's interface. @returns undefined where it is missing, or the socket is not bound or closed */
export function udpHandleOf(socket: Socket): UdpHandle | undefined {
  const state = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol');
  const held =
    state && (socket as unknown as Record<symbol, { handle?: Partial<UdpHandle> | null } | undefined>)[state];
  const handle = held?.handle;
  if (typeof handle?.fd !== 'number' || handle.fd < 0) return undefined;
  if (typeof handle.recvStart !== 'function' || typeof handle.recvStop !== 'function') return undefined;
  return handle as UdpHandle;
}
