import { CR, digits, isBlank, LF, latin1, lineEnd, lower, ownCopy, SPACE, TAB } from './bytes.ts';
import type { Publication, Sink } from './sink.ts';
import { HASH_START, hashNext } from './subject.ts';

/**
 * The client half of the NATS protocol, as bytes arrive. Complete operations go to the sink, an unfinished one is
 * carried to the next chunk. Agrees with nats-server 2.9 also on what it tolerates: any case, tabs, a lone LF.
 */

/** Why a connection cannot go on. Only `arguments` closes without a word, as nats-server does. */
export type ParseError = 'operation' | 'arguments' | 'control-line' | 'payload' | 'partial';

export interface ParserLimits {
  readonly maxPayload: number;
  readonly maxControlLine: number;
}

/** Takes account of the bytes of unfinished operations. */
export interface PartialBudget {
  /** False when there may be no more. */
  take(kind: 'partialBytes', bytes: number): boolean;
  give(kind: 'partialBytes', bytes: number): void;
}

type Skip = 'ping' | 'pong' | 'ok';

/** Also what `lineEnd` answers where there is no end. */
const INCOMPLETE = -1;
const FAILED = -2;
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
      const unfinishedLine = this.#need === 0 && end === INCOMPLETE;
      if (unfinishedLine && this.#carried > this.#limits.maxControlLine + LINE_SLACK) return this.#fail('control-line');
      if (unfinishedLine && this.#carried > LONGEST_NAME) return at;
      if (this.#need > 0 && this.#carried < this.#need - 1) return at;
      const next = this.#step(this.#carry, 0, this.#carried, sink);
      if (next === FAILED) return FAILED;
      if (next === INCOMPLETE) continue;
      this.release();
      this.#need = 0;
      return at;
    }
    return at;
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

  /** One operation from `at` on. Returns the offset behind it, INCOMPLETE or FAILED. */
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

  /** `PUB subject [reply] size`, `HPUB subject [reply] header-size size`, then the payload. */
  #publish(buffer: Uint8Array, opStart: number, after: number, end: number, headers: boolean, sink: Sink): number {
    if (after >= end) return INCOMPLETE;
    if (!isBlank(buffer[after])) return this.#fail('operation');
    let at = after + 1;
    while (at < end && isBlank(buffer[at])) at++;
    const argsStart = at;

    const publication = shared;
    let hash = HASH_START;
    let byte = 0;
    publication.subjectStart = at;
    while (at < end) {
      byte = buffer[at] as number;
      if (byte === SPACE || byte === TAB || byte === LF || byte === CR) break;
      hash = hashNext(hash, byte);
      at++;
    }
    publication.subjectEnd = at;
    publication.hash = hash;

    let count = 0;
    let start = -1;
    for (; at < end; at++) {
      byte = buffer[at] as number;
      if (byte === SPACE || byte === TAB || byte === LF || byte === CR) {
        if (start >= 0) {
          if (count < MAX_ARGS) {
            starts[count] = start;
            ends[count] = at;
          }
          count++;
          start = -1;
        }
        if (byte === LF) break;
      } else if (start < 0) start = at;
    }
    if (at - argsStart > this.#limits.maxControlLine + 1) return this.#fail('control-line');
    if (at >= end) return INCOMPLETE;

    const sizes = headers ? 2 : 1;
    if (publication.subjectStart === publication.subjectEnd) return this.#fail('arguments');
    if (count !== sizes && count !== sizes + 1) return this.#fail('arguments');
    publication.sizeStart = starts[count - 1] as number;
    publication.sizeEnd = ends[count - 1] as number;
    const size = digits(buffer, publication.sizeStart, publication.sizeEnd);
    publication.headerStart = headers ? (starts[count - 2] as number) : publication.sizeStart;
    publication.headerEnd = headers ? (ends[count - 2] as number) : publication.sizeStart;
    publication.headerSize = headers ? digits(buffer, publication.headerStart, publication.headerEnd) : 0;
    const replies = count > sizes;
    publication.replyStart = replies ? (starts[0] as number) : publication.headerStart;
    publication.replyEnd = replies ? (ends[0] as number) : publication.headerStart;
    if (size < 0 || publication.headerSize < 0 || publication.headerSize > size) return this.#fail('arguments');
    if (size > this.#limits.maxPayload) return this.#fail('payload');

    const payloadEnd = at + 1 + size;
    if (payloadEnd < end && buffer[payloadEnd] !== CR) return this.#fail('operation');
    if (payloadEnd + 1 >= end) {
      this.#need = payloadEnd + 2 - opStart;
      return INCOMPLETE;
    }
    if (buffer[payloadEnd + 1] !== LF) return this.#fail('operation');
    publication.buffer = buffer;
    publication.payloadStart = at + 1;
    publication.payloadEnd = payloadEnd;
    this.#need = 0;
    sink.publish(publication);
    return payloadEnd + 2;
  }
}

type LineName = 'sub' | 'unsub' | 'connect' | 'info' | '-err';
type Name = LineName | 'pub' | 'hpub' | 'ping' | 'pong' | '+ok';

/** Arguments after the subject: reply, header size, size. */
const MAX_ARGS = 3;
const starts = new Int32Array(MAX_ARGS);
const ends = new Int32Array(MAX_ARGS);

/** One for all parsers: a publication lives only while its sink is called. */
const shared: Publication = {
  buffer: NO_BYTES,
  subjectStart: 0,
  subjectEnd: 0,
  hash: 0,
  replyStart: 0,
  replyEnd: 0,
  headerStart: 0,
  headerEnd: 0,
  sizeStart: 0,
  sizeEnd: 0,
  headerSize: 0,
  payloadStart: 0,
  payloadEnd: 0,
};
