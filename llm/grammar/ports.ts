import type { PortEntry, Protocol } from '../../core/model/policy.ts';
import type { Token } from './lexicon.ts';
import { distinct, LAST_PORT, portList, portText, rangeOf } from './port-entries.ts';
import { quoted, Refusal, said } from './refusal.ts';
import { KNOWN_SERVICES } from './services.ts';
import { textAt } from './tokens.ts';

/** Ports as they stand in a sentence, up to the token before `end`. No entries: all ports. */
export interface NamedPorts {
  readonly ports: readonly PortEntry[];
  readonly end: number;
  /** The service when nothing but its name was said: it may be the name of a group too. */
  readonly service?: string;
}

const ALL: ReadonlySet<string> = new Set(['all', 'any', 'every', 'each']);
const PORT_WORDS: ReadonlySet<string> = new Set(['port', 'ports', 'port-range', 'portrange']);
const PROTOCOL_WORDS: ReadonlySet<string> = new Set(['protocol', 'protocols']);
const NUMBERS = /^(?:(tcp|udp|sctp)[/:])?(\d{1,6})(?:-(\d{1,6}))?(?:\/(tcp|udp|sctp))?$/;
const PROTOCOLS = /^(?:tcp|udp|sctp)(?:\/(?:tcp|udp|sctp))*$/;

/**
 * Reads ports from a place on: `port 5432`, `ports 80, 443 and 8000 to 8100`, `udp port 53`, `53/udp`, `https`, `all tcp ports`.
 *
 * @param untold the protocols of a number of which none is told
 * @returns undefined when no ports stand there.
 * @throws Refusal when the word "port" stands there and no port follows.
 */
export function portsAt(
  tokens: readonly Token[],
  start: number,
  untold: readonly Protocol[] = ['TCP'],
): NamedPorts | undefined {
  let at = ['the', 'both'].includes(textAt(tokens, start)) ? start + 1 : start;
  const whole = wholeAt(tokens, at);
  if (whole?.ports.length === 0) return whole;
  const lead = protocolsAt(tokens, at);
  at = lead?.end ?? at;
  const told =
    PORT_WORDS.has(textAt(tokens, at)) || (textAt(tokens, at) === 'port' && textAt(tokens, at + 1) === 'range');
  if (told) at += textAt(tokens, at + 1) === 'range' ? 2 : 1;
  const items: Item[] = [];
  for (;;) {
    const item = itemAt(tokens, at);
    if (!item) break;
    items.push(item);
    at = item.end;
    const next = afterSeparator(tokens, at);
    if (next === undefined || !itemAt(tokens, next)) break;
    at = next;
  }
  if (items.length === 0) {
    if (told && !lead) throw unknownPort(textAt(tokens, at));
    return lead && isEndOfPorts(tokens[at])
      ? { ports: lead.protocols.map((protocol) => ({ protocol })), end: at }
      : undefined;
  }
  const trail = told || items.every(({ entries }) => entries === undefined) ? trailAt(tokens, at) : undefined;
  const ports = items.flatMap((item) => entriesOf(item, lead?.protocols ?? trail?.protocols ?? untold));
  const [only] = items;
  const service = !told && !lead && items.length === 1 ? only?.service : undefined;
  refuseLooseProtocol(tokens, start, at, ports);
  const end = trail?.end ?? (only?.service && PORT_WORDS.has(textAt(tokens, at)) ? at + 1 : at);
  return { ports: distinct(ports), end, ...(service !== undefined && end === at && { service }) };
}

/** "22 and udp": both numbers of one protocol, or all of the other as well. */
function refuseLooseProtocol(tokens: readonly Token[], start: number, end: number, ports: readonly PortEntry[]): void {
  const at = afterSeparator(tokens, end);
  const other = at !== undefined && tokens[at - 1]?.sym !== 'COMMA' ? protocolsAt(tokens, at) : undefined;
  if (!other || !isEndOfPorts(tokens[other.end])) return;
  const words = tokens.slice(start, other.end);
  const whole = other.protocols.map((protocol): PortEntry => ({ protocol }));
  const same = ports.flatMap(({ protocol: _, ...entry }) =>
    other.protocols.map((protocol) => ({ protocol, ...entry })),
  );
  throw new Refusal(
    `${quoted(said(words))} can mean all of ${portText(whole)}, or the same ports on it.`,
    ['Which of the two is meant?'],
    { replace: words, by: [portList([...ports, ...whole]), portList([...ports, ...same])] },
  );
}

interface Item {
  readonly end: number;
  /** Undefined while the protocol is still to be told. */
  readonly entries?: readonly PortEntry[];
  readonly service?: string;
  readonly first?: number;
  readonly last?: number;
}

function itemAt(tokens: readonly Token[], start: number): Item | undefined {
  const whole = wholeAt(tokens, start);
  if (whole) return whole.ports.length > 0 ? { end: whole.end, entries: whole.ports } : undefined;
  const at = PORT_WORDS.has(textAt(tokens, start)) ? start + 1 : start;
  const own = at === start ? protocolsAt(tokens, at) : undefined;
  const from = own ? (PORT_WORDS.has(textAt(tokens, own.end)) ? own.end + 1 : own.end) : at;
  const [, before, first, last, after] = NUMBERS.exec(textAt(tokens, from)) ?? [];
  if (first === undefined) return own ? undefined : serviceAt(tokens, at);
  const [to, end] = last === undefined ? rangeEnd(tokens, from + 1) : [Number(last), from + 1];
  const item = { end, first: Number(first), last: to ?? Number(first) };
  checkRange(item.first, item.last);
  const protocols = before ?? after;
  const named = protocols === undefined ? own?.protocols : [protocols.toUpperCase() as Protocol];
  return named ? { ...item, entries: entriesOf(item, named) } : item;
}

/** `8000 to 8100`, `8000 through 8100`. */
function rangeEnd(tokens: readonly Token[], at: number): [number | undefined, number] {
  const next = textAt(tokens, at + 1);
  if (!['to', 'through', 'until'].includes(textAt(tokens, at)) || !/^\d{1,6}$/.test(next)) return [undefined, at];
  return [Number(next), at + 2];
}

function serviceAt(tokens: readonly Token[], at: number): Item | undefined {
  const [one, two] = [textAt(tokens, at), `${textAt(tokens, at)} ${textAt(tokens, at + 1)}`];
  const dashed = one.replaceAll('-', ' ');
  for (const [name, end] of [
    [two, at + 2],
    [dashed, at + 1],
  ] as const) {
    const entries = Object.hasOwn(KNOWN_SERVICES, name) ? KNOWN_SERVICES[name] : undefined;
    if (entries) return { end, entries, service: name };
  }
  return undefined;
}

function wholeAt(tokens: readonly Token[], start: number): NamedPorts | undefined {
  if (!ALL.has(textAt(tokens, start))) return undefined;
  const at = textAt(tokens, start + 1) === 'the' ? start + 2 : start + 1;
  const own = protocolsAt(tokens, at);
  const end = own?.end ?? at;
  const ports = own?.protocols.map((protocol) => ({ protocol })) ?? [];
  if (PORT_WORDS.has(textAt(tokens, end)) || (!own && PROTOCOL_WORDS.has(textAt(tokens, end))))
    return { ports, end: end + 1 };
  return own && isEndOfPorts(tokens[end]) ? { ports, end } : undefined;
}

/** `tcp`, `tcp and udp`, `tcp/udp`. */
function protocolsAt(tokens: readonly Token[], start: number): { protocols: Protocol[]; end: number } | undefined {
  const protocols: Protocol[] = [];
  let end = start;
  for (let at = start; PROTOCOLS.test(textAt(tokens, at)); ) {
    protocols.push(...(textAt(tokens, at).toUpperCase().split('/') as Protocol[]));
    end = at + 1;
    const next = afterSeparator(tokens, end);
    if (next === undefined) break;
    at = next;
  }
  return protocols.length > 0 ? { protocols: [...new Set(protocols)], end } : undefined;
}

/** `53 udp`, `53 over udp`, `53 on tcp and udp`: the protocol after its ports. */
function trailAt(tokens: readonly Token[], at: number): { protocols: Protocol[]; end: number } | undefined {
  const linked = ['OVER', 'ON', 'COMMA'].includes(tokens[at]?.sym ?? '') ? at + 1 : at;
  const found = protocolsAt(tokens, linked);
  return found && isEndOfPorts(tokens[found.end]) ? found : undefined;
}

/** A protocol that is followed by a number or a port belongs to those. */
function isEndOfPorts(next: Token | undefined): boolean {
  return next === undefined || (next.sym !== undefined && !next.quoted);
}

function afterSeparator(tokens: readonly Token[], at: number): number | undefined {
  const isSeparator = (index: number) => ['COMMA', 'AND', 'OR'].includes(tokens[index]?.sym ?? '');
  if (!isSeparator(at)) return undefined;
  return isSeparator(at + 1) ? at + 2 : at + 1;
}

function entriesOf(
  { entries, first = 0, last = first }: Omit<Item, 'end'>,
  protocols: readonly Protocol[],
): readonly PortEntry[] {
  return entries ?? protocols.map((protocol) => rangeOf(protocol, first, last));
}

function checkRange(first: number, last: number): void {
  if (first >= 1 && last <= LAST_PORT && first <= last) return;
  const text = first === last ? `${first}` : `${first}-${last}`;
  throw new Refusal(`${text} is no port range: ports are whole numbers from 1 to ${LAST_PORT}, the lower one first.`);
}

/** A service that is not known. */
export function unknownPort(name: string): Refusal {
  return new Refusal(
    `${quoted(name)} is no port: write "port 443", "ports 80 and 443", "port 53/udp" or a known service.`,
    [`Which port number is meant${name === '' ? '' : ` by ${quoted(name)}`}?`],
  );
}

/** `db:5432`: who, and the ports behind. */
export function suffixedPorts({ text, sym }: Token): { who: Token; ports: readonly PortEntry[] } | undefined {
  const [, name = '', rest = ''] = /^(?!\d+:)([^:=]+):(\d[\d-]*(?:\/\w+)?)$/.exec(text) ?? [];
  const named = sym === undefined && name !== '' ? portsAt([{ text: rest, quoted: false }], 0) : undefined;
  return named?.end === 1 ? { who: { text: name, quoted: false }, ports: named.ports } : undefined;
}
