import type { PortEntry } from '../../core/model/policy.ts';
import type { Sym, Token } from './lexicon.ts';
import type { Exclusive, Modifiers } from './modifier.ts';
import type { NamedTime } from './moments.ts';
import { namesake, serviceAsPorts } from './own-words.ts';
import { withoutPolite } from './polite.ts';
import { type Place, refuseInsideOfException, refuseInsideOfList, unclearBut } from './port-doubts.ts';
import { portList, protocolsOf, within } from './port-entries.ts';
import {
  AFTER_NUMBER,
  AFTER_PORTS,
  BEFORE_PORTS,
  BOTH_WAYS,
  CLOSES_ELSE,
  CLOSING,
  isBesideDuration,
  isProtocols,
  isWholeAt,
  OPENING,
  REACHES,
  WHOLE,
} from './port-places.ts';
import { portVerbAt } from './port-verbs.ts';
import { portsAt, suffixedPorts, unknownPort } from './ports.ts';
import { quoted, Refusal } from './refusal.ts';
import { timeAt, unclearEnd } from './times.ts';
import type { Vocabulary } from './vocabulary.ts';

/**
 * Takes ports, a time, "and nobody else" and "in both directions" out of a statement.
 *
 * @throws Refusal for one that is wrong, said twice, or that cannot be understood.
 */
export function takeModifiers(tokens: readonly Token[], vocabulary: Vocabulary): Modifiers {
  return new Taker(withoutPolite(tokens), vocabulary).take();
}

class Taker {
  readonly #tokens: readonly Token[];
  readonly #vocabulary: Vocabulary;
  readonly #rest: Token[] = [];
  #ports: readonly PortEntry[] | undefined;
  #spared: readonly PortEntry[] | undefined;
  #until: number | undefined;
  #zone: string;
  #exclusive: Exclusive | undefined;
  #mutual = false;
  #forGood: Token | undefined;
  #also = false;
  #elseClosed = false;
  #portsPlace: Modifiers['portsPlace'];
  #at = 0;

  constructor(tokens: readonly Token[], vocabulary: Vocabulary) {
    this.#tokens = tokens;
    this.#vocabulary = vocabulary;
    this.#zone = vocabulary.timeZone;
  }

  take(): Modifiers {
    while (this.#at < this.#tokens.length) this.#takeOne();
    if (this.#forGood && this.#until !== undefined) throw unclearEnd(this.#tokens, this.#vocabulary);
    return {
      rest: withoutPolite(
        this.#until === undefined ? this.#rest : this.#rest.filter((token) => !isBesideDuration(token)),
      ),
      ports: this.#ports ?? [],
      spared: this.#spared ?? [],
      until: this.#until,
      zone: this.#zone,
      exclusive: this.#exclusive,
      mutual: this.#mutual,
      also: this.#also,
      elseClosed: this.#elseClosed,
      portsPlace: this.#portsPlace,
    };
  }

  #takeOne(): void {
    const token = this.#tokens[this.#at];
    if (token === undefined) return;
    const time = token.quoted ? undefined : timeAt(this.#tokens, this.#at, this.#vocabulary);
    if (token.quoted) this.#keep(token);
    else if (time) this.#takeTime(time);
    else if (token.sym === 'FOR_GOOD') {
      this.#dropComma();
      this.#forGood = token;
      this.#at += 1;
    } else if (token.sym === 'ALSO') {
      this.#also = true;
      this.#at += 1;
    } else if (token.sym && CLOSES_ELSE.has(token.sym)) {
      this.#dropComma();
      if (token.sym === 'ELSE_CLOSED') this.#elseClosed = true;
      else {
        const side = token.sym === 'NOBODY_ELSE' ? 'in' : 'out';
        this.#exclusive = this.#exclusive && this.#exclusive !== side ? 'both' : side;
      }
      this.#at += 1;
    } else if (token.sym === 'MUTUAL' && !BOTH_WAYS.has(token.text)) {
      this.#dropComma();
      this.#mutual = true;
      this.#at += 1;
    } else if (!this.#takePorts(token)) this.#keep(token);
  }

  #keep(token: Token): void {
    this.#rest.push(token);
    this.#at += 1;
  }

  #takeTime({ until, end, zone }: NamedTime): void {
    if (this.#until !== undefined) throw new Refusal('Two times are named.', ['Until when should it hold?']);
    this.#dropComma();
    refuseInsideOfList(this.#place(end));
    this.#until = until;
    this.#zone = zone ?? this.#zone;
    // "For one hour only": what is limited is the time.
    const isStressed = this.#tokens[end]?.sym === 'ONLY' && end + 1 === this.#tokens.length;
    this.#at = isStressed ? end + 1 : end;
  }

  /** A comma before something that is taken out belongs to it. */
  #dropComma(): void {
    if (this.#rest.at(-1)?.sym === 'COMMA') this.#rest.pop();
  }

  #takePorts(token: Token): boolean {
    const before = this.#rest.at(-1)?.sym;
    return (
      this.#withPrefix(token) ||
      this.#sparedPorts(token, before) ||
      this.#suffix(token) ||
      this.#verb(before) ||
      this.#plain(before)
    );
  }

  /** `on port 443`, `over ssh`, `using tcp 5432`, `with https`. */
  #withPrefix({ sym, text }: Token): boolean {
    const spoken = sym === 'OVER' || sym === 'ON' || sym === 'BY' || text === 'using' || text === 'with';
    if (spoken && isWholeAt(this.#tokens, this.#at + 1)) {
      this.#setPorts([]);
      this.#at += 2;
      return true;
    }
    const named = spoken ? portsAt(this.#tokens, this.#at + 1) : undefined;
    if (!named) {
      const next = this.#tokens[this.#at + 1];
      if (sym === 'OVER' && next && next.sym === undefined && !this.#vocabulary.isName(next.text))
        throw unknownPort(next.text);
      return false;
    }
    // "port 6379 on redis": the service after its port is the name of a group.
    if (sym === 'ON' && named.service !== undefined && this.#ports && this.#vocabulary.isName(named.service))
      return false;
    refuseInsideOfException(this.#place(named.end));
    this.#dropComma();
    refuseInsideOfList(this.#place(named.end));
    return this.#takeNamed(named);
  }

  /** `all ports except 22`, `but no udp`, `limited to 443`. */
  #sparedPorts({ sym, text }: Token, before: Sym | undefined): boolean {
    const [verb] = this.#rest;
    const limits = sym === 'TO' && (verb?.sym === 'LIMIT' || verb?.sym === 'LOCK');
    const denies = sym === 'NO' && before === 'COMMA' && verb?.sym !== undefined && OPENING.has(verb.sym);
    if (sym !== 'EXCEPT' && !limits && !denies) return false;
    let from = this.#at + 1;
    const isNone = sym === 'EXCEPT' && this.#tokens[from]?.sym === 'NO';
    if (isNone) from += 1;
    const lead = this.#tokens[from]?.sym;
    if (lead === 'ON' || lead === 'OVER') from += 1;
    const isAll = limits && isWholeAt(this.#tokens, from);
    const named = isAll
      ? { ports: [], end: from + 1, service: undefined }
      : portsAt(this.#tokens, from, limits ? undefined : protocolsOf(this.#ports));
    if (!named || (denies && named.end < this.#tokens.length)) return false;
    if (named.service !== undefined && this.#vocabulary.isName(named.service)) {
      throw new Refusal(`${quoted(named.service)} is a service and also the name of peers.`, [
        `Are its ports meant ("port …"), or the peers ("role=…")?`,
      ]);
    }
    if (limits) {
      this.#setPorts(named.ports);
      this.#rest[0] = { text: 'limit', quoted: false, sym: 'LIMIT' };
    } else {
      const isWhole = this.#ports !== undefined || isNone || WHOLE.has(this.#rest.at(-1)?.text ?? '');
      if (text === 'but' && !isWhole && !(verb?.sym && CLOSING.has(verb.sym)))
        throw unclearBut(this.#place(named.end), named.ports);
      if (this.#spared) throw new Refusal('Ports are named twice.', ['Which ports are meant?']);
      this.#dropComma();
      this.#spared = named.service === undefined ? named.ports : within(named.ports, protocolsOf(this.#ports));
    }
    this.#at = named.end;
    return true;
  }

  /** `db:5432`. */
  #suffix(token: Token): boolean {
    const named = suffixedPorts(token);
    if (!named) return false;
    this.#setPorts(named.ports);
    this.#keep(named.who);
    return true;
  }

  /** `let ops ssh into web-1`, `let cameras send syslog to the gateways`. */
  #verb(before: Sym | undefined): boolean {
    const verb = portVerbAt(this.#tokens, this.#at, this.#rest.at(-1));
    if (!verb) return false;
    this.#setPorts(verb.ports);
    this.#portsPlace ??= 'first';
    if (before === 'TO') this.#rest.pop();
    this.#rest.push({ text: 'reach', quoted: false, sym: 'REACH' });
    if (verb.here) this.#rest.push({ text: 'it', quoted: false, sym: 'LAST_CHANGE' });
    this.#at = verb.end;
    return true;
  }

  /** `open port 443 on web`, `allow ssh from ops to web`, `https access`, `reach port 22 of db`. */
  #plain(before: Sym | undefined): boolean {
    const named = portsAt(this.#tokens, this.#at);
    if (!named) return false;
    const following = this.#tokens[named.end];
    const next = following?.sym;
    // "web -> db 5432": a number right after who is reached.
    const text = this.#tokens[this.#at]?.text ?? '';
    const numbered = named.service === undefined && (/\d{2}|tcp|udp|icmp/.test(text) || named.ports.length === 0);
    const last = this.#rest.at(-1);
    const reached =
      this.#rest.some(({ sym }) => sym && (REACHES.has(sym) || sym === 'ON')) &&
      last !== undefined &&
      last.sym === undefined;
    const isWhole = next === 'EXCEPT' && isProtocols(named.ports);
    const ends = following === undefined || isWhole || (next !== undefined && AFTER_NUMBER.has(next));
    // "web -> db ssh": a service right after it, where nothing follows.
    const drawn =
      named.service !== undefined &&
      this.#rest.some(({ sym }) => sym === 'ARROW') &&
      !this.#vocabulary.isName(named.service);
    if ((numbered || drawn) && reached && ends && !this.#vocabulary.isName(`${last.text}-${text}`)) {
      refuseInsideOfList(this.#place(named.end));
      return this.#takeNamed(named);
    }
    // "allow web to db, port 443": after a comma at the end.
    if (before === 'COMMA' && (!following || next === 'EXCEPT') && named.service === undefined) {
      this.#dropComma();
      return this.#takeNamed(named);
    }
    const isName = named.service !== undefined && this.#vocabulary.isName(named.service);
    if (next === 'ACCESS') return this.#takeNamed(named);
    if (before && REACHES.has(before) && (next === 'ON' || next === 'OF')) {
      this.#setPorts(named.ports);
      this.#portsPlace ??= 'first';
      this.#at = named.end + 1;
      return true;
    }
    const first = before === undefined || BEFORE_PORTS.has(before) || (before === 'ONLY' && this.#rest.length <= 2);
    const begins = this.#rest.length === 0 && !this.#tokens.some(({ sym }) => sym === 'MAY' || sym === 'MAY_NOT');
    if (!first || begins || (following && !(next && AFTER_PORTS.has(next)))) return false;
    const heads = this.#tokens.slice(named.end + 1).some(({ sym }) => sym === 'TO');
    if (isName && !(next === 'FROM' && heads))
      throw namesake(this.#tokens.slice(this.#at, named.end), [{ noun: text }], serviceAsPorts(named.ports));
    this.#setPorts(named.ports);
    this.#rest.push({ text: 'access', quoted: false, sym: 'ACCESS' });
    this.#at = named.end;
    return true;
  }

  #place(end: number): Place {
    return { tokens: this.#tokens, rest: this.#rest, start: this.#at, end };
  }

  #takeNamed({ ports, end }: { ports: readonly PortEntry[]; end: number }): true {
    this.#setPorts(ports);
    this.#at = end;
    return true;
  }

  #setPorts(ports: readonly PortEntry[]): void {
    if (this.#ports) {
      if (portList(this.#ports) === portList(ports)) return;
      throw new Refusal('Ports are named twice.', ['Which ports are meant?']);
    }
    const first = this.#rest.every(({ sym }) => sym !== undefined && sym !== 'REACH' && sym !== 'EXCEPT');
    if (first) this.#portsPlace = 'first';
    if (this.#rest.some(({ sym }) => sym === 'ONLY')) this.#portsPlace = 'after only';
    this.#ports = ports;
  }
}
