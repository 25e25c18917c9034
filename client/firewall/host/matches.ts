import { overlaps, parseRange } from '../../../core/model/cidr.ts';

/** The first packet of a connection from a peer to this node. */
export interface Newcomer {
  readonly interfaceName: string;
  /** CIDRs. */
  readonly from: string;
  readonly to: string;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP' | 'ICMP';
  /** Where it goes to; 0 without ports. */
  readonly port: number;
}

/** `maybe`: the packet alone does not tell, or this program does not know the expression. */
export type Matches = 'yes' | 'no' | 'maybe';

/** A rule, as far as this packet is concerned. */
export interface Judged {
  readonly matches: Matches;
  /** What follows the last condition. */
  readonly rest: string;
}

/** Conditions at the beginning of a rule, each with its value: a word, a set in braces, or words with commas. */
const CONDITION =
  /^((?:meta |ct |ip6? |tcp |udp |sctp |th |icmp |icmpv6 |fib daddr )?[a-z0-9_]+(?: option)?) (!= )?(\{ [^}]* \}|"[^"]*"|[\w@.:/*-]+(?:,\s?[\w.:/-]+)*)(?: |$)/;
/** `tcp dport vmap { 22 : accept, 80 : jump web }` */
const VMAP = /^((?:meta |ct |ip6? |tcp |udp |th |icmp )?[a-z0-9_]+) vmap (\{ [^}]* \}|@\S+)$/;
/** Statements that decide nothing. */
const ASIDE =
  /^(?:counter packets \d+ bytes \d+|counter(?: name "[^"]*")?|comment "[^"]*"|log(?: prefix "[^"]*")?(?: group \d+)?(?: level \w+)?(?: flags \w+)?)(?: |$)/;
const VERDICT = /^(?:accept|drop|reject|return|continue|jump |goto |queue|masquerade|dnat|snat|redirect)/;

/** Reads the conditions of a rule against a packet. Pure. */
export function judge(text: string, packet: Newcomer): Judged {
  let matches: Matches = 'yes';
  let rest = text;
  while (rest !== '' && !VERDICT.test(rest)) {
    const aside = ASIDE.exec(rest)?.[0];
    if (aside !== undefined) {
      rest = rest.slice(aside.length);
      continue;
    }
    const [mapped, by = '', map = ''] = VMAP.exec(rest) ?? [];
    if (mapped !== undefined) {
      const verdict = inMap(KEYS[by], map, packet);
      return { matches: verdict === undefined ? 'no' : matches, rest: verdict ?? '' };
    }
    const [whole, key = '', not, value = ''] = CONDITION.exec(rest) ?? [];
    const isKnown = whole !== undefined && KEYS[key] !== undefined;
    const held = isKnown ? negated(KEYS[key]?.(valuesOf(value), packet) ?? 'maybe', not !== undefined) : 'maybe';
    if (held === 'no') return { matches: 'no', rest: '' };
    if (held === 'maybe') matches = 'maybe';
    // What is not understood ends where the verdict begins.
    rest = isKnown ? rest.slice(whole.length) : fromVerdict(rest);
  }
  return { matches, rest };
}

function fromVerdict(rest: string): string {
  const at = rest.search(/ (?:accept|drop|reject|return|jump|goto|queue)\b/);
  return at < 0 ? '' : rest.slice(at + 1);
}

/** @returns undefined where the packet is none of the keys; nothing where that is not known */
function inMap(judgeOf: Judge | undefined, map: string, packet: Newcomer): string | undefined {
  if (!judgeOf || map.startsWith('@')) return '';
  for (const element of valuesOf(map)) {
    const [key = '', verdict = ''] = element.split(' : ');
    if (judgeOf([key.replaceAll('"', '')], packet) === 'yes') return verdict;
  }
  return undefined;
}

type Judge = (values: readonly string[], packet: Newcomer) => Matches;

const protocolOf = ({ protocol }: Newcomer) => protocol.toLowerCase();
const is =
  (actual: (packet: Newcomer) => string): Judge =>
  (values, packet) =>
    anyOf(values, (value) => value === actual(packet));
const never: Judge = () => 'no';
const interfaces: Judge = (values, { interfaceName }) =>
  anyOf(values, (value) =>
    value.endsWith('*') ? interfaceName.startsWith(value.slice(0, -1)) : value === interfaceName,
  );
const addresses =
  (of: 'from' | 'to'): Judge =>
  (values, packet) => {
    const own = parseRange(packet[of]);
    return anyOf(values, (value) => {
      const range = parseRange(value);
      return range !== undefined && own !== undefined && overlaps(range, own);
    });
  };
const ports =
  (...protocols: readonly string[]): Judge =>
  (values, packet) => {
    if (!protocols.includes(protocolOf(packet))) return 'no';
    return anyOf(values, (value) => {
      const [from = 0, to = from] = value.split('-').map((port) => PORTS[port] ?? Number(port));
      return from <= packet.port && packet.port <= to;
    });
  };
const sourcePorts =
  (...protocols: readonly string[]): Judge =>
  (_, packet) =>
    protocols.includes(protocolOf(packet)) ? 'maybe' : 'no';

/** nft prints some ports of well-known services by name where it is asked to; listings here are numeric but for these. */
const PORTS: Readonly<Record<string, number>> = { ssh: 22, domain: 53, http: 80, https: 443 };

const KEYS: Readonly<Record<string, Judge>> = {
  iifname: interfaces,
  iif: interfaces,
  'meta iifname': interfaces,
  'meta iif': interfaces,
  oifname: never,
  oif: never,
  'meta nfproto': is(({ from }) => (from.includes(':') ? 'ipv6' : 'ipv4')),
  'meta l4proto': is(protocolOf),
  'ip protocol': is(protocolOf),
  'ip saddr': addresses('from'),
  'ip daddr': addresses('to'),
  'ip6 saddr': addresses('from'),
  'ip6 daddr': addresses('to'),
  'ct state': is(() => 'new'),
  'ct status': never,
  'fib daddr type': is(() => 'local'),
  pkttype: is(() => 'unicast'),
  'meta pkttype': is(() => 'unicast'),
  'tcp dport': ports('tcp'),
  'udp dport': ports('udp'),
  'sctp dport': ports('sctp'),
  'th dport': ports('tcp', 'udp', 'sctp'),
  'tcp sport': sourcePorts('tcp'),
  'udp sport': sourcePorts('udp'),
  'icmp type': (values, packet) =>
    packet.protocol === 'ICMP' ? anyOf(values, (value) => value === 'echo-request') : 'no',
  'icmpv6 type': never,
};

/** A named set is not looked into. */
function anyOf(values: readonly string[], holds: (value: string) => boolean): Matches {
  if (values.some(holds)) return 'yes';
  return values.some((value) => value.startsWith('@')) ? 'maybe' : 'no';
}

function valuesOf(value: string): readonly string[] {
  return value
    .replace(/^\{ | \}$/g, '')
    .split(',')
    .map((one) => one.trim().replace(/^"|"$/g, ''));
}

function negated(matches: Matches, isNegated: boolean): Matches {
  if (!isNegated || matches === 'maybe') return matches;
  return matches === 'yes' ? 'no' : 'yes';
}
