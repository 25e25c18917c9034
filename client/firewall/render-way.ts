import type { IpRange } from '../../core/network/cidr.ts';
import { formatAddress } from './format-address.ts';
import type { Permission, PortProtocol, Ports } from './permissions.ts';

/** Definitions of sets, maps and chains, and the lookups that accept what is permitted and go on with the rest. */
interface RenderedWay {
  readonly definitions: string;
  readonly lookups: readonly string[];
}

/** How a way names the peer and the port of a connection: who the first packet came from, or who the replies come from. */
const TUPLES = {
  in: { peer: 'ct original', port: 'ct original proto-dst' },
  out: { peer: 'ct reply', port: 'ct reply proto-src' },
} as const;
type Way = keyof typeof TUPLES;

const PORT_PROTOCOLS: readonly PortProtocol[] = ['TCP', 'UDP', 'SCTP'];
const FAMILIES = [
  { family: 4, ip: 'ip', type: 'ipv4_addr', icmp: 'icmp' },
  { family: 6, ip: 'ip6', type: 'ipv6_addr', icmp: 'ipv6-icmp' },
] as const;
type Family = (typeof FAMILIES)[number];

/**
 * A chain costs some 20 µs at each replacement and each look at the rules. Networks have fewer kinds of permissions than
 * this; of those that have more, the rarest go into sets, where a packet's lookup among ranges of ports takes 2 µs
 * instead of 0.2 (10,000 of them, docs/benchmarks/firewall.md).
 */
const MOST_CHAINS = 1_000;

/**
 * What peers may open here, or what may be opened at them. Peers that are permitted the same share one chain, found by
 * the peer's address: one lookup, however many ports there are.
 */
export function renderWay(way: Way, permissions: readonly Permission[]): RenderedWay {
  const families = FAMILIES.map((family) =>
    renderFamily(
      way,
      family,
      permissions.filter(({ range }) => range.family === family.family),
    ),
  );
  return {
    definitions: families.map(({ definitions }) => definitions).join(''),
    lookups: families.flatMap((one) => one.lookups),
  };
}

function renderFamily(way: Way, of: Family, permissions: readonly Permission[]): RenderedWay {
  const { peer, port } = TUPLES[way];
  const byRules = [...Map.groupBy(permissions, (permission) => rulesOf(permission, port, of.icmp))].sort(
    ([, some], [, others]) => others.length - some.length,
  );
  const rare = byRules.splice(MOST_CHAINS).flatMap(([, permitted]) => permitted);
  const name = `${way}${of.family}`;
  const hosts: string[] = [];
  const ranges: string[] = [];
  let chains = '';
  for (const [index, [rules, permitted]] of byRules.entries()) {
    const chain = `${name}_${index}`;
    chains += `chain ${chain} {\n${rules}}\n`;
    for (const { range } of permitted) {
      (range.from === range.to ? hosts : ranges).push(`${formatRange(range)} : jump ${chain}`);
    }
  }
  const verdicts = `${of.type} : verdict`;
  const saddr = `${peer} ${of.ip} saddr`;
  const tables = [
    renderTable('map', `${name}_hosts`, verdicts, hosts, `${saddr} vmap`),
    // Ranges have a map of their own: a packet's lookup among them takes longer.
    renderTable('map', `${name}_ranges`, verdicts, ranges, `${saddr} vmap`),
    ...renderSets(name, of, rare, saddr, port),
  ];
  return {
    definitions: chains + tables.map(({ definitions }) => definitions).join(''),
    lookups: tables.flatMap(({ lookups }) => lookups),
  };
}

/** All that is permitted, as rules that accept it and return with the rest. */
function rulesOf({ all, icmp, ports }: Permission, port: string, icmpName: string): string {
  if (all) return 'accept\n';
  const rules = PORT_PROTOCOLS.flatMap((protocol) => {
    const [first, ...more] = ports[protocol].map(formatPorts);
    if (first === undefined) return [];
    const either = more.length === 0 ? first : `{ ${[first, ...more].join(', ')} }`;
    return [`meta l4proto ${protocol.toLowerCase()} ${port} ${either} accept\n`];
  });
  if (icmp) rules.push(`meta l4proto ${icmpName} accept\n`);
  return rules.join('');
}

function renderSets(name: string, { type, icmp }: Family, rare: readonly Permission[], saddr: string, port: string) {
  const of = (picked: (permission: Permission) => boolean) =>
    rare.filter(picked).map(({ range }) => formatRange(range));
  return [
    ...PORT_PROTOCOLS.map((protocol) => {
      const elements = rare.flatMap(({ range, ports }) =>
        ports[protocol].map((some) => `${formatRange(range)} . ${formatPorts(some)}`),
      );
      const l4proto = protocol.toLowerCase();
      const key = `meta l4proto ${l4proto} ${saddr} . ${port}`;
      return renderTable('set', `${name}_${l4proto}`, `${type} . inet_service`, elements, key, ' accept');
    }),
    renderTable(
      'set',
      `${name}_icmp`,
      type,
      of((one) => one.icmp),
      `meta l4proto ${icmp} ${saddr}`,
      ' accept',
    ),
    renderTable(
      'set',
      `${name}_all`,
      type,
      of((one) => one.all),
      saddr,
      ' accept',
    ),
  ];
}

/** Nothing when there are no elements. */
function renderTable(
  kind: 'map' | 'set',
  name: string,
  type: string,
  elements: readonly string[],
  key: string,
  verdict = '',
): RenderedWay {
  if (elements.length === 0) return { definitions: '', lookups: [] };
  const flags = elements.some((element) => element.includes('-')) ? ' flags interval;' : '';
  return {
    definitions: `${kind} ${name} { type ${type};${flags} elements = { ${elements.join(', ')} } }\n`,
    lookups: [`${key} @${name}${verdict}`],
  };
}

function formatRange({ family, from, to }: IpRange): string {
  const first = formatAddress(family, from);
  return from === to ? first : `${first}-${formatAddress(family, to)}`;
}

function formatPorts([from, to]: Ports): string {
  return from === to ? `${from}` : `${from}-${to}`;
}
