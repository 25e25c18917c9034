export type Family = 'ipv4' | 'ipv6';

/** Of an address in its usual text form. */
export function familyOf(address: string): Family {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}
