import { portEntriesOf, portsOfWords } from '../../core/intent/orders/order-ports.ts';
import type { PortEntry } from '../../core/model/policy.ts';
import { quoted, Refusal, textOf } from './refusal.ts';
import { KNOWN_SERVICES } from './services.ts';
import { textAt, type Word } from './tokens.ts';

/** Ports as they stand in a sentence, up to the word before `end`, as an order writes them. None are all ports. */
export interface NamedPorts {
  readonly ports: readonly string[];
  readonly end: number;
  /** The service, where nothing but its name was said. */
  readonly service?: string;
}

const LAST_PORT = 65_535;
const NUMBERS = /^(?:(tcp|udp|sctp)[/:])?(\d{1,6})(?:-(\d{1,6}))?(?:\/(tcp|udp|sctp))?$/;
const PROTOCOLS = /^(?:tcp|udp|sctp)(?:\/(?:tcp|udp|sctp))*$/;
const ALL: ReadonlySet<string> = new Set(['all', 'any', 'every']);
const BEFORE: ReadonlySet<string> = new Set(['the', 'both']);
const PORT_WORDS: ReadonlySet<string> = new Set(['port', 'ports', 'protocol', 'protocols', 'range']);

/**
 * Reads ports from a place on: `port 5432`, `ports 80, 443 and 8000 to 8100`, `udp port 53`, `53/udp`, `https`, `all tcp ports`.
 *
 * @param untold protocols of a number of which none is told
 * @returns undefined where no ports stand there
 * @throws Refusal for numbers that are no ports, and for a word after "port" that is none
 */
export function portsAt(
  words: readonly Word[],
  start: number,
  untold: readonly string[] = ['tcp'],
): NamedPorts | undefined {
  let at = BEFORE.has(textAt(words, start)) ? start + 1 : start;
  const isAll = ALL.has(textAt(words, at));
  if (isAll) at += textAt(words, at + 1) === 'the' ? 2 : 1;
  const items: Item[] = [];
  for (let next = at; ; ) {
    const item = itemAt(words, next, isAll);
    if (!item) break;
    // "53, tcp and udp": the protocols of what stands before.
    const isLoose = isProtocol(item) && items.some(({ range, protocols }) => range && !protocols);
    if (isLoose && textAt(words, at) === ',') break;
    // "22 and udp", "tcp and udp 53": all of a protocol, or the same ports on it.
    if (isLoose || (item.range && items.some(isProtocol)))
      throw new Refusal(
        `${quoted(textOf(words.slice(start, item.end)))} can mean all of a protocol, or one port on it.`,
        ['Which ports are meant? Write each with its protocol: "tcp 53 and udp 53".'],
      );
    items.push(item);
    at = item.end;
    const joint = afterJoint(words, at);
    if (joint === undefined) break;
    next = joint;
  }
  const [first] = items;
  if (!first) {
    if (isAll && PORT_WORDS.has(textAt(words, at))) return { ports: [], end: at + 1 };
    if (!isAll && isPortWord(words, at)) throw unknownPort(words, at + 1);
    return undefined;
  }
  const trail = items.some(({ protocols }) => protocols === undefined) ? trailAt(words, at) : undefined;
  const end = trail?.end ?? at;
  const shared = sharedProtocols(items, trail, untold, textOf(words.slice(start, end)));
  const ports = items.flatMap((item) => portWords(item, shared));
  const service = items.length === 1 && !trail ? first.service : undefined;
  return { ports: [...new Set(ports)], end, ...(service !== undefined && { service }) };
}

/**
 * Returns the protocols of numbers that have none of their own: "udp ports 53 and 123", "53 and 123 over udp".
 *
 * @throws Refusal where a protocol may be of one number or of all: "udp 53 and 123"
 */
function sharedProtocols(
  items: readonly Item[],
  trail: Trail | undefined,
  untold: readonly string[],
  text: string,
): readonly string[] {
  const [first] = items;
  const open = items.filter(({ range, protocols }) => range && !protocols);
  const shared = trail?.protocols ?? (first?.isPlural && first.range ? first.protocols : undefined);
  const isOfAll = open.length < 2 || first?.isPlural || trail?.isLinked;
  if (shared && (trail === undefined || isOfAll)) return shared;
  const told = trail?.protocols ?? items.flatMap(({ range, protocols = [] }) => (range ? protocols : []));
  if (open.length === 0 || told.every((protocol) => untold.includes(protocol))) return untold;
  throw new Refusal(`The protocol in ${quoted(text)} may be of one port, or of all.`, [
    'Which ports are meant? Write each with its protocol: "udp 53 and udp 123".',
  ]);
}

function isProtocol({ range, service }: Item): boolean {
  return range === undefined && service === undefined;
}

function isPortWord(words: readonly Word[], at: number): boolean {
  return textAt(words, at) === 'port' || textAt(words, at) === 'ports';
}

function unknownPort(words: readonly Word[], at: number): Refusal {
  const name = textAt(words, at);
  return new Refusal(`${quoted(name)} is no port.`, [
    'Which port? Write "port 443", "ports 80 and 443", "port 53/udp" or the name of a known service.',
  ]);
}

interface Item {
  readonly end: number;
  /** Undefined until a protocol is told. */
  readonly protocols?: readonly string[];
  /** A range; absent for all of the protocols, and for a service. */
  readonly range?: readonly [first: number, last: number];
  readonly service?: string;
  /** "Ports" stands before it, so that what is said there holds for those that follow. */
  readonly isPlural?: boolean;
}

function itemAt(words: readonly Word[], start: number, isAll: boolean): Item | undefined {
  const lead = isPortWord(words, start) ? undefined : protocolsAt(words, start);
  let at = lead?.end ?? start;
  const isPlural = textAt(words, at) === 'ports';
  while (PORT_WORDS.has(textAt(words, at)) && (at === (lead?.end ?? start) || textAt(words, at) === 'range')) at += 1;
  const [, before, low, high, after] = NUMBERS.exec(textAt(words, at)) ?? [];
  if (low !== undefined) {
    const [last, end] = high === undefined ? rangeEnd(words, at + 1, Number(low)) : [Number(high), at + 1];
    const own = before ?? after;
    const protocols = own === undefined ? lead?.protocols : [own];
    return { end, range: rangeOf(Number(low), last), isPlural, ...(protocols && { protocols }) };
  }
  if (!lead) return isAll ? undefined : serviceAt(words, start);
  const isPlain = at > lead.end || isAll || !/^[a-z0-9]/.test(textAt(words, at)) || LINKS.has(textAt(words, at));
  return isPlain ? { end: at, protocols: lead.protocols } : undefined;
}

/** Words behind a protocol that belong to no name. */
const LINKS: ReadonlySet<string> = new Set(
  'from to on for until between of with except but and or only at by into is are should must may traffic access connections apart other'.split(
    ' ',
  ),
);

function rangeOf(first: number, last: number): readonly [number, number] {
  if (first >= 1 && last <= LAST_PORT && first <= last) return [first, last];
  throw new Refusal(`${first === last ? first : `${first}-${last}`} is no port.`, [
    `Which port? Ports are whole numbers from 1 to ${LAST_PORT}, the lower one of a range first.`,
  ]);
}

/** `8000 to 8100`, `8000 through 8100`. */
function rangeEnd(words: readonly Word[], at: number, first: number): [last: number, end: number] {
  const next = textAt(words, at + 1);
  if (!['to', 'through'].includes(textAt(words, at)) || !/^\d{1,6}$/.test(next)) return [first, at];
  return [Number(next), at + 2];
}

function serviceAt(words: readonly Word[], at: number): Item | undefined {
  const start = isPortWord(words, at) ? at + 1 : at;
  const [one, two] = [textAt(words, start), `${textAt(words, start)} ${textAt(words, start + 1)}`];
  for (const [name, length] of [
    [two, 2],
    [one.replaceAll('-', ' '), 1],
  ] as const) {
    if (!Object.hasOwn(KNOWN_SERVICES, name)) continue;
    return { end: start + length, protocols: [], service: name };
  }
  return undefined;
}

/** `tcp`, `tcp and udp`, `tcp/udp`. */
function protocolsAt(words: readonly Word[], start: number): { protocols: string[]; end: number } | undefined {
  const protocols: string[] = [];
  let end = start;
  for (let at = start; PROTOCOLS.test(textAt(words, at)); ) {
    // "udp 53 and tcp 53": the second protocol has a port of its own.
    if (protocols.length > 0 && /^\d|^ports?$/.test(textAt(words, at + 1))) break;
    protocols.push(...textAt(words, at).split('/'));
    end = at + 1;
    const next = afterJoint(words, end);
    if (next === undefined) break;
    at = next;
  }
  return protocols.length > 0 ? { protocols: [...new Set(protocols)], end } : undefined;
}

interface Trail {
  readonly protocols: readonly string[];
  readonly end: number;
  /** "Over" or a comma stands between. */
  readonly isLinked: boolean;
}

/** `53 udp`, `53 over udp`, `53, tcp and udp`: the protocol after its ports. */
function trailAt(words: readonly Word[], at: number): Trail | undefined {
  const isLinked = ['over', 'on', ','].includes(textAt(words, at));
  const found = protocolsAt(words, isLinked ? at + 1 : at);
  if (!found) return undefined;
  const next = textAt(words, found.end);
  return next === '' || !/^[a-z0-9]/.test(next) || LINKS.has(next) ? { ...found, isLinked } : undefined;
}

function afterJoint(words: readonly Word[], at: number): number | undefined {
  const isJoint = (index: number) => [',', 'and', 'or'].includes(textAt(words, index));
  if (!isJoint(at)) return undefined;
  return isJoint(at + 1) ? at + 2 : at + 1;
}

function portWords({ protocols, range, service }: Item, untold: readonly string[]): string[] {
  if (service !== undefined) return (KNOWN_SERVICES[service] ?? []).map(entryWord);
  const own = protocols ?? untold;
  if (!range) return [...own];
  const [first, last] = range;
  return own.map((protocol) => `${protocol}/${first === last ? first : `${first}-${last}`}`);
}

function entryWord({ protocol = 'TCP', port, endPort }: PortEntry): string {
  const name = protocol.toLowerCase();
  if (port === undefined) return name;
  return `${name}/${port}${endPort === undefined || endPort === port ? '' : `-${endPort}`}`;
}

/** Returns ports without some of them, as an order writes them. @throws Refusal where these are not among them. */
export function portsWithout(ports: readonly string[], excepted: readonly string[]): string[] {
  const protocols = new Set(ports.map((word) => word.split('/')[0]));
  const own = excepted.filter((word) => protocols.has(word.split('/')[0]));
  // "Udp except dns" leaves out the part of dns that is udp.
  const left = own.length > 0 ? own : excepted;
  const words = [...ports, ...left.map((word) => `!${word}`)];
  const isWithin = left.every((word) => !isSame(portsOfWords([...ports, `!${word}`]), portsOfWords(ports)));
  if (isWithin && portsOfWords(words).length > 0 && !isSame(portsOfWords(words), portsOfWords(ports))) return words;
  throw new Refusal(`${left.join(', ')} cannot be left out of ${ports.join(', ') || 'all ports'}.`, [
    'Which ports are meant?',
  ]);
}

/** Returns the ports that are not among some, as an order writes them; undefined where none are left. */
export function otherPorts(ports: readonly string[]): string[] | undefined {
  if (ports.length === 0) return undefined;
  if (ports.every((word) => !word.startsWith('!'))) return ports.map((word) => `!${word}`);
  const meant = portEntriesOf(portsOfWords(ports)).map(entryWord);
  return meant.length === 0 ? undefined : meant.map((word) => `!${word}`);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
