import type { Protocol } from '../model/policy.ts';
import type { AllowedPorts } from '../reachability/port-sets.ts';

/** Ports of one protocol, both ends included; ICMP has none. */
export interface PortSpan {
  readonly protocol: Protocol;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

const LAST_PORT = 65_535;
const EVERY: readonly PortSpan[] = [
  { protocol: 'TCP', from: 1, to: LAST_PORT },
  { protocol: 'UDP', from: 1, to: LAST_PORT },
  { protocol: 'SCTP', from: 1, to: LAST_PORT },
  { protocol: 'ICMP' },
];

export function spansOf(allowed: AllowedPorts): readonly PortSpan[] {
  return allowed === 'ALL' ? EVERY : allowed;
}

/** The ports that are asked for: all of a protocol without a port, everything without a protocol. */
export function portsOf({ protocol, port, endPort }: Asked): readonly PortSpan[] {
  if (protocol === undefined) return EVERY;
  if (port === undefined) return EVERY.filter((span) => span.protocol === protocol);
  return [{ protocol, from: port, to: endPort ?? port }];
}

interface Asked {
  readonly protocol?: Protocol;
  readonly port?: number | undefined;
  readonly endPort?: number | undefined;
}

/** Returns the ports in `spans` without those in `taken`; both in ascending order, without overlaps. */
export function subtract(spans: readonly PortSpan[], taken: readonly PortSpan[]): PortSpan[] {
  return spans.flatMap((span) => {
    const same = taken.filter(({ protocol }) => protocol === span.protocol);
    if (span.protocol === 'ICMP') return same.length > 0 ? [] : [span];
    const left: PortSpan[] = [];
    const [first, last] = [span.from ?? 1, span.to ?? LAST_PORT];
    let next = first;
    for (const { from = 1, to = LAST_PORT } of same) {
      if (to < next || from > last) continue;
      if (from > next) left.push({ protocol: span.protocol, from: next, to: from - 1 });
      next = to + 1;
    }
    if (next <= last) left.push({ protocol: span.protocol, from: next, to: last });
    return left;
  });
}

/** `TCP 5432`, `TCP 8000-8100`, `UDP`, `all`: for tables and sentences. */
export function spanText(spans: readonly PortSpan[]): string {
  if (spans.length === EVERY.length && spans.every(isWhole)) return 'everything';
  return spans
    .map((span) => {
      const { protocol, from, to } = span;
      if (isWhole(span)) return protocol === 'ICMP' ? protocol : `all ${protocol}`;
      return `${protocol} ${from}${to === from ? '' : `-${to}`}`;
    })
    .join(', ');
}

/** The same for a title: of what is almost everything, what is left. */
export function shortSpanText(spans: readonly PortSpan[]): string {
  const left = subtract(EVERY, spans);
  return left.length > 0 && left.length < spans.length ? `everything but ${spanText(left)}` : spanText(spans);
}

function isWhole({ protocol, from, to }: PortSpan): boolean {
  return protocol === 'ICMP' || ((from ?? 1) === 1 && (to ?? LAST_PORT) === LAST_PORT);
}
