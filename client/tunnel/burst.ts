import { ADDED_BYTES } from './mtu.ts';

/** Largest UDP payload of one IPv4 packet. */
const MESSAGE_BYTES = 65_507;
/** Headers of TCP with time stamps over IPv6; those over IPv4 are shorter. */
const TCP_HEADER_BYTES = 72;

/**
 * How much of a TCP stream Linux hands to the tunnel at once (`gso_max_size` of the interface), so that its packets leave as
 * one message. Of the 53 that 64 KiB make, 49 fit into one: each hop would wake up once more for the other 4.
 */
export function burstBytesOf(mtu: number): number {
  return Math.floor(MESSAGE_BYTES / (mtu + ADDED_BYTES)) * (mtu - TCP_HEADER_BYTES);
}
