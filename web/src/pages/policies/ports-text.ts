import type { PortEntry } from '../../api/types.ts';
import { rangesAsWords, rangeText } from '../../reach/ports.ts';

/** As `TCP 5432, UDP 6000-6100, ICMP`; a port alone is one of TCP. Empty: everything. */
export function portsText(ports: readonly PortEntry[] = []): string {
  return ports.map(portText).join(', ');
}

const portText = ({ protocol, port, endPort }: PortEntry) => rangeText(protocol ?? '', port, endPort).trim();

const ENTRY = /^(?:(tcp|udp|sctp|icmp)(?:\/(?=\d)|$))?(?:(\d{1,5})(?:-(\d{1,5}))?)?$/i;

/** What a text of ports means; or the first part that is none. */
export function portsOf(text: string): PortEntry[] | string {
  const entries: PortEntry[] = [];
  for (const part of rangesAsWords(text)
    .split(/[\s,]+/)
    .filter((one) => one !== '')) {
    const [whole, protocol, port, endPort] = ENTRY.exec(part) ?? [];
    if (whole === undefined) return part;
    entries.push({
      ...(protocol && { protocol: protocol.toUpperCase() as NonNullable<PortEntry['protocol']> }),
      ...(port && { port: Number(port) }),
      ...(endPort && { endPort: Number(endPort) }),
    });
  }
  return entries;
}
