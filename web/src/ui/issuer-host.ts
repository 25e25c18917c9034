/** Returns the host of an issuer, as a short name of it: its identifier is an address. */
export function issuerHost(issuer: string): string {
  return URL.parse(issuer)?.host ?? issuer;
}
