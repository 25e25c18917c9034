import { joined } from './access.ts';
import type { MomentReader, NamedTime } from './moments.ts';
import { PHRASES, type Sym } from './phrases.ts';
import { type NamedPorts, portsAt, portsWithout } from './ports.ts';
import { quoted, Refusal } from './refusal.ts';
import { spanAt, timeAt } from './times.ts';
import type { Token, Until } from './token.ts';
import { textAt, type Word } from './tokens.ts';

/** Knows the names of a network. */
export interface Vocabulary extends MomentReader {
  /** True for the value of a label that says where a peer stands. */
  readonly isPlace: (word: string) => boolean;
}

const SYM_OF: ReadonlyMap<string, Sym> = new Map(
  (Object.entries(PHRASES) as [Sym, string][])
    .toReversed()
    .flatMap(([sym, text]) => text.split('|').map((phrase): [string, Sym] => [phrase, sym])),
);
const LONGEST = Math.max(...[...SYM_OF.keys()].map((phrase) => phrase.split(' ').length));

/** Phrases that a name of the network makes unclear: they say nothing, or how much. */
const HIDING: ReadonlySet<Token['sym']> = new Set([
  'ACCESS',
  'POLITE',
  'NOBODY',
  'INCOMING',
  'OUTGOING',
  'TALK',
  'OFF',
]);

/**
 * Reads words as phrases: ends of time first, then ports, then the longest phrase of the language. A name of the network
 * is never read as a service.
 *
 * @throws Refusal for times and ports that cannot be read
 */
export function recognize(words: readonly Word[], vocabulary: Vocabulary): Token[] {
  const lexer = new Lexer(words, vocabulary);
  return joined(lexer.tokens());
}

class Lexer {
  readonly #words: readonly Word[];
  readonly #vocabulary: Vocabulary;
  readonly #found: Token[] = [];
  #at = 0;

  constructor(words: readonly Word[], vocabulary: Vocabulary) {
    this.#words = words;
    this.#vocabulary = vocabulary;
  }

  tokens(): Token[] {
    while (this.#at < this.#words.length) {
      if (this.#words[this.#at]?.quoted || !(this.#bracket() || this.#time() || this.#ports() || this.#phrase()))
        this.#name();
    }
    return this.#found;
  }

  get #last(): Token | undefined {
    return this.#found.at(-1);
  }

  #push(token: Omit<Token, 'text' | 'quoted'>, end: number): true {
    const text = this.#words
      .slice(this.#at, end)
      .map((word) => word.text)
      .join(' ');
    this.#found.push({ text, quoted: false, ...token });
    this.#at = end;
    return true;
  }

  #name(): void {
    const word = this.#words[this.#at];
    if (word === undefined) return;
    this.#at += 1;
    // `db:5432`, but not `18:00`
    const [, name = '', rest = ''] = word.quoted ? [] : (SUFFIXED.exec(word.text) ?? []);
    const named = /[a-z.]/.test(name) ? portsAt([{ text: rest, quoted: false }], 0) : undefined;
    if (!named) this.#found.push(word);
    else
      this.#found.push({ text: name, quoted: false }, { text: rest, quoted: false, sym: 'PORTS', ports: named.ports });
  }

  /** `(port 8443)`, `(30 minutes)`, `(role=web and env=prod)`. */
  #bracket(): boolean {
    if (textAt(this.#words, this.#at) !== '(') return false;
    const end = this.#words.findIndex(({ text, quoted: isQuoted }, at) => at > this.#at && text === ')' && !isQuoted);
    const start = this.#at + 1;
    if (end < 0) return false;
    const inside = this.#words.slice(start, end);
    const span = spanAt(inside, 0, false);
    if (span?.end === inside.length)
      return this.#push({ sym: 'TIME', until: { at: this.#vocabulary.now + span.ms, span: span.ms } }, end + 1);
    const named = this.#named(start, true);
    if (named?.end === end) return this.#push({ sym: 'PORTS', ports: named.ports }, end + 1);
    const labels = inside.filter(({ text }) => text !== 'and' && text !== ',');
    if (labels.length === 0 || !labels.every(({ text, quoted: isQuoted }) => !isQuoted && /^[^=]+=[^=]+$/.test(text)))
      return false;
    this.#found.push({ text: labels.map(({ text }) => text).join(','), quoted: false });
    this.#at = end + 1;
    return true;
  }

  /** `for 2 hours`, `until 18:00`, `make it 1 hour`. */
  #time(): boolean {
    const isMade = this.#found.at(-2)?.sym === 'MAKE';
    const span = isMade ? spanAt(this.#words, this.#at, false) : undefined;
    if (span)
      return this.#push({ sym: 'TIME', until: { at: this.#vocabulary.now + span.ms, span: span.ms } }, span.end);
    const time = timeAt(this.#words, this.#at, this.#vocabulary);
    if (!time) return false;
    // "Only for 2 hours" restricts nothing but the time.
    if (this.#last?.text === 'only') this.#found.pop();
    return this.#push({ sym: 'TIME', until: untilOf(time) }, time.end);
  }

  /** Ports at a place, unless they are the name of somebody. */
  #named(at: number, isBare = false): NamedPorts | undefined {
    const { isName } = this.#vocabulary;
    const plain = this.#words.findIndex(({ quoted: isQuoted }, index) => isQuoted && index >= at);
    const named = portsAt(plain < 0 ? this.#words : this.#words.slice(0, plain), at);
    if (!named) return undefined;
    const isOfName = this.#words.slice(at, named.end).some(({ text }) => isName(text));
    if (isOfName && !/^(?:ports?|tcp|udp)$/.test(textAt(this.#words, at))) return undefined;
    if (!isBare && named.ports.length === 0 && named.end === at) return undefined;
    return this.#without(named);
  }

  /** `udp except 53`, `all ports but ssh`. */
  #without(named: NamedPorts): NamedPorts {
    const { ports, end } = named;
    const protocols = [...new Set(ports.map((word) => word.split('/')[0] ?? ''))].filter((one) => one !== 'icmp');
    const left = this.#exceptPorts(end, protocols.length > 0 ? protocols : undefined);
    return left ? { ports: portsWithout(ports, left.ports), end: left.end } : named;
  }

  #exceptPorts(at: number, protocols?: readonly string[]): NamedPorts | undefined {
    const phrase = this.#longest(at);
    if (phrase?.sym !== 'EXCEPT') return undefined;
    const end = at + phrase.length;
    const start = ['on', 'over'].includes(textAt(this.#words, end)) ? end + 1 : end;
    if (this.#words[start]?.quoted || this.#vocabulary.isName(textAt(this.#words, start))) return undefined;
    const left = portsAt(this.#words, start, protocols);
    // "except 5432 from web", "except ssh to api": these are of an exception that names somebody.
    const next = textAt(this.#words, left?.end ?? start);
    if (!left || left.ports.length === 0) return undefined;
    return ['from', 'of'].includes(next) ||
      (['to', 'on'].includes(next) &&
        this.#found.some(({ sym }) => sym === 'FROM' || sym === 'REACHING' || sym === 'REACH'))
      ? undefined
      : left;
  }

  #ports(): boolean {
    return this.#client() || this.#verb() || this.#behindPreposition() || this.#noun();
  }

  /** `ssh into db-1`, `ping everyone`, `send syslog to the gateways`. */
  #verb(): boolean {
    const isPlace = this.#last !== undefined && (this.#last.sym === undefined || VERB_AFTER.has(this.#last.sym));
    const text = textAt(this.#words, this.#at);
    const from = text === 'to' ? this.#at + 1 : this.#at;
    const verb = textAt(this.#words, from);
    if (!isPlace) return false;
    if (verb === 'send') {
      const sent = this.#named(from + 1);
      return sent !== undefined && textAt(this.#words, sent.end) === 'to'
        ? this.#push({ sym: 'REACH', ports: sent.ports }, sent.end + 1)
        : false;
    }
    if (!PORT_VERBS.has(verb) || this.#vocabulary.isName(verb)) return false;
    const ports = portsAt([{ text: verb, quoted: false }], 0)?.ports ?? [];
    const next = textAt(this.#words, from + 1);
    if (['to', 'into'].includes(next)) return this.#push({ sym: 'REACH', ports }, from + 2);
    if (next === 'in' && from + 2 === this.#words.length) {
      this.#push({ sym: 'REACH', ports }, from + 2);
      this.#found.push({ text: 'it', quoted: false, sym: 'PRONOUN' });
      return true;
    }
    if (['anywhere', 'everywhere'].includes(next)) return this.#push({ sym: 'REACH', ports }, from + 1);
    const isPing =
      verb === 'ping' && next !== '' && !['from', 'on', 'for', 'between', 'access', 'traffic'].includes(next);
    return isPing ? this.#push({ sym: 'REACH', ports }, from + 1) : false;
  }

  /** `push images to ci-1`, `has to upload its archives to`: what a client does, by the ports that are named. */
  #client(): boolean {
    const from = textAt(this.#words, this.#at) === 'to' ? this.#at + 1 : this.#at;
    if (!CLIENT_VERBS.has(textAt(this.#words, from)) || this.#vocabulary.isName(textAt(this.#words, from)))
      return false;
    if (this.#found.length === 0) return false;
    const { isName } = this.#vocabulary;
    for (let at = from + 1; at <= from + 1 + MAX_OBJECT; at++) {
      const text = textAt(this.#words, at);
      if (['to', 'from', 'into'].includes(text)) return this.#push({ sym: 'REACH', isClient: true }, at + 1);
      if (!/^[a-z]+$/.test(text) || isName(text) || this.#isMeaningful(at)) return false;
    }
    return false;
  }

  #isMeaningful(at: number): boolean {
    const phrase = this.#longest(at);
    return (phrase !== undefined && phrase.sym !== 'PRONOUN') || portsAt(this.#words, at) !== undefined;
  }

  /** `on port 443`, `over https`, `, port 443` at the end, and after "limit": `to ports 80 and 443`. */
  #behindPreposition(): boolean {
    const text = textAt(this.#words, this.#at);
    const limits = this.#found.some(({ sym }) => sym === 'LIMIT' || sym === 'LOCK');
    const isTo = limits && (text === 'to' || text === 'down');
    if (!BEFORE_PORTS.has(text) && text !== ',' && !isTo) return false;
    const start = text === 'down' ? this.#at + 2 : this.#at + 1;
    if (isTo && text === 'down' && textAt(this.#words, start - 1) !== 'to') return false;
    if (this.#words[start]?.quoted) return false;
    const named = this.#named(start, true) ?? this.#whole(start);
    if (!named) return false;
    if (text === ',' && !(named.end === this.#words.length || /^[.;]$/.test(textAt(this.#words, named.end))))
      return false;
    if (text === ',' && named.service !== undefined) return false;
    return this.#push({ sym: 'PORTS', ports: named.ports }, named.end);
  }

  /** `everything but icmp`, `all but 443`. */
  #whole(at: number): NamedPorts | undefined {
    const length = ['all traffic', 'any traffic'].includes(`${textAt(this.#words, at)} ${textAt(this.#words, at + 1)}`)
      ? 2
      : 1;
    if (!WHOLE.has(textAt(this.#words, at))) return undefined;
    const left = this.#exceptPorts(at + length);
    return left && { ports: portsWithout([], left.ports), end: left.end };
  }

  /** `postgres`, `port 22`, `ssh`: a noun after a verb, or right behind who is reached. */
  #noun(): boolean {
    const last = this.#last?.sym;
    const named = this.#named(this.#at) ?? this.#whole(this.#at);
    if (!named) return false;
    const next = textAt(this.#words, named.end);
    if (/^(?:access|traffic|connections?)$/.test(next))
      return this.#push({ sym: 'ACCESS', ports: named.ports }, named.end + 1);
    const isBehind = this.#last !== undefined && (last === undefined || last === 'MUTUAL') && next !== 'on';
    return this.#push({ sym: isBehind ? 'PORTS' : 'ACCESS', ports: named.ports }, named.end);
  }

  #phrase(): boolean {
    const phrase = this.#longest(this.#at);
    if (!phrase) return false;
    const { length, sym } = phrase;
    const end = this.#at + length;
    const last = textAt(this.#words, end - 1);
    const { isName, isPlace } = this.#vocabulary;
    if (HIDING.has(sym) && (isName(last) || (length === 1 && isName(textAt(this.#words, this.#at)))))
      throw new Refusal(`${quoted(last)} is also the name of a peer or the value of a label.`, [
        `Is it meant? Then put it in quotes, or write it as label=value. Else leave the word out.`,
      ]);
    const next = textAt(this.#words, end) === 'the' ? end + 1 : end;
    if (sym === 'ON' && this.#last && !this.#last.sym && isPlace(textAt(this.#words, next))) {
      this.#found.push({ text: 'at', quoted: false });
      this.#at = end;
      return true;
    }
    return this.#push({ sym }, end);
  }

  #longest(at: number): { sym: Sym; length: number } | undefined {
    const slice = this.#words.slice(at, at + LONGEST);
    const quote = slice.findIndex(({ quoted: isQuoted }) => isQuoted);
    for (let length = quote < 0 ? slice.length : quote; length > 0; length--) {
      const sym = SYM_OF.get(
        slice
          .slice(0, length)
          .map(({ text }) => text)
          .join(' '),
      );
      if (sym) return { sym, length };
    }
    return undefined;
  }
}

const SUFFIXED = /^([^:=]+):(\d[\d-]*(?:\/\w+)?)$/;

function untilOf({ until, span }: NamedTime): Until {
  return { at: until, ...(span !== undefined && { span }) };
}

/** Services that are verbs too. */
const PORT_VERBS: ReadonlySet<string> = new Set(['ssh', 'sftp', 'rdp', 'telnet', 'vnc', 'ping', 'rsync']);
const CLIENT_VERBS: ReadonlySet<string> = new Set(
  'push pull upload download fetch send write deploy sync copy'.split(' '),
);
/** Words of what is sent. */
const MAX_OBJECT = 4;
const VERB_AFTER: ReadonlySet<Token['sym']> = new Set(['MAY', 'MAY_NOT', 'NEEDS', 'MUTUAL', 'EXCEPT']);
const BEFORE_PORTS: ReadonlySet<string> = new Set(['on', 'over', 'via', 'through', 'using', 'at', 'with', 'by']);
const WHOLE: ReadonlySet<string> = new Set(['everything', 'anything', 'all', 'any']);
