import {
  containsRange,
  type IpRange,
  overlaps,
  parseAddress,
  parseCidr,
  rangeBetween,
} from '../../../core/model/cidr.ts';
import { type Elements, isRecord, type Statement } from './ruleset.ts';

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

/**
 * Whether a packet meets a condition. `at times`: that depends on more than this packet, as a limit does. Else why it is not
 * known, as this program does not know the condition.
 */
export type Matches = 'yes' | 'no' | 'at times' | { readonly unknown: string };

/** The elements of a named set of the table that the rule is in. */
export type SetOf = (name: string) => Elements;

/** Statements that let a rule go on for some packets. */
export const CONDITIONAL: ReadonlySet<string> = new Set(['limit', 'quota', 'ct count']);

/** Whether the packet meets `{match: {op, left, right}}`. Pure. */
export function meets({ op, left, right }: Statement, packet: Newcomer, setOf: SetOf): Matches {
  const fact = factOf(left, packet);
  // Of another protocol neither a value nor its opposite is true.
  if (!fact) return 'no';
  if (op === '<' || op === '>' || op === '<=' || op === '>=') return compared(op, fact, right);
  const held = anyOf(elementsOf(right, setOf), fact);
  return op === '!=' ? opposite(held) : held;
}

/** What a map gives for the packet. Pure. @returns undefined where the packet is none of its keys */
export function mapped(
  { key, data }: Statement,
  packet: Newcomer,
  setOf: SetOf,
): { readonly verdict: unknown } | { readonly unknown: string } | undefined {
  const fact = factOf(key, packet);
  const elements = fact ? elementsOf(data, setOf) : [];
  if (typeof elements === 'string') return { unknown: elements };
  for (const element of elements) {
    const [value, verdict] = Array.isArray(element) ? element : [];
    const held = fact?.is(bare(value));
    if (held === 'yes') return { verdict };
    if (held === 'at times') return { unknown: nameOf(key) };
    if (typeof held === 'object') return held;
  }
  return undefined;
}

/** What an expression is of this packet, as it compares with a value of nft. */
interface Fact {
  readonly number?: number;
  is(value: unknown): Matches;
}

/** @returns undefined where the packet has none, being of another protocol */
function factOf(expression: unknown, packet: Newcomer): Fact | undefined {
  if (!isRecord(expression)) return unknown('an expression');
  const { meta, payload, ct, fib, concat } = expression;
  const other = () => unknown(nameOf(expression));
  if (isRecord(meta)) return (META[String(meta['key'])] ?? other)(packet);
  if (isRecord(payload)) return payloadFact(`${payload['protocol']} ${payload['field']}`, packet);
  if (isRecord(ct)) return (ct['dir'] === undefined ? CONNECTION[String(ct['key'])] : undefined) ?? other();
  if (isRecord(fib)) return fib['result'] === 'type' && String(fib['flags']) === 'daddr' ? word('local') : other();
  if (Array.isArray(concat)) return concatenated(concat, packet);
  const [of, mask] = Array.isArray(expression['&']) ? expression['&'] : [];
  if (isRecord(of)) return nameOf(of) === 'tcp flags' ? flags(packet, mask) : factOf(of, packet) && unknown(nameOf(of));
  return other();
}

const isOf = ({ protocol }: Newcomer, ...names: readonly Newcomer['protocol'][]) => names.includes(protocol);
const familyOf = ({ to }: Newcomer) => (to.includes(':') ? 6 : 4);
const icmpOf = (packet: Newcomer) => (familyOf(packet) === 6 ? 'ipv6-icmp' : 'icmp');
const protocolOf = (packet: Newcomer) => (packet.protocol === 'ICMP' ? icmpOf(packet) : packet.protocol.toLowerCase());
const PROTOCOL_NUMBERS: Readonly<Record<string, number>> = { icmp: 1, tcp: 6, udp: 17, 'ipv6-icmp': 58, sctp: 132 };
const ECHO_REQUEST = { icmp: 8, 'ipv6-icmp': 128 } as const;
/** It depends on more than this packet. */
const LATER: Fact = { is: () => 'at times' };

const META: Readonly<Record<string, (packet: Newcomer) => Fact | undefined>> = {
  iifname: ({ interfaceName }) => interfaceFact(interfaceName),
  iif: ({ interfaceName }) => interfaceFact(interfaceName),
  // It goes nowhere from here.
  oifname: () => undefined,
  oif: () => undefined,
  nfproto: (packet) => word(`ipv${familyOf(packet)}`),
  protocol: (packet) => word(familyOf(packet) === 6 ? 'ip6' : 'ip'),
  l4proto: protocolFact,
  // Of a tunnel, which knows no other.
  pkttype: () => word('host', 'unicast'),
  mark: () => LATER,
  time: () => LATER,
  day: () => LATER,
  hour: () => LATER,
  length: () => LATER,
};

const CONNECTION: Readonly<Record<string, Fact>> = {
  state: word('new'),
  // Of a new one that nobody translated.
  status: word(),
  direction: word('original'),
  mark: LATER,
};

function payloadFact(name: string, packet: Newcomer): Fact | undefined {
  const family = familyOf(packet);
  switch (name) {
    case 'ip saddr':
    case 'ip6 saddr':
      return name.startsWith(family === 4 ? 'ip ' : 'ip6 ') ? addressFact(packet.from) : undefined;
    case 'ip daddr':
    case 'ip6 daddr':
      return name.startsWith(family === 4 ? 'ip ' : 'ip6 ') ? addressFact(packet.to) : undefined;
    case 'ip protocol':
      return family === 4 ? protocolFact(packet) : undefined;
    case 'ip6 nexthdr':
      return family === 6 ? protocolFact(packet) : undefined;
    case 'ip version':
      return family === 4 ? numeric(4) : undefined;
    case 'tcp dport':
    case 'udp dport':
    case 'sctp dport':
      return name === `${packet.protocol.toLowerCase()} dport` ? numeric(packet.port) : undefined;
    case 'th dport':
      return isOf(packet, 'ICMP') ? undefined : numeric(packet.port);
    case 'tcp sport':
    case 'udp sport':
    case 'sctp sport':
      return name === `${packet.protocol.toLowerCase()} sport` ? LATER : undefined;
    case 'th sport':
      return isOf(packet, 'ICMP') ? undefined : LATER;
    case 'tcp flags':
      return isOf(packet, 'TCP') ? word('syn') : undefined;
    case 'icmp type':
    case 'icmpv6 type':
      if (!isOf(packet, 'ICMP') || icmpOf(packet) !== (name === 'icmp type' ? 'icmp' : 'ipv6-icmp')) return undefined;
      return numeric(ECHO_REQUEST[icmpOf(packet)], 'echo-request');
    default:
      return unknown(name);
  }
}

function unknown(what: string): Fact {
  return { is: () => ({ unknown: what }) };
}

/** One of these words. */
function word(...words: readonly string[]): Fact {
  return { is: (value) => yesIf(words.includes(String(value))) };
}

function protocolFact(packet: Newcomer): Fact {
  const name = protocolOf(packet);
  return numeric(PROTOCOL_NUMBERS[name] ?? 0, name);
}

function numeric(number: number, ...names: readonly string[]): Fact {
  return {
    number,
    is(value) {
      if (typeof value === 'number') return yesIf(value === number);
      const [from, to] = rangeOf(value) ?? [];
      if (typeof from === 'number' && typeof to === 'number') return yesIf(from <= number && number <= to);
      if (typeof value !== 'string') return { unknown: 'a value' };
      if (names.includes(value)) return 'yes';
      // nft has names for numbers: a protocol, a service, a type.
      return names.length > 0 ? 'no' : { unknown: value };
    },
  };
}

function interfaceFact(name: string): Fact {
  return {
    is: (value) =>
      typeof value === 'string'
        ? yesIf(value.endsWith('*') ? name.startsWith(value.slice(0, -1)) : value === name)
        : // Of an interface that is gone nft shows the number.
          'no',
  };
}

/** Addresses that a packet comes from or goes to; some of them may be others than those of a value. */
function addressFact(cidr: string): Fact {
  const own = parseCidr(cidr) ?? parseAddress(cidr);
  return {
    is(value) {
      const range = addressesOf(value);
      if (!own || !range) return { unknown: 'an address' };
      if (containsRange(range, own)) return 'yes';
      return overlaps(range, own) ? 'at times' : 'no';
    },
  };
}

function addressesOf(value: unknown): IpRange | undefined {
  if (typeof value === 'string') return parseAddress(value);
  const [from, to] = rangeOf(value) ?? [];
  if (typeof from === 'string' && typeof to === 'string') return rangeBetween(from, to);
  const prefix = isRecord(value) && value['prefix'];
  return isRecord(prefix) ? parseCidr(`${prefix['addr']}/${prefix['len']}`) : undefined;
}

function rangeOf(value: unknown): readonly unknown[] | undefined {
  const range = isRecord(value) ? value['range'] : undefined;
  return Array.isArray(range) ? range : undefined;
}

function concatenated(expressions: readonly unknown[], packet: Newcomer): Fact | undefined {
  const facts = expressions.map((one) => factOf(one, packet));
  if (facts.includes(undefined)) return undefined;
  return {
    is(value) {
      const values = isRecord(value) && Array.isArray(value['concat']) ? value['concat'] : [];
      if (values.length !== facts.length) return { unknown: 'a concatenation' };
      return all(facts.map((fact, at) => fact?.is(bare(values[at])) ?? 'no'));
    },
  };
}

/** `tcp flags & (fin | syn | rst | ack) == syn`, of the first packet of a connection. */
function flags(packet: Newcomer, mask: unknown): Fact | undefined {
  if (!isOf(packet, 'TCP')) return undefined;
  const names = [mask].flat();
  // Both sides may offer ECN.
  if (names.some((name) => typeof name !== 'string' || name === 'ecn' || name === 'cwr')) return unknown('tcp flags');
  const set = names.filter((name) => name === 'syn').join();
  return { is: (value) => yesIf([value].flat().join() === set || (set === '' && value === 0)) };
}

function elementsOf(right: unknown, setOf: SetOf): Elements {
  if (typeof right === 'string' && right.startsWith('@')) return setOf(right.slice(1));
  const set = isRecord(right) ? right['set'] : undefined;
  if (Array.isArray(set)) return set;
  return Array.isArray(right) ? right : [right];
}

/** Without what an element has beside its value. */
function bare(element: unknown): unknown {
  const within = isRecord(element) ? element['elem'] : undefined;
  return isRecord(within) ? within['val'] : element;
}

function anyOf(elements: Elements, fact: Fact): Matches {
  if (typeof elements === 'string') return { unknown: elements };
  let found: Matches = 'no';
  for (const element of elements) {
    const held = fact.is(bare(element));
    if (held === 'yes') return 'yes';
    if (held !== 'no' && typeof found === 'string') found = held;
  }
  return found;
}

function all(several: readonly Matches[]): Matches {
  if (several.includes('no')) return 'no';
  return several.find((one) => typeof one === 'object') ?? (several.includes('at times') ? 'at times' : 'yes');
}

function compared(op: '<' | '>' | '<=' | '>=', fact: Fact, right: unknown): Matches {
  const { number } = fact;
  if (number === undefined || typeof right !== 'number') return fact === LATER ? 'at times' : { unknown: `${op}` };
  const isSo = { '<': number < right, '>': number > right, '<=': number <= right, '>=': number >= right };
  return yesIf(isSo[op]);
}

function opposite(matches: Matches): Matches {
  if (matches === 'yes') return 'no';
  return matches === 'no' ? 'yes' : matches;
}

const yesIf = (isSo: boolean): Matches => (isSo ? 'yes' : 'no');

/** "meta mark", "ip dscp", or the kind of an expression. */
function nameOf(expression: unknown): string {
  if (!isRecord(expression)) return 'an expression';
  const [[kind, of] = ['nothing', undefined]] = Object.entries(expression);
  if (!isRecord(of)) return kind;
  if (kind === 'payload') return `${of['protocol']} ${of['field']}`;
  return typeof of['key'] === 'string' ? `${kind} ${of['key']}` : kind;
}
