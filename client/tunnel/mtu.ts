/** Bytes of a packet inside the tunnel, at most: any path that carries IPv6 carries its packets whole. */
export const TUNNEL_MTU = 1_280;
/** WireGuard adds type, receiver, counter and tag. */
export const ADDED_BYTES = 32;
/** UDP payload of the largest packet that WireGuard sends. */
export const FULL_PACKET_BYTES = TUNNEL_MTU + ADDED_BYTES;
