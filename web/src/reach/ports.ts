/** "ALL", or ranges of ports; ICMP has none. */
export type Allowed =
  | 'ALL'
  | readonly { readonly protocol: string; readonly from?: number | undefined; readonly to?: number | undefined }[];

const MOST = 4;

/** As `TCP 5432, UDP 53`, the first few in full. */
export function portsText(allowed: Allowed, { most = MOST, omitted = 0 } = {}): string {
  if (allowed === 'ALL') return 'everything';
  if (allowed.length === 0) return 'nothing';
  const shown = allowed
    .slice(0, most)
    .map(({ protocol, from, to }) =>
      from !== undefined && from <= 1 && to === 65_535 ? protocol : rangeText(protocol, from, to),
    );
  const left = allowed.length - shown.length + omitted;
  return [...shown, ...(left > 0 ? [`${left} more`] : [])].join(', ');
}

/** One range as everything that Mesh says writes it: `TCP 5432`, `UDP 6000-6100`, `ICMP`. */
export function rangeText(protocol: string, from?: number | null, to?: number | null): string {
  if (from === undefined || from === null) return protocol;
  return `${protocol} ${to === undefined || to === null || to === from ? from : `${from}-${to}`}`;
}

/** What people write of ports, a word for each range: `TCP 443` and `443/tcp` as `TCP/443`. */
export function rangesAsWords(text: string): string {
  return text
    .replaceAll(/\b(\d+(?:-\d+)?)\/(tcp|udp|sctp)\b/gi, '$2/$1')
    .replaceAll(/\b(tcp|udp|sctp)\s+(?=\d)/gi, '$1/');
}

export const countText = new Intl.NumberFormat('en').format;

export const pairsText = (count: number) => `${countText(count)} ${count === 1 ? 'pair' : 'pairs'}`;
