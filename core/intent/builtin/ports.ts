import type { PortEntry, Protocol } from '../../network/policy.ts';
import { quoted, Refusal } from './refusal.ts';

const LAST_PORT = 65_535;

/** Services that may be named instead of their ports. */
export const KNOWN_SERVICES: Readonly<Record<string, readonly PortEntry[]>> = {
  ssh: [{ protocol: 'TCP', port: 22 }],
  http: [{ protocol: 'TCP', port: 80 }],
  https: [{ protocol: 'TCP', port: 443 }],
  dns: [
    { protocol: 'UDP', port: 53 },
    { protocol: 'TCP', port: 53 },
  ],
  postgres: [{ protocol: 'TCP', port: 5432 }],
  mysql: [{ protocol: 'TCP', port: 3306 }],
  redis: [{ protocol: 'TCP', port: 6379 }],
  icmp: [{ protocol: 'ICMP' }],
};

const LEAD = /^(?:(tcp|udp|sctp) )?(?:ports?|port range) /;
const TRAIL = /[ /](tcp|udp|sctp)$/;
const ITEM = /^(?:(tcp|udp|sctp)[ /])?(\d{1,6})(?: ?(?:-|to|through) ?(\d{1,6}))?(?:[ /](tcp|udp|sctp))?$/;

/**
 * Reads `port 5432`, `ports 80 and 443`, `udp port 53`, `8000-8100/tcp`, `https`.
 *
 * @returns undefined when the text speaks of no ports at all.
 * @throws Refusal when it does, but wrongly.
 */
export function parsePorts(text: string): PortEntry[] | undefined {
  const lead = LEAD.exec(text);
  const rest = lead ? text.slice(lead[0].length) : text;
  const items = rest.split(/\s*,\s*(?:and |or )?|\s+and\s+|\s+or\s+/).map((item) => item.replace(LEAD, '$1 ').trim());
  if (!lead && !items.every((item) => ITEM.test(item) || Object.hasOwn(KNOWN_SERVICES, item))) return undefined;
  const shared = lead?.[1] ?? (items.length > 1 ? TRAIL.exec(rest)?.[1] : undefined);
  return items.flatMap((item) => parseItem(item, shared));
}

function parseItem(item: string, shared: string | undefined): readonly PortEntry[] {
  const service = Object.hasOwn(KNOWN_SERVICES, item) ? KNOWN_SERVICES[item] : undefined;
  if (service) return service;
  const [, before, first, last, after] = ITEM.exec(item) ?? [];
  if (first === undefined)
    throw new Refusal(`${quoted(item)} is no port: write "port 443", "ports 80 and 443" or "port 53/udp".`);
  const [port, endPort] = [Number(first), last === undefined ? undefined : Number(last)];
  if (port < 1 || port > LAST_PORT || (endPort !== undefined && (endPort < port || endPort > LAST_PORT))) {
    throw new Refusal(`${quoted(item)} is no port range: ports go from 1 to ${LAST_PORT}, the lower one first.`);
  }
  const protocol = (before ?? after ?? shared ?? 'tcp').toUpperCase() as Protocol;
  return [{ protocol, port, ...(endPort !== undefined && endPort > port && { endPort }) }];
}

/** Every port that is not among these, of every protocol. */
export function otherPorts(ports: readonly PortEntry[]): PortEntry[] {
  return (['TCP', 'UDP', 'SCTP', 'ICMP'] as const).flatMap((protocol) => {
    const taken = ports.filter((entry) => (entry.protocol ?? 'TCP') === protocol);
    if (taken.length === 0) return [{ protocol }];
    return protocol === 'ICMP' ? [] : gaps(protocol, taken);
  });
}

function gaps(protocol: Protocol, taken: readonly PortEntry[]): PortEntry[] {
  const found: PortEntry[] = [];
  let next = 1;
  for (const { port = 1, endPort } of [...taken].sort((a, b) => (a.port ?? 1) - (b.port ?? 1))) {
    if (port > next) found.push(rangeOf(protocol, next, port - 1));
    next = Math.max(next, (endPort ?? port) + 1);
  }
  if (next <= LAST_PORT) found.push(rangeOf(protocol, next, LAST_PORT));
  return found;
}

function rangeOf(protocol: Protocol, port: number, endPort: number): PortEntry {
  return { protocol, port, ...(endPort > port && { endPort }) };
}

/** `5432`, `udp-53`, `8000-8100`: for names of policies. */
export function portSlug(ports: readonly PortEntry[]): string {
  return ports
    .map(({ protocol = 'TCP', port, endPort }) =>
      [protocol === 'TCP' ? undefined : protocol.toLowerCase(), port, endPort]
        .filter((part) => part !== undefined)
        .join('-'),
    )
    .join('-');
}

/** `TCP 5432`, `UDP 53 and TCP 8000-8100`: for sentences. */
export function portText(ports: readonly PortEntry[]): string {
  return ports
    .map(({ protocol = 'TCP', port, endPort }) => {
      if (port === undefined) return protocol;
      return `${protocol} ${port}${endPort === undefined ? '' : `-${endPort}`}`;
    })
    .join(' and ');
}
