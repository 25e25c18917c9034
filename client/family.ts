export type Family = 'ipv4' | 'ipv6';

export function familyOf(address: string): Family {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}
