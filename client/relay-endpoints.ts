/** Where relayed peers seem to live: loopback addresses, the contract's prefix of their endpoints. */
export const RELAY_ENDPOINTS = 'fd6c:7270::/64';
/** The same where they have to be IPv4: people are shown the prefix above all the same. */
export const RELAY_ENDPOINTS_IPV4 = '127.77.0.0/16';

/** Tells whether an address is one of these. */
export function isRelayEndpoint(address: string): boolean {
  return address.startsWith('fd6c:7270:') || address.startsWith('127.77.');
}
