import type { PortEntry, Protocol } from '../../core/model/policy.ts';
import { Refusal } from './refusal.ts';

export const LAST_PORT = 65_535;

interface Said {
  /** None: all of them. */
  readonly ports: readonly PortEntry[];
  /** Left out by name. */
  readonly spared: readonly PortEntry[];
}

/**
 * The ports that are meant once those that are left out are: `1-100 except 22` is 1-21 and 23-100.
 *
 * @throws Refusal where nothing is left, or what is left out was not among them.
 */
export function meantPorts({ ports, spared }: Said): readonly PortEntry[] {
  if (spared.length === 0) return ports;
  const others = otherPorts(spared);
  if (ports.length === 0) return others;
  const left = portsIn(others, ports);
  const isWithin = spared.every((entry) => portsIn([entry], ports).length > 0);
  if (isWithin && left.length > 0) return left;
  throw new Refusal(`${portText(spared)} cannot be left out of ${portText(ports)}.`, [
    `Which ports are meant: ${portText(ports)}, or all but ${portText(spared)}?`,
  ]);
}

/** "Udp except dns" leaves out what udp has of it; all where no protocol is told. */
export function within(ports: readonly PortEntry[], told: readonly Protocol[] = []): readonly PortEntry[] {
  const own = ports.filter(({ protocol = 'TCP' }) => told.includes(protocol));
  return own.length > 0 ? own : ports;
}

/** The protocols that have ports, each once; undefined where none is told: "udp except 53" leaves out 53 of udp. */
export function protocolsOf(ports: readonly PortEntry[] = []): readonly Protocol[] | undefined {
  const told = ports.map(({ protocol = 'TCP' }) => protocol).filter((one) => one !== 'ICMP');
  return told.length > 0 ? [...new Set(told)] : undefined;
}

/** Each once. */
export function distinct(ports: readonly PortEntry[]): PortEntry[] {
  return [...new Map(ports.map((entry) => [portSlug([entry]), entry])).values()];
}

/** Every port that is not among these, of every protocol. */
export function otherPorts(ports: readonly PortEntry[]): PortEntry[] {
  return (['TCP', 'UDP', 'SCTP', 'ICMP'] as const).flatMap((protocol) => {
    const taken = ports.filter((entry) => (entry.protocol ?? 'TCP') === protocol);
    if (taken.length === 0) return [{ protocol }];
    return protocol === 'ICMP' || taken.some(({ port }) => port === undefined) ? [] : gaps(protocol, taken);
  });
}

function gaps(protocol: Protocol, taken: readonly PortEntry[]): PortEntry[] {
  const found: PortEntry[] = [];
  let next = 1;
  for (const { port = 1, endPort } of taken.toSorted((a, b) => (a.port ?? 1) - (b.port ?? 1))) {
    if (port > next) found.push(rangeOf(protocol, next, port - 1));
    next = Math.max(next, (endPort ?? port) + 1);
  }
  if (next <= LAST_PORT) found.push(rangeOf(protocol, next, LAST_PORT));
  return found;
}

export function rangeOf(protocol: Protocol, port: number, endPort: number): PortEntry {
  return { protocol, port, ...(endPort > port && { endPort }) };
}

/** `5432`, `udp-53`, `8000-8100`: for names of policies. */
export function portSlug(ports: readonly PortEntry[]): string {
  return ports
    .map(({ protocol = 'TCP', port, endPort }) =>
      [protocol === 'TCP' && port !== undefined ? undefined : protocol.toLowerCase(), port, endPort]
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

/** `5432/tcp and 53/udp`: as they can be said again. */
export function portList(ports: readonly PortEntry[]): string {
  return ports
    .map(({ protocol = 'TCP', port, endPort }) => {
      const name = protocol.toLowerCase();
      if (port === undefined) return protocol === 'ICMP' ? name : `all ${name} ports`;
      return `${port}${endPort === undefined ? '' : `-${endPort}`}/${name}`;
    })
    .join(' and ');
}

/** Those of the first list that are in the second, of which an empty one means all. */
export function portsIn(ports: readonly PortEntry[], range: readonly PortEntry[]): PortEntry[] {
  if (range.length === 0) return [...ports];
  return ports.flatMap((one) =>
    range.flatMap((other): PortEntry[] => {
      const protocol = one.protocol ?? 'TCP';
      if (protocol !== (other.protocol ?? 'TCP')) return [];
      if (one.port === undefined) return [other];
      if (other.port === undefined) return [one];
      const [first, last] = [
        Math.max(one.port, other.port),
        Math.min(one.endPort ?? one.port, other.endPort ?? other.port),
      ];
      return first <= last ? [rangeOf(protocol, first, last)] : [];
    }),
  );
}
