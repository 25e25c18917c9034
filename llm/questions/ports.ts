import { notUnderstood } from '../../core/history/pair/question-reader.ts';
import type { PortEntry, Protocol } from '../../core/model/policy.ts';
import { KNOWN_SERVICES } from '../grammar/services.ts';
import { textAt, type Word } from '../grammar/tokens.ts';
import { unknownMoment } from './times.ts';

/** The port of a question, and the indexes of the words that name it. */
export interface PortInWords {
  readonly protocol?: Protocol;
  readonly port?: number;
  readonly used: ReadonlySet<number>;
}

const PROTOCOLS: ReadonlySet<string> = new Set(['tcp', 'udp', 'sctp']);

/** The service that one word or two name, and how many words they are. */
export function serviceAt(words: readonly Word[], at: number): { entry: PortEntry; count: number } | undefined {
  for (const count of [2, 1]) {
    const name = Array.from({ length: count }, (_, n) => textAt(words, at + n)).join(' ');
    const [entry] = (Object.hasOwn(KNOWN_SERVICES, name) && KNOWN_SERVICES[name]) || [];
    if (entry) return { entry, count };
  }
  return undefined;
}

/**
 * `5432`, `tcp/5432`, `443/udp`, `ssh`, `UDP`; a service of several ports is meant by its first. Words that are names or
 * times are passed over.
 *
 * @throws MeshError that asks back, for two ports and for one that there is not
 */
export function portIn(words: readonly Word[], taken: ReadonlySet<number>): PortInWords {
  const used = new Set<number>();
  let protocol: Protocol | undefined;
  let port: number | undefined;
  for (let at = 0; at < words.length; at += 1) {
    if (taken.has(at) || used.has(at)) continue;
    const word = textAt(words, at);
    const [, before, number, after] = /^(?:(tcp|udp|sctp)[/:])?:?(\d{1,5})(?:\/(tcp|udp|sctp))?$/.exec(word) ?? [];
    if (number !== undefined && !before && !after) requireNoTime(words, at);
    const service = serviceAt(words, at);
    if (number === undefined && !service && !PROTOCOLS.has(word)) continue;
    for (let n = 0; n < (service?.count ?? 1); n += 1) used.add(at + n);
    const named = before ?? after ?? (PROTOCOLS.has(word) ? word : undefined);
    protocol = (named?.toUpperCase() as Protocol | undefined) ?? service?.entry.protocol ?? protocol;
    const said = number === undefined ? service?.entry.port : Number(number);
    if (said !== undefined && port !== undefined && said !== port)
      throw notUnderstood(`Two ports are named, ${port} and ${said}: ask about one.`);
    port = said ?? port;
  }
  if (port !== undefined && (port < 1 || port > 65_535))
    throw notUnderstood(`There is no port ${port}: ports are 1 to 65535.`);
  if (protocol === 'ICMP' && port !== undefined) throw notUnderstood('ICMP has no ports: leave the port or ping out.');
  const meant = protocol ?? (port === undefined ? undefined : 'TCP');
  return { ...(meant && { protocol: meant }), ...(port !== undefined && { port }), used };
}

const BEFORE_TIME: ReadonlySet<string> = new Set(['between', 'since', 'until', 'till', 'before', 'after', 'during']);
const AFTER_TIME = /^(?:am|pm|o'?clock|ago|(?:second|minute|hour|day|week|month|year)s?)$/;

/** @throws MeshError that asks back, for a number that says when */
function requireNoTime(words: readonly Word[], at: number): void {
  const isSecond = textAt(words, at - 1) === 'and' && textAt(words, at - 3) === 'between';
  // `at 1849` may be a clock.
  const isClock = textAt(words, at - 1) === 'at' && /^(?:[01]\d|2[0-3])[0-5]\d$/.test(textAt(words, at));
  const isTime =
    isClock || BEFORE_TIME.has(textAt(words, at - 1)) || AFTER_TIME.test(textAt(words, at + 1)) || isSecond;
  if (isTime) throw unknownMoment(textAt(words, at));
}
