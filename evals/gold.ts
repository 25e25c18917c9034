import type { PortSpan } from '../core/effect/port-spans.ts';
import { containsRange, type IpRange, parseAddress, parseCidr } from '../core/model/cidr.ts';
import type { Protocol } from '../core/model/policy.ts';
import type { ExternalInput } from '../core/reachability/model.ts';

/**
 * The gold of an intent: what an operator wants to be open or closed afterwards, written by hand as
 * `role=web > role=db : tcp/5432` and read here pair by pair. It shares no code with the planner.
 *
 * Who: a name, `label=value`, `*` for every peer, addresses that are no peer's as a CIDR (`203.0.113.0/24`); `|` adds,
 * `&` keeps what is in both, `-` takes away, from left to right.
 * Ports: `all`, `tcp/443`, `tcp/8000-8100`, `udp`, `icmp`, several with commas; `all but tcp/22`.
 */
export type Edge = string;

const SIZE = 65_536;
const PROTOCOLS: readonly Protocol[] = ['TCP', 'UDP', 'SCTP', 'ICMP'];

export interface Link {
  readonly src: string;
  readonly dst: string;
  readonly ports: readonly PortSpan[];
}

type Peers = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Stands for every address that the gold does not name: one of those that nobody is given (RFC 1112 section 4). */
export const ELSEWHERE: ExternalInput = { name: '240.0.0.1', range: '240.0.0.1' };

/** What peers have their addresses of (networks.ts); an address of it is none outside. */
const OVERLAY: IpRange = { family: 4, from: 0x0a60_0000n, to: 0x0a60_ffffn };

/** The addresses that ranges (IPv4) are tried with: the first and last of each, the ones beside it, and one in none. */
export function outsideOf(ranges: readonly string[]): ExternalInput[] {
  const tried = ranges.flatMap((text) => {
    const range = parseCidr(text);
    return range?.family === 4 ? [range.from - 1n, range.from, range.to, range.to + 1n].map(dotted) : [];
  });
  const real = [...new Set(tried)].filter((text) => parseAddress(text) && !isIn(OVERLAY, text));
  return [...real.map((text) => ({ name: text, range: text })), ELSEWHERE];
}

/** Before the first and after the last address of all, a text that {@link parseAddress} does not read. */
function dotted(at: bigint): string {
  return [at >> 24n, ...[16n, 8n, 0n].map((shift) => (at >> shift) & 255n)].join('.');
}

/** The links that edges mean, pair by pair. @throws Error for an edge that is written wrongly or means nobody. */
export function linksOf(edges: readonly Edge[], peers: Peers, outside: readonly ExternalInput[]): Link[] {
  return edges.flatMap((edge) => {
    const [ends = '', text = ''] = edge.split(' : ', 2);
    const [from = '', to = ''] = ends.split(' > ', 2);
    const [sources, targets] = [whoIs(from, peers, outside), whoIs(to, peers, outside)];
    const ports = portsOf(text);
    const links = sources.flatMap((src) => targets.filter((dst) => dst !== src).map((dst) => ({ src, dst, ports })));
    if (links.length === 0) throw new Error(`the gold ${edge} means no pair`);
    return links;
  });
}

function whoIs(text: string, peers: Peers, outside: readonly ExternalInput[]): string[] {
  const [first = '', ...rest] = text.split(/ ([|&-]) /);
  let found = termIs(first, peers, outside);
  for (let at = 0; at < rest.length; at += 2) {
    const next = termIs(rest[at + 1] ?? '', peers, outside);
    if (rest[at] === '|') found = [...new Set([...found, ...next])];
    else if (rest[at] === '&') found = found.filter((name) => next.includes(name));
    else found = found.filter((name) => !next.includes(name));
  }
  return found;
}

function termIs(term: string, peers: Peers, outside: readonly ExternalInput[]): string[] {
  const range = parseCidr(term);
  if (range) return outside.map(({ name }) => name).filter((name) => isIn(range, name));
  const names = Object.keys(peers);
  if (term === '*') return names;
  const [key, value] = term.split('=');
  const found =
    value === undefined
      ? names.filter((name) => name === term)
      : names.filter((name) => peers[name]?.[key ?? ''] === value);
  if (found.length === 0) throw new Error(`the gold names ${term}, which nobody is`);
  return found;
}

function isIn(range: IpRange, name: string): boolean {
  const address = parseAddress(name);
  return address !== undefined && containsRange(range, address);
}

function portsOf(text: string): PortSpan[] {
  if (text === 'all') return all();
  if (text.startsWith('all but ')) return without(all(), portsOf(text.slice('all but '.length)));
  return text.split(', ').map((part) => {
    const [, name = '', from, to] = /^(tcp|udp|sctp|icmp)(?:\/(\d+)(?:-(\d+))?)?$/.exec(part) ?? [];
    if (name === '') throw new Error(`the gold names the ports ${part}`);
    const protocol = name.toUpperCase() as Protocol;
    if (protocol === 'ICMP') return { protocol };
    return { protocol, from: Number(from ?? 1), to: Number(to ?? from ?? SIZE - 1) };
  });
}

function all(): PortSpan[] {
  return PROTOCOLS.map((protocol) => (protocol === 'ICMP' ? { protocol } : { protocol, from: 1, to: SIZE - 1 }));
}

/** What is in one list of ports and not in the other. Written bit by bit, so that it cannot be subtly wrong. */
export function without(ports: readonly PortSpan[], taken: readonly PortSpan[]): PortSpan[] {
  return combine('without', ports, taken);
}

/** What is in both. */
export function common(ports: readonly PortSpan[], others: readonly PortSpan[]): PortSpan[] {
  return combine('common', ports, others);
}

/** What is in either, in order. */
export function either(ports: readonly PortSpan[], others: readonly PortSpan[]): PortSpan[] {
  return combine('either', ports, others);
}

const KNOWN = new Map<string, PortSpan[]>();

const KEEPS = {
  without: (one: boolean, other: boolean) => one && !other,
  common: (one: boolean, other: boolean) => one && other,
  either: (one: boolean, other: boolean) => one || other,
} as const;

function combine(how: keyof typeof KEEPS, a: readonly PortSpan[], b: readonly PortSpan[]): PortSpan[] {
  const key = `${how} ${textOf(a)} ${textOf(b)}`;
  const known = KNOWN.get(key);
  if (known) return known;
  const found = PROTOCOLS.flatMap((protocol) => runsOf(protocol, bitsOf(a, protocol), bitsOf(b, protocol), KEEPS[how]));
  KNOWN.set(key, found);
  return found;
}

function bitsOf(ports: readonly PortSpan[], protocol: Protocol): Uint8Array {
  const bits = new Uint8Array(SIZE);
  for (const span of ports) {
    if (span.protocol !== protocol) continue;
    if (protocol === 'ICMP') bits[1] = 1;
    else bits.fill(1, span.from ?? 1, (span.to ?? SIZE - 1) + 1);
  }
  return bits;
}

function runsOf(
  protocol: Protocol,
  a: Uint8Array,
  b: Uint8Array,
  keep: (one: boolean, other: boolean) => boolean,
): PortSpan[] {
  const runs: PortSpan[] = [];
  let start = 0;
  for (let port = 1; port <= SIZE; port++) {
    const on = port < SIZE && keep(a[port] === 1, b[port] === 1);
    if (on && start === 0) start = port;
    if (!on && start > 0) {
      runs.push(protocol === 'ICMP' ? { protocol } : { protocol, from: start, to: port - 1 });
      start = 0;
    }
  }
  return runs;
}

/** The same text for the same ports, for comparing and for reports. */
export function textOf(ports: readonly PortSpan[]): string {
  return ports.map(({ protocol, from, to }) => (from === undefined ? protocol : `${protocol}/${from}-${to}`)).join(',');
}
