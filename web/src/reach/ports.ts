import { reachability as words } from '../texts/reachability.ts';

/** "ALL", or ranges of ports; ICMP has none. */
export type Allowed =
  | 'ALL'
  | readonly { readonly protocol: string; readonly from?: number | undefined; readonly to?: number | undefined }[];

const MOST = 4;

/** As `tcp/5432, udp/53`, the first few in full. */
export function portsText(allowed: Allowed, { most = MOST, omitted = 0 } = {}): string {
  if (allowed === 'ALL') return words.anything;
  if (allowed.length === 0) return words.nothing;
  const shown = allowed.slice(0, most).map(({ protocol, from, to }) => {
    const name = protocol.toLowerCase();
    if (from === undefined || (from <= 1 && to === 65_535)) return name;
    return `${name}/${from === to || to === undefined ? from : `${from}-${to}`}`;
  });
  const left = allowed.length - shown.length + omitted;
  return [...shown, ...(left > 0 ? [words.morePorts(left)] : [])].join(', ');
}

export const countText = new Intl.NumberFormat('en').format;
