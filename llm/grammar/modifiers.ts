import type { PortEntry } from '../../core/model/policy.ts';
import type { Sym, Token } from './lexicon.ts';
import type { Likeness } from './likeness.ts';
import { withoutPolite } from './polite.ts';
import { type Place, refuseInsideOfException, refuseInsideOfList, unclearBut } from './port-doubts.ts';
import {
  AFTER_NUMBER,
  AFTER_PORTS,
  BEFORE_PORTS,
  BOTH_WAYS,
  CLOSING,
  isBesideDuration,
  isVerbPlace,
  PORT_VERBS,
  REACHES,
} from './port-places.ts';
import { otherPorts, portList, portsAt, portsIn, portText, unknownPort } from './ports.ts';
import { quoted, Refusal } from './refusal.ts';
import { timeAt } from './times.ts';

/** What may stand anywhere in a statement, taken out of it: `rest` says who, what and whom. */
export interface Modifiers {
  readonly rest: readonly Token[];
  /** None: all ports. */
  readonly ports: readonly PortEntry[];
  /** Ports that are left out by name: "all ports except 22". */
  readonly spared: readonly PortEntry[];
  /** Milliseconds. */
  readonly until: number | undefined;
  /** "And nobody else". */
  readonly exclusive: boolean;
  /** "In both directions". */
  readonly mutual: boolean;
  /** "Also": it adds to what was said before. */
  readonly also: boolean;
  /** "Everything else stays closed". */
  readonly elseClosed: boolean;
  /** Where the ports stand: before those who reach and are reached, or after a word such as "only". */
  readonly portsPlace: 'first' | 'after only' | undefined;
}

export interface Context {
  readonly now: number;
  /** Whether a word is the name of a peer or a value of a label. */
  readonly isName: (word: string) => boolean;
  /** Whether a word is the value of a label that says where a peer stands. */
  readonly isPlace: (word: string) => boolean;
  readonly likeness: Likeness;
}

/**
 * Takes ports, a time, "and nobody else" and "in both directions" out of a statement.
 *
 * @throws Refusal for one that is wrong, said twice, or that cannot be understood.
 */
export function takeModifiers(tokens: readonly Token[], context: Context): Modifiers {
  return new Taker(withoutPolite(tokens), context).take();
}

class Taker {
  readonly #tokens: readonly Token[];
  readonly #context: Context;
  readonly #rest: Token[] = [];
  #ports: readonly PortEntry[] | undefined;
  #spared: readonly PortEntry[] | undefined;
  #until: number | undefined;
  #exclusive = false;
  #mutual = false;
  #also = false;
  #elseClosed = false;
  #portsPlace: Modifiers['portsPlace'];
  #at = 0;

  constructor(tokens: readonly Token[], context: Context) {
    this.#tokens = tokens;
    this.#context = context;
  }

  take(): Modifiers {
    while (this.#at < this.#tokens.length) this.#takeOne();
    return {
      rest: withoutPolite(
        this.#until === undefined ? this.#rest : this.#rest.filter((token) => !isBesideDuration(token)),
      ),
      ports: this.#ports ?? [],
      spared: this.#spared ?? [],
      until: this.#until,
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
    const time = token.quoted ? undefined : timeAt(this.#tokens, this.#at, this.#context.now);
    if (token.quoted) this.#keep(token);
    else if (time) this.#takeTime(time);
    else if (token.sym === 'ALSO') {
      this.#also = true;
      this.#at += 1;
    } else if (token.sym === 'ELSE_CLOSED') {
      this.#dropComma();
      this.#elseClosed = true;
      this.#at += 1;
    } else if (token.sym === 'NOBODY_ELSE') {
      this.#dropComma();
      this.#exclusive = true;
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

  #takeTime({ until, end }: { until: number; end: number }): void {
    if (this.#until !== undefined) throw new Refusal('Two times are named.', ['Until when should it hold?']);
    this.#dropComma();
    refuseInsideOfList(this.#place(end));
    this.#until = until;
    this.#at = end;
  }

  /** A comma before something that is taken out belongs to it. */
  #dropComma(): void {
    if (this.#rest.at(-1)?.sym === 'COMMA') this.#rest.pop();
  }

  #takePorts(token: Token): boolean {
    const before = this.#rest.at(-1)?.sym;
    return (
      this.#withPrefix(token) ||
      this.#sparedPorts(token) ||
      this.#suffix(token) ||
      this.#verb(token, before) ||
      this.#plain(before)
    );
  }

  /** `on port 443`, `over ssh`, `using tcp 5432`, `with https`. */
  #withPrefix({ sym, text }: Token): boolean {
    const spoken = sym === 'OVER' || sym === 'ON' || sym === 'BY' || text === 'using' || text === 'with';
    const named = spoken ? portsAt(this.#tokens, this.#at + 1) : undefined;
    if (!named) {
      const next = this.#tokens[this.#at + 1];
      if (sym === 'OVER' && next && next.sym === undefined && !this.#context.isName(next.text))
        throw unknownPort(next.text);
      return false;
    }
    // "port 6379 on redis": the service after its port is the name of a group.
    if (sym === 'ON' && named.service !== undefined && this.#ports && this.#context.isName(named.service)) return false;
    refuseInsideOfException(this.#place(named.end));
    this.#dropComma();
    refuseInsideOfList(this.#place(named.end));
    this.#setPorts(named.ports);
    this.#at = named.end;
    return true;
  }

  /** `all ports except 22`, `limited to 443`. */
  #sparedPorts({ sym, text }: Token): boolean {
    const [verb] = this.#rest;
    const limits = sym === 'TO' && (verb?.sym === 'LIMIT' || verb?.sym === 'LOCK');
    if (sym !== 'EXCEPT' && !limits) return false;
    const lead = this.#tokens[this.#at + 1];
    const from = lead?.sym === 'ON' || lead?.sym === 'OVER' ? this.#at + 2 : this.#at + 1;
    const named = portsAt(this.#tokens, from);
    if (!named) return false;
    if (named.service !== undefined && this.#context.isName(named.service)) {
      throw new Refusal(`${quoted(named.service)} is a service and also the name of peers.`, [
        `Are its ports meant ("port …"), or the peers ("role=…")?`,
      ]);
    }
    if (sym === 'EXCEPT') {
      if (text === 'but' && this.#ports === undefined && !(verb?.sym && CLOSING.has(verb.sym)))
        throw unclearBut(this.#place(named.end), named.ports);
      if (this.#spared) throw new Refusal('Ports are named twice.', ['Which ports are meant?']);
      this.#spared = named.ports;
    } else {
      this.#setPorts(named.ports);
      this.#rest[0] = { text: 'limit', quoted: false, sym: 'LIMIT' };
    }
    this.#at = named.end;
    return true;
  }

  /** `db:5432`. */
  #suffix({ text, sym }: Token): boolean {
    const [, name = '', rest = ''] = /^(?!\d+:)([^:=]+):(\d[\d-]*(?:\/\w+)?)$/.exec(text) ?? [];
    if (sym !== undefined || name === '') return false;
    const named = portsAt([{ text: rest, quoted: false }], 0);
    if (named?.end !== 1) return false;
    this.#setPorts(named.ports);
    this.#keep({ text: name, quoted: false });
    return true;
  }

  /** `let ops ssh into web-1`, `web may ping db`. */
  #verb({ text, sym }: Token, before: Sym | undefined): boolean {
    if (sym !== undefined || this.#rest.length === 0) return false;
    if (text === 'send') return this.#sent(before);
    if (!PORT_VERBS.has(text)) return false;
    const next = this.#tokens[this.#at + 1];
    if (next === undefined || !isVerbPlace(before, this.#rest.at(-1))) return false;
    if (next.text === 'in' && this.#at + 2 === this.#tokens.length) {
      this.#reach(portsAt([{ text, quoted: false }], 0)?.ports ?? [], before, this.#at + 2);
      this.#rest.push({ text: 'it', quoted: false, sym: 'LAST_CHANGE' });
      return true;
    }
    const into = next.sym === 'TO';
    if (!into && (text !== 'ping' || (next.sym !== undefined && next.sym !== 'MUTUAL'))) return false;
    this.#reach(portsAt([{ text, quoted: false }], 0)?.ports ?? [], before, this.#at + (into ? 2 : 1));
    return true;
  }

  /** `let cameras send syslog to the gateways`. */
  #sent(before: Sym | undefined): boolean {
    const named = portsAt(this.#tokens, this.#at + 1);
    if (!named || this.#tokens[named.end]?.sym !== 'TO' || !isVerbPlace(before, this.#rest.at(-1))) return false;
    this.#reach(named.ports, before, named.end + 1);
    return true;
  }

  #reach(ports: readonly PortEntry[], before: Sym | undefined, next: number): void {
    this.#setPorts(ports);
    this.#portsPlace ??= 'first';
    if (before === 'TO') this.#rest.pop();
    this.#rest.push({ text: 'reach', quoted: false, sym: 'REACH' });
    this.#at = next;
  }

  /** `open port 443 on web`, `allow ssh from ops to web`, `https access`, `reach port 22 of db`. */
  #plain(before: Sym | undefined): boolean {
    const named = portsAt(this.#tokens, this.#at);
    if (!named) return false;
    const following = this.#tokens[named.end];
    const next = following?.sym;
    // "web -> db 5432": a number right after who is reached.
    const numbered = named.service === undefined && /\d{2}|tcp|udp|icmp/.test(this.#tokens[this.#at]?.text ?? '');
    const last = this.#rest.at(-1);
    const reached =
      this.#rest.some(({ sym }) => sym && (REACHES.has(sym) || sym === 'ON')) &&
      last !== undefined &&
      last.sym === undefined;
    const ends = following === undefined || (next !== undefined && AFTER_NUMBER.has(next));
    // "web -> db ssh": a service right after it, where nothing follows.
    const drawn =
      named.service !== undefined &&
      this.#rest.some(({ sym }) => sym === 'ARROW') &&
      !this.#context.isName(named.service);
    if (
      (numbered || drawn) &&
      reached &&
      ends &&
      !this.#context.isName(`${last.text}-${this.#tokens[this.#at]?.text}`)
    ) {
      refuseInsideOfList(this.#place(named.end));
      this.#setPorts(named.ports);
      this.#at = named.end;
      return true;
    }
    // "allow web to db, port 443": after a comma at the end.
    if (before === 'COMMA' && following === undefined && named.service === undefined) {
      this.#dropComma();
      this.#setPorts(named.ports);
      this.#at = named.end;
      return true;
    }
    const isName = named.service !== undefined && this.#context.isName(named.service);
    if (next === 'ACCESS') {
      this.#setPorts(named.ports);
      this.#at = named.end;
      return true;
    }
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
    if (isName && !(next === 'FROM' && heads)) return false;
    this.#setPorts(named.ports);
    this.#rest.push({ text: 'access', quoted: false, sym: 'ACCESS' });
    this.#at = named.end;
    return true;
  }

  #place(end: number): Place {
    return { tokens: this.#tokens, rest: this.#rest, start: this.#at, end };
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

/**
 * The ports that are meant once those that are left out are: `1-100 except 22` is 1-21 and 23-100.
 *
 * @throws Refusal where nothing is left, or what is left out was not among them.
 */
export function meantPorts({ ports, spared }: Pick<Modifiers, 'ports' | 'spared'>): readonly PortEntry[] {
  if (spared.length === 0) return ports;
  const others = otherPorts(spared);
  if (ports.length === 0) return others;
  const left = portsIn(others, ports);
  const isWithin = spared.every((entry) => portsIn([entry], ports).length > 0);
  if (isWithin && left.length > 0) return left;
  throw new Refusal(`${portText(spared)} cannot be left out of ${portText(ports)}.`, [
    `Which ports are meant: ${portText(ports)}, or all but ${portText(spared)}?`,
  ]);
}
