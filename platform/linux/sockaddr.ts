/** struct sockaddr_in and sockaddr_in6. */
export const SOCKADDR_IN = { family: 2, bytes: 16, addressAt: 4, addressBytes: 4 } as const;
export const SOCKADDR_IN6 = { family: 10, bytes: 28, addressAt: 8, addressBytes: 16 } as const;
export const PORT_AT = 2;

/** Writes the name of an address as the system has it. @param ip 4 or 16 bytes. @returns the bytes of the name */
export function writeName(names: Uint8Array, view: DataView, at: number, ip: Uint8Array, port: number): number {
  const kind = ip.length === SOCKADDR_IN.addressBytes ? SOCKADDR_IN : SOCKADDR_IN6;
  // Clears flow and scope of IPv6 too: the room is used again and again.
  names.fill(0, at, at + kind.bytes);
  view.setUint16(at, kind.family, true);
  view.setUint16(at + PORT_AT, port);
  names.set(ip, at + kind.addressAt);
  return kind.bytes;
}
