import type { IpRange } from '../../core/model/cidr.ts';

/** An address from its number; IPv6 in eight groups, without abbreviation. */
function formatAddress(family: 4 | 6, value: bigint): string {
  if (family === 4) {
    const number = Number(value);
    return `${number >>> 24}.${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}`;
  }
  const hex = value.toString(16).padStart(32, '0');
  return (hex.match(/.{4}/g) ?? []).map((group) => group.replace(/^0{1,3}/, '')).join(':');
}

/** As nftables reads it. */
export function formatRange({ family, from, to }: IpRange): string {
  const first = formatAddress(family, from);
  return from === to ? first : `${first}-${formatAddress(family, to)}`;
}
