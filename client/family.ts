export type Family = 'ipv4' | 'ipv6';

/** Returns the family of an address in its usual text form. */
export function familyOf(address: string): Family {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}
