/** struct sockaddr_in and sockaddr_in6. */
export const SOCKADDR_IN = { family: 2, bytes: 16, addressAt: 4, addressBytes: 4 } as const;
export const SOCKADDR_IN6 = { family: 10, bytes: 28, addressAt: 8, addressBytes: 16 } as const;
export const PORT_AT = 2;

/** Where a datagram goes, as the system names it: a `struct sockaddr`. */
export type Target = Uint8Array;

/** @param ip 4 or 16 bytes */
export function targetOf(ip: Uint8Array, port: number): Target {
  const kind = ip.length === SOCKADDR_IN.addressBytes ? SOCKADDR_IN : SOCKADDR_IN6;
  const target = new Uint8Array(kind.bytes);
  const view = new DataView(target.buffer);
  view.setUint16(0, kind.family, true);
  view.setUint16(PORT_AT, port);
  target.set(ip, kind.addressAt);
  return target;
}
