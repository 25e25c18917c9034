import { CR, FAILED, INCOMPLETE, isBlank, latin1, lineEnd, lower, ownCopy } from './bytes.ts';
import type { ParserLimits } from './limits.ts';
import { PublishReader } from './publish-reader.ts';
import type { ParseError, Sink } from './sink.ts';

/**
 * The client half of the NATS protocol, as bytes arrive. Complete operations go to the sink, an unfinished one is
 * carried to the next chunk. Agrees with nats-server 2.9 also on what it tolerates: any case, tabs, a lone LF.
 *
 *     chunk 1   PING\r\nPUB a 5\r\nhel   ping() at once; the rest is carried and needs 16 bytes: 9 of the line, 7 behind it
 *     chunk 2   l                        carried too, not looked at: 13 of 16
 *     chunk 3   o\r\nSUB b               16 of 16: publish() from what was carried; "SUB b" is carried in its place
 *     chunk 4    1\r\n                   its line is complete: subscribe(["b", "1"])
 */

/** Takes account of the bytes of unfinished operations. */
export interface PartialBudget {
  /** False when there may be no more. */
  take(kind: 'partialBytes', bytes: number): boolean;
  give(kind: 'partialBytes', bytes: number): void;
}

type Skip = 'ping' | 'pong' | 'ok';

/** Bytes the carry buffer starts with: most operations split by a read fit. */
const CARRY_BYTES = 512;
/** From this length on an unfinished line is only searched for its end, so slow senders cost linear time. */
const LONGEST_NAME = 8;
/** Bytes of an operation's name and the blanks behind it that an unfinished line may have beside its arguments. */
const LINE_SLACK = 64;

const NO_BYTES = new Uint8Array(0);

export class Parser {
  readonly #limits: ParserLimits;
  readonly #budget: PartialBudget;
  /** An unfinished operation from its first byte on. */
  #carry: Uint8Array = NO_BYTES;
  #carried = 0;
  /** Bytes the whole operation has, 0 until its line is complete. */
  #need = 0;
  /** After PING, PONG and +OK anything up to the LF is ignored. */
  #skip: Skip | undefined;
  #error: ParseError | undefined;

  constructor(limits: ParserLimits, budget: PartialBudget) {
    this.#limits = limits;
    this.#budget = budget;
  }

  /** Feeds a chunk, which is not kept. Returns why the connection must end, or undefined. */
  parse(chunk: Uint8Array, sink: Sink): ParseError | undefined {
    let at = 0;
    while (at < chunk.length && sink.open) {
      if (this.#skip !== undefined) at = this.#skipLine(chunk, at, sink);
      else if (this.#carried > 0) at = this.#resume(chunk, at, sink);
      else {
        const next = this.#step(chunk, at, chunk.length, sink);
        if (next === INCOMPLETE) at = this.#keep(chunk, at, chunk.length) ? chunk.length : FAILED;
        else at = next;
      }
      if (at < 0) break;
    }
    return this.#error;
  }

  /** Gives back what an unfinished operation holds; the parser is not used again. */
  release(): void {
    this.#budget.give('partialBytes', this.#carry.length);
    this.#carry = NO_BYTES;
    this.#carried = 0;
  }

  /** Completes the carried operation from a chunk. Returns the next offset in the chunk. */
  #resume(chunk: Uint8Array, start: number, sink: Sink): number {
    let at = start;
    while (at < chunk.length) {
      const end = this.#need > 0 ? at + this.#need - this.#carried : lineEnd(chunk, at);
      const stop = Math.min(end === INCOMPLETE ? chunk.length : end, chunk.length);
      if (!this.#keep(chunk, at, stop)) return FAILED;
      at = stop;
      const isLineOpen = this.#need === 0 && end === INCOMPLETE;
      if (isLineOpen && this.#carried > this.#limits.maxControlLine + LINE_SLACK) return this.#fail('control-line');
      if (this.#awaitsMore(isLineOpen)) return at;
      const next = this.#step(this.#carry, 0, this.#carried, sink);
      if (next === FAILED) return FAILED;
      if (next === INCOMPLETE) continue;
      this.release();
      this.#need = 0;
      return at;
    }
    return at;
  }

  /** True while another look at the carried bytes would find nothing new. */
  #awaitsMore(isLineOpen: boolean): boolean {
    return isLineOpen ? this.#carried > LONGEST_NAME : this.#need > 0 && this.#carried < this.#need - 1;
  }

  #keep(chunk: Uint8Array, from: number, to: number): boolean {
    const length = this.#carried + to - from;
    if (length > this.#carry.length) {
      const size = Math.max(CARRY_BYTES, length, Math.min(this.#need, this.#carry.length * 2));
      if (!this.#budget.take('partialBytes', size - this.#carry.length)) return this.#fail('partial') !== FAILED;
      const grown = new Uint8Array(size);
      grown.set(this.#carry.subarray(0, this.#carried));
      this.#carry = grown;
    }
    this.#carry.set(chunk.subarray(from, to), this.#carried);
    this.#carried = length;
    return true;
  }

  #skipLine(chunk: Uint8Array, at: number, sink: Sink): number {
    const end = lineEnd(chunk, at);
    if (end === INCOMPLETE) return chunk.length;
    const skip = this.#skip;
    this.#skip = undefined;
    if (skip === 'ping') sink.ping();
    else if (skip === 'pong') sink.pong();
    return end;
  }

  #fail(error: ParseError): typeof FAILED {
    this.#error = error;
    return FAILED;
  }

  /** Parses one operation from `at` on. Returns the offset behind it, INCOMPLETE or FAILED. */
  #step(buffer: Uint8Array, at: number, end: number, sink: Sink): number {
    const first = lower(buffer, at);
    if (sink.awaitingAuth && first !== 0x63) {
      sink.unauthorized();
      return end;
    }
    switch (first) {
      case 0x70: // p
        if (at + 1 >= end) return INCOMPLETE;
        switch (lower(buffer, at + 1)) {
          case 0x75: // u
            return this.#named(buffer, at, end, 'pub', sink);
          case 0x69: // i
            return this.#named(buffer, at, end, 'ping', sink);
          default:
            return this.#named(buffer, at, end, 'pong', sink);
        }
      case 0x68: // h
        return this.#named(buffer, at, end, 'hpub', sink);
      case 0x73: // s
        return this.#named(buffer, at, end, 'sub', sink);
      case 0x75: // u
        return this.#named(buffer, at, end, 'unsub', sink);
      case 0x63: // c
        return this.#named(buffer, at, end, 'connect', sink);
      case 0x69: // i
        return this.#named(buffer, at, end, 'info', sink);
      case 0x2b: // +
        return this.#named(buffer, at, end, '+ok', sink);
      case 0x2d: // -
        return this.#named(buffer, at, end, '-err', sink);
      default:
        return this.#fail('operation');
    }
  }

  #named(buffer: Uint8Array, at: number, end: number, name: Name, sink: Sink): number {
    const after = at + name.length;
    const known = Math.min(after, end);
    for (let i = at + 1; i < known; i++) {
      if (lower(buffer, i) !== name.charCodeAt(i - at)) return this.#fail('operation');
    }
    if (after > end) return INCOMPLETE;
    switch (name) {
      case 'ping':
      case 'pong':
      case '+ok':
        this.#skip = name === '+ok' ? 'ok' : name;
        return this.#skipLine(buffer.subarray(0, end), after, sink);
      case 'pub':
      case 'hpub':
        return this.#publish(buffer, at, after, end, name === 'hpub', sink);
      default:
        return this.#line(buffer, after, end, name, sink);
    }
  }

  #line(buffer: Uint8Array, after: number, end: number, name: LineName, sink: Sink): number {
    if (after >= end) return INCOMPLETE;
    const spaced = name === 'connect' || name === 'info' || isBlank(buffer[after]);
    if (!spaced) return this.#fail('operation');
    const next = lineEnd(buffer.subarray(0, end), after);
    const stop = next === INCOMPLETE ? end : next - 1;
    let start = after;
    while (start < stop && isBlank(buffer[start])) start++;
    if (stop - start > this.#limits.maxControlLine + 1) return this.#fail('control-line');
    if (next === INCOMPLETE) return INCOMPLETE;
    const text = latin1(buffer, start, buffer[stop - 1] === CR ? Math.max(start, stop - 1) : stop);
    if (text.length > this.#limits.maxControlLine) return this.#fail('control-line');
    switch (name) {
      case 'connect':
        sink.connect(text);
        return next;
      case 'info':
        sink.info(text);
        return next;
      case '-err':
        sink.peerError();
        return next;
      case 'sub':
      case 'unsub': {
        const args = text
          .split(/[ \t\r]+/)
          .filter((arg) => arg !== '')
          .map(ownCopy);
        const [least, most] = name === 'sub' ? [2, 3] : [1, 2];
        if (args.length < least || args.length > most) return this.#fail('arguments');
        if (name === 'sub') sink.subscribe(args);
        else sink.unsubscribe(args);
        return next;
      }
    }
    return name satisfies never;
  }

  #publish(buffer: Uint8Array, at: number, after: number, end: number, hasHeaders: boolean, sink: Sink): number {
    const next = publishes.read(buffer, after, end, hasHeaders, this.#limits);
    if (next === FAILED) return this.#fail(publishes.error);
    if (next === INCOMPLETE) {
      if (publishes.end > 0) this.#need = publishes.end - at;
      return INCOMPLETE;
    }
    this.#need = 0;
    sink.publish(publishes.publication);
    return next;
  }
}

/** All parsers share one reader: its result lives only while the sink is called. */
const publishes = new PublishReader();

type LineName = 'sub' | 'unsub' | 'connect' | 'info' | '-err';
type Name = LineName | 'pub' | 'hpub' | 'ping' | 'pong' | '+ok';
