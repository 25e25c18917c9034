/** Where relayed peers seem to live: loopback addresses, the contract's prefix of their endpoints. */
export const RELAY_ENDPOINTS = 'fd6c:7270::/64';
