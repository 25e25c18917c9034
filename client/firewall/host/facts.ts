import {
  containsRange,
  type IpRange,
  overlaps,
  parseAddress,
  parseCidr,
  rangeBetween,
} from '../../../core/model/cidr.ts';
import { TUNNEL_MTU } from '../../tunnel/mtu.ts';
import { isRecord } from './ruleset.ts';

/** The first packet of a connection from a peer to this node. */
export interface Newcomer {
  readonly interfaceName: string;
  /** CIDRs. */
  readonly from: string;
  readonly to: string;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP' | 'ICMP';
  /** Where it goes to; 0 without ports. */
  readonly port: number;
  /** A rule may have written a mark on it. */
  readonly isMarked?: boolean;
}

export type Held = 'yes' | 'no' | 'unknown';

/** What an expression is of a packet, as it compares with a value of nft. */
export interface Fact {
  /** Whether it is that value, and nothing else. */
  is(value: unknown): Held;
  /** Of bits: whether one of these is set. */
  hasOneOf?(value: unknown): Held;
  /** Of a number: within these two. */
  readonly between?: readonly [number, number];
}

/** @returns undefined where the packet has none, being of another protocol */
export function factOf(expression: unknown, packet: Newcomer): Fact | undefined {
  if (!isRecord(expression)) return UNKNOWN;
  const { meta, payload, ct, fib, concat } = expression;
  if (isRecord(meta)) return META[String(meta['key'])]?.(packet) ?? UNKNOWN;
  if (isRecord(payload)) return payloadFact(`${payload['protocol']} ${payload['field']}`, packet);
  if (isRecord(ct)) return (ct['dir'] === undefined && CONNECTION[String(ct['key'])]?.(packet)) || UNKNOWN;
  if (isRecord(fib)) return fib['result'] === 'type' && String(fib['flags']) === 'daddr' ? word('local') : UNKNOWN;
  if (Array.isArray(concat)) return concatenated(concat, packet);
  const [of, mask] = Array.isArray(expression['&']) ? expression['&'] : [];
  if (!isRecord(of)) return UNKNOWN;
  if (nameOf(of) === 'tcp flags') return packet.protocol === 'TCP' ? tcpFlags(mask) : undefined;
  return masked(factOf(of, packet), mask);
}

/** "meta mark", "ip dscp", or the kind of an expression. */
export function nameOf(expression: unknown): string {
  if (!isRecord(expression)) return 'an expression';
  const [[kind, of] = ['nothing', undefined]] = Object.entries(expression);
  if (kind === '&' && Array.isArray(of)) return nameOf(of[0]);
  if (kind === 'concat' && Array.isArray(of)) return of.map(nameOf).join(' . ');
  if (!isRecord(of)) return kind;
  if (kind === 'payload') return of['protocol'] === undefined ? 'raw bytes' : `${of['protocol']} ${of['field']}`;
  return typeof of['key'] === 'string' ? `${kind} ${of['key']}` : kind;
}

/** Without what an element has beside its value. */
export function bare(element: unknown): unknown {
  const within = isRecord(element) ? element['elem'] : undefined;
  return isRecord(within) ? within['val'] : element;
}

const familyOf = ({ to }: Newcomer) => (to.includes(':') ? 6 : 4);
const icmpOf = (packet: Newcomer) => (familyOf(packet) === 6 ? 'ipv6-icmp' : 'icmp');
const protocolOf = (packet: Newcomer) => (packet.protocol === 'ICMP' ? icmpOf(packet) : packet.protocol.toLowerCase());
const PROTOCOL_NUMBERS: Readonly<Record<string, number>> = { icmp: 1, tcp: 6, udp: 17, 'ipv6-icmp': 58, sctp: 132 };
const ECHO_REQUEST = { icmp: 8, 'ipv6-icmp': 128 } as const;
/** Ports that Linux, macOS and Windows all choose from by themselves. */
const CHOSEN_PORTS = [49_152, 60_999] as const;
/** Bytes of options of TCP, at most. */
const TCP_OPTIONS = 40;
const HEADERS = { TCP: 20, UDP: 8, SCTP: 12, ICMP: 8 } as const;
const UNKNOWN: Fact = { is: () => 'unknown' };

const META: Readonly<Record<string, (packet: Newcomer) => Fact>> = {
  iifname: ({ interfaceName }) => interfaceFact(interfaceName),
  iif: ({ interfaceName }) => interfaceFact(interfaceName),
  // It goes nowhere from here: the kernel compares with an empty name.
  oifname: () => interfaceFact(''),
  oif: () => interfaceFact(''),
  nfproto: (packet) => word(`ipv${familyOf(packet)}`),
  protocol: (packet) => word(familyOf(packet) === 6 ? 'ip6' : 'ip'),
  l4proto: protocolFact,
  // Of a tunnel, which knows no other.
  pkttype: () => word('host', 'unicast'),
  mark: markFact,
  length: lengthFact,
};

const STATES = ['new', 'established', 'related', 'invalid', 'untracked'];
const STATUSES = ['expected', 'seen-reply', 'assured', 'confirmed', 'snat', 'dnat', 'dying'];
const TCP_FLAGS = ['fin', 'syn', 'rst', 'psh', 'ack', 'urg', 'ecn', 'cwr'];
/** Both sides may offer ECN. */
const OFFERED = ['ecn', 'cwr'];

const CONNECTION: Readonly<Record<string, (packet: Newcomer) => Fact>> = {
  state: () => bits(STATES, ['new']),
  // Of a new one that nobody translated.
  status: () => bits(STATUSES, []),
  direction: () => word('original'),
  mark: markFact,
};

function payloadFact(name: string, packet: Newcomer): Fact | undefined {
  const family = familyOf(packet);
  const { protocol } = packet;
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
      return name === `${protocol.toLowerCase()} dport` ? numeric(packet.port) : undefined;
    case 'th dport':
      return protocol === 'ICMP' ? undefined : numeric(packet.port);
    case 'tcp sport':
    case 'udp sport':
    case 'sctp sport':
      return name === `${protocol.toLowerCase()} sport` ? between(...CHOSEN_PORTS) : undefined;
    case 'th sport':
      return protocol === 'ICMP' ? undefined : between(...CHOSEN_PORTS);
    case 'tcp flags':
      return protocol === 'TCP' ? tcpFlags(TCP_FLAGS) : undefined;
    case 'icmp type':
    case 'icmpv6 type':
      if (protocol !== 'ICMP' || icmpOf(packet) !== (name === 'icmp type' ? 'icmp' : 'ipv6-icmp')) return undefined;
      return numeric(ECHO_REQUEST[icmpOf(packet)], 'echo-request');
    default:
      return UNKNOWN;
  }
}

/** One of these words. */
function word(...words: readonly string[]): Fact {
  return { is: (value) => (typeof value === 'string' ? yesIf(words.includes(value)) : 'unknown') };
}

function protocolFact(packet: Newcomer): Fact {
  const name = protocolOf(packet);
  return numeric(PROTOCOL_NUMBERS[name] ?? 0, name);
}

/** Of a new packet and its connection, unless a rule wrote one. */
function markFact({ isMarked = false }: Newcomer): Fact {
  return isMarked ? UNKNOWN : numeric(0);
}

function lengthFact(packet: Newcomer): Fact {
  const least = (familyOf(packet) === 6 ? 40 : 20) + HEADERS[packet.protocol];
  return between(least, packet.protocol === 'TCP' ? least + TCP_OPTIONS : TUNNEL_MTU);
}

function numeric(number: number, ...names: readonly string[]): Fact {
  return between(number, number, ...names);
}

/** A number from one to another. @param names of the number, where nft has names */
function between(low: number, high: number, ...names: readonly string[]): Fact {
  return {
    between: [low, high],
    is(value) {
      // nft has names for numbers: a protocol, a type. Which number another name is of is not known here.
      if (typeof value === 'string') return names.length > 0 ? yesIf(names.includes(value)) : 'unknown';
      const [from, to] = typeof value === 'number' ? [value, value] : (rangeOf(value) ?? []);
      if (typeof from !== 'number' || typeof to !== 'number') return 'unknown';
      if (from <= low && high <= to) return 'yes';
      return from <= high && low <= to ? 'unknown' : 'no';
    },
  };
}

function masked(fact: Fact | undefined, mask: unknown): Fact | undefined {
  const [low, high] = fact?.between ?? [];
  if (low === undefined || low !== high || typeof mask !== 'number') return fact && UNKNOWN;
  // Bits of 32, without a sign.
  return numeric((low & mask) >>> 0);
}

function interfaceFact(name: string): Fact {
  return {
    is(value) {
      // Of an interface that is gone nft shows the number.
      if (typeof value === 'number') return 'no';
      if (typeof value !== 'string') return 'unknown';
      return yesIf(value.endsWith('*') ? name.startsWith(value.slice(0, -1)) : value === name);
    },
  };
}

/** Addresses that a packet comes from or goes to; some of them may be others than those of a value. */
function addressFact(cidr: string): Fact {
  const own = parseCidr(cidr) ?? parseAddress(cidr);
  return {
    is(value) {
      const range = addressesOf(value);
      if (!own || !range) return 'unknown';
      if (containsRange(range, own)) return 'yes';
      return overlaps(range, own) ? 'unknown' : 'no';
    },
  };
}

/** The addresses of a value of nft: one, a range or a prefix; undefined for what is none of these. */
export function addressesOf(value: unknown): IpRange | undefined {
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
      if (values.length !== facts.length) return 'unknown';
      const held = facts.map((fact, at) => fact?.is(bare(values[at])) ?? 'no');
      return held.find((one) => one === 'no') ?? held.find((one) => one === 'unknown') ?? 'yes';
    },
  };
}

/** Of the first packet of a connection, `tcp flags & (fin | syn | rst | ack)`. */
function tcpFlags(mask: unknown): Fact {
  const names = namesOf(mask);
  return names ? bits(TCP_FLAGS, ['syn'], OFFERED, names) : UNKNOWN;
}

/** @param all names @param set those that are set @param perhaps those that may be @param mask those that are looked at */
function bits(
  all: readonly string[],
  set: readonly string[],
  perhaps: readonly string[] = [],
  mask: readonly string[] = all,
): Fact {
  const within = (names: readonly string[], one: string) => names.includes(one) && mask.includes(one);
  const namesIn = (value: unknown) => {
    const names = namesOf(value);
    return names?.every((name) => all.includes(name)) ? names : undefined;
  };
  const isKnown = mask.every((one) => all.includes(one));
  return {
    is(value) {
      const names = namesIn(value);
      if (!names || !isKnown) return 'unknown';
      const differs = all.some((one) => !perhaps.includes(one) && names.includes(one) !== within(set, one));
      if (differs) return 'no';
      return perhaps.some((one) => mask.includes(one)) ? 'unknown' : yesIf(!perhaps.some((one) => names.includes(one)));
    },
    hasOneOf(value) {
      const names = namesIn(value);
      if (!names || !isKnown) return 'unknown';
      if (names.some((one) => within(set, one))) return 'yes';
      return names.some((one) => within(perhaps, one)) ? 'unknown' : 'no';
    },
  };
}

/** `"syn"`, `["syn", "ack"]`, `{"|": ["syn", "ack"]}` or 0. */
function namesOf(value: unknown): readonly string[] | undefined {
  if (value === 0) return [];
  if (typeof value === 'string') return [value];
  const parts = isRecord(value) ? value['|'] : value;
  if (!Array.isArray(parts)) return undefined;
  const names = parts.map(namesOf);
  return names.includes(undefined) ? undefined : names.flatMap((one) => one ?? []);
}

const yesIf = (isSo: boolean): Held => (isSo ? 'yes' : 'no');
