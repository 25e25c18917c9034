import { formatRange } from './format-address.ts';
import type { Permission, PortProtocol, Ports } from './permissions.ts';

/** Definitions of sets, maps and chains, and the lookups that accept what is permitted and go on with the rest. */
interface RenderedDirection {
  readonly definitions: string;
  readonly lookups: readonly string[];
}

/** How a direction names the peer and the port of a connection: who the first packet came from, or who the replies come from. */
const TUPLES = {
  in: { peer: 'ct original', port: 'ct original proto-dst' },
  out: { peer: 'ct reply', port: 'ct reply proto-src' },
} as const;
type Direction = keyof typeof TUPLES;

const PORT_PROTOCOLS: readonly PortProtocol[] = ['TCP', 'UDP', 'SCTP'];
const FAMILIES = [
  { family: 4, ip: 'ip', type: 'ipv4_addr', icmp: 'icmp' },
  { family: 6, ip: 'ip6', type: 'ipv6_addr', icmp: 'ipv6-icmp' },
] as const;

/** How the rules of one direction and family speak of a connection. */
interface Words {
  readonly name: string;
  readonly type: string;
  readonly saddr: string;
  readonly port: string;
  readonly icmp: string;
}

/** Permissions of some peers, as rules that accept them and return with the rest. */
interface Chain {
  readonly name: string;
  readonly sets?: string;
  readonly rules: string;
  readonly permitted: readonly Permission[];
}

/**
 * Kinds of permissions with a chain of their own, which costs some 20 µs at each replacement and each look at the rules.
 * Networks have fewer; of those that have more, the rarest share chains, so many in each: a lookup of peer and range of
 * ports together costs a packet 0.1 µs, and the more the more of them there are (docs/benchmarks/firewall.md).
 */
const MOST_KINDS = 1_000;
const RARE_IN_A_CHAIN = 250;

/**
 * Renders the connections that peers may open here, or that may be opened at them. Peers with the same permissions share one chain, found by
 * the peer's address: one lookup, however many ports there are.
 */
export function renderDirection(direction: Direction, permissions: readonly Permission[]): RenderedDirection {
  const { peer, port } = TUPLES[direction];
  const families = FAMILIES.map(({ family, ip, type, icmp }) => {
    const words = { name: `${direction}${family}`, type, saddr: `${peer} ${ip} saddr`, port, icmp };
    return renderFamily(
      words,
      permissions.filter(({ range }) => range.family === family),
    );
  });
  return {
    definitions: families.map(({ definitions }) => definitions).join(''),
    lookups: families.flatMap(({ lookups }) => lookups),
  };
}

function renderFamily(words: Words, permissions: readonly Permission[]): RenderedDirection {
  const hosts: string[] = [];
  const ranges: string[] = [];
  const give = (verdict: string, permitted: readonly Permission[]) => {
    for (const { range } of permitted) {
      (range.from === range.to ? hosts : ranges).push(`${formatRange(range)} : ${verdict}`);
    }
  };
  give(
    'accept',
    permissions.filter(({ all }) => all),
  );
  let definitions = '';
  const limited = permissions.filter(({ all }) => !all);
  for (const { name, sets = '', rules, permitted } of chainsOf(words, limited)) {
    definitions += `${sets}chain ${name} {\n${rules}}\n`;
    give(`jump ${name}`, permitted);
  }
  // Ranges have a map of their own: a packet's lookup among them takes longer.
  const maps = Object.entries({ hosts, ranges }).filter(([, elements]) => elements.length > 0);
  for (const [of, elements] of maps) {
    definitions += renderTable('map', `${words.name}_${of}`, `${words.type} : verdict`, elements);
  }
  return { definitions, lookups: maps.map(([of]) => `${words.saddr} vmap @${words.name}_${of}`) };
}

function chainsOf(words: Words, permissions: readonly Permission[]): Chain[] {
  const kinds = [...Map.groupBy(permissions, (permission) => rulesOf(words, permission))];
  kinds.sort(([, some], [, others]) => others.length - some.length);
  const rare = kinds.splice(MOST_KINDS).flatMap(([, permitted]) => permitted);
  const nameOf = (index: number) => `${words.name}_${index}`;
  return [
    ...kinds.map(([rules, permitted], index) => ({ name: nameOf(index), rules, permitted })),
    ...chunks(rare, RARE_IN_A_CHAIN).map((some, index) => sharedChain(words, nameOf(MOST_KINDS + index), some)),
  ];
}

function rulesOf({ port, icmp: l4proto }: Words, { icmp, ports }: Permission): string {
  let rules = '';
  for (const protocol of PORT_PROTOCOLS) {
    const some = ports[protocol];
    const [first] = some;
    if (first === undefined) continue;
    const either = some.length === 1 ? formatPorts(first) : `{ ${some.map(formatPorts).join(', ')} }`;
    rules += `meta l4proto ${protocol.toLowerCase()} ${port} ${either} accept\n`;
  }
  return icmp ? `${rules}meta l4proto ${l4proto} accept\n` : rules;
}

/** For peers with different permissions the rules look up the peer once more, with the port. */
function sharedChain({ type, saddr, port, icmp }: Words, name: string, permitted: readonly Permission[]): Chain {
  let [sets, rules] = ['', ''];
  const put = (l4proto: string, of: string, key: string, elements: readonly string[]) => {
    if (elements.length === 0) return;
    const set = `${name}_${l4proto.replace('-', '_')}`;
    sets += renderTable('set', set, of, elements);
    rules += `meta l4proto ${l4proto} ${key} @${set} accept\n`;
  };
  for (const protocol of PORT_PROTOCOLS) {
    const elements = permitted.flatMap(({ range, ports }) =>
      ports[protocol].map((some) => `${formatRange(range)} . ${formatPorts(some)}`),
    );
    put(protocol.toLowerCase(), `${type} . inet_service`, `${saddr} . ${port}`, elements);
  }
  const pinging = permitted.filter((one) => one.icmp).map(({ range }) => formatRange(range));
  put(icmp, type, saddr, pinging);
  return { name, sets, rules, permitted };
}

function renderTable(kind: 'map' | 'set', name: string, type: string, elements: readonly string[]): string {
  // Told its size, the kernel finds a single address in less time; of ranges it counts otherwise.
  const form = elements.some((element) => element.includes('-')) ? 'flags interval' : `size ${elements.length}`;
  return `${kind} ${name} { type ${type}; ${form}; elements = { ${elements.join(', ')} } }\n`;
}

function formatPorts([from, to]: Ports): string {
  return from === to ? `${from}` : `${from}-${to}`;
}

function chunks<T>(values: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
    values.slice(index * size, (index + 1) * size),
  );
}
