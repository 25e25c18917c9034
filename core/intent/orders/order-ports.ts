import { type PortSpan, spansOf, subtract } from '../../effect/port-spans.ts';
import type { PortEntry, Protocol } from '../../model/policy.ts';

const EVERY = spansOf('ALL');
const LAST_PORT = 65_535;
const PROTOCOLS: Readonly<Record<string, Protocol>> = { tcp: 'TCP', udp: 'UDP', sctp: 'SCTP', icmp: 'ICMP' };
const WORD = /^(!?)(?:(tcp|udp|sctp|icmp)(?:\/|$))?(?:(\d{1,5})(?:-(\d{1,5}))?)?$/i;

/** Ports that are not in some others. */
export function otherPorts(spans: readonly PortSpan[]): readonly PortSpan[] {
  return spans.reduce<readonly PortSpan[]>((left, span) => subtract(left, [span]), EVERY);
}

/**
 * Returns the ports that words mean, ascending and without overlaps. Ports after `!` are left out: of the others, or of
 * everything where only such words are given.
 */
export function portsOfWords(words: readonly string[]): readonly PortSpan[] {
  const spans = words.map((word) => ({ isLeftOut: word.startsWith('!'), span: spanOf(word) }));
  const named = spans.flatMap(({ isLeftOut, span }) => (span && !isLeftOut ? [span] : []));
  const left = spans.flatMap(({ isLeftOut, span }) => (span && isLeftOut ? [span] : []));
  const base = named.length === 0 ? EVERY : otherPorts(otherPorts(named));
  return left.reduce<readonly PortSpan[]>((rest, span) => subtract(rest, [span]), base);
}

/** Returns what is wrong with a word for ports; undefined for a valid one. */
export function portFault(word: string): string | undefined {
  return spanOf(word)
    ? undefined
    : 'Ports are written tcp/5432, udp/6000-6100, sctp/2905, tcp, icmp, or !tcp/22 to leave one out.';
}

/** A port alone is a TCP port, as in a policy. */
function spanOf(word: string): PortSpan | undefined {
  const [whole, , name, first, last] = WORD.exec(word) ?? [];
  if (whole === undefined || (name === undefined && first === undefined) || word.endsWith('/')) return undefined;
  const protocol = PROTOCOLS[(name ?? 'tcp').toLowerCase()] ?? 'TCP';
  if (first === undefined) return protocol === 'ICMP' ? { protocol } : { protocol, from: 1, to: LAST_PORT };
  const [from, to] = [Number(first), Number(last ?? first)];
  if (protocol === 'ICMP' || from < 1 || to < from || to > LAST_PORT) return undefined;
  return { protocol, from, to };
}

/** Returns ports as those of a rule: none for all of them. */
export function portEntriesOf(spans: readonly PortSpan[]): PortEntry[] {
  if (otherPorts(spans).length === 0) return [];
  return spans.map(({ protocol, from = 1, to = LAST_PORT }) => {
    if (protocol === 'ICMP' || (from === 1 && to === LAST_PORT)) return { protocol };
    return { protocol, port: from, ...(to !== from && { endPort: to }) };
  });
}

/** Returns the ports of a rule. */
export function spansOfEntries(entries: readonly PortEntry[]): readonly PortSpan[] {
  if (entries.length === 0) return EVERY;
  const spans = entries.map(({ protocol = 'TCP', port, endPort }): PortSpan => {
    if (protocol === 'ICMP') return { protocol };
    return { protocol, from: port ?? 1, to: endPort ?? port ?? LAST_PORT };
  });
  return otherPorts(otherPorts(spans));
}
