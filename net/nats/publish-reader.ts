import { CR, digits, FAILED, INCOMPLETE, isBlank, LF, SPACE, TAB } from './bytes.ts';
import type { ParserLimits } from './limits.ts';
import type { ParseError, Publication } from './sink.ts';
import { HASH_START, hashNext } from './subject.ts';

/** Words after the subject: reply, header size, size. */
const MAX_WORDS = 3;

/**
 * Reads `PUB subject [reply] size` and `HPUB subject [reply] header-size size`, each with the payload behind it, and copies
 * nothing: a publication is offsets.
 *
 *     HPUB orders inbox.7 12 17\r\nNATS/1.0\r\n\r\nhello\r\n
 *          ^subject       ^  ^     ^payload             ^payloadEnd: CR and LF must follow
 *                 ^reply  |  size: the last word, of the whole payload
 *                         header size: the last but one, of HPUB alone; what is left before it is the reply
 */
export class PublishReader {
  /** Lives only until the next is read. */
  readonly publication: Publication = {
    buffer: new Uint8Array(0),
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
  /** Why the last answer was FAILED. */
  error: ParseError = 'operation';
  /** Where the last operation ends, once its line is complete; 0 before. */
  end = 0;
  readonly #starts = new Int32Array(MAX_WORDS);
  readonly #ends = new Int32Array(MAX_WORDS);
  /** Where the line ends that was looked at last: its LF, or the end of the buffer. */
  #lineEnd = 0;

  /** @param after the name of the operation. @returns the offset behind the operation, INCOMPLETE or FAILED */
  read(buffer: Uint8Array, after: number, end: number, hasHeaders: boolean, limits: ParserLimits): number {
    const { publication } = this;
    this.end = 0;
    if (after >= end) return INCOMPLETE;
    if (!isBlank(buffer[after])) return this.#fail('operation');
    let at = after + 1;
    while (at < end && isBlank(buffer[at])) at++;
    const line = at;
    at = this.#subject(buffer, at, end);
    const words = this.#words(buffer, at, end);
    at = this.#lineEnd;
    if (at - line > limits.maxControlLine + 1) return this.#fail('control-line');
    if (at >= end) return INCOMPLETE;
    if (!this.#assign(buffer, words, hasHeaders)) return this.#fail('arguments');
    const size = digits(buffer, publication.sizeStart, publication.sizeEnd);
    if (size < 0 || publication.headerSize > size) return this.#fail('arguments');
    if (size > limits.maxPayload) return this.#fail('payload');
    return this.#payload(buffer, at + 1, size, end);
  }

  /** @returns where the subject ends */
  #subject(buffer: Uint8Array, start: number, end: number): number {
    const { publication } = this;
    let hash = HASH_START;
    let at = start;
    while (at < end) {
      const byte = buffer[at] as number;
      if (byte === SPACE || byte === TAB || byte === LF || byte === CR) break;
      hash = hashNext(hash, byte);
      at++;
    }
    publication.subjectStart = start;
    publication.subjectEnd = at;
    publication.hash = hash;
    return at;
  }

  /** Notes the words of the rest of the line. @returns how many there are, also above MAX_WORDS */
  #words(buffer: Uint8Array, from: number, end: number): number {
    let count = 0;
    let start = -1;
    let at = from;
    for (; at < end; at++) {
      const byte = buffer[at] as number;
      if (!(byte === SPACE || byte === TAB || byte === LF || byte === CR)) {
        if (start < 0) start = at;
        continue;
      }
      if (start >= 0) {
        if (count < MAX_WORDS) {
          this.#starts[count] = start;
          this.#ends[count] = at;
        }
        count++;
        start = -1;
      }
      if (byte === LF) break;
    }
    this.#lineEnd = at;
    return count;
  }

  /** The words by what they mean, from the last backward. False when there are too few or too many, or no header size. */
  #assign(buffer: Uint8Array, words: number, hasHeaders: boolean): boolean {
    const { publication } = this;
    const sizes = hasHeaders ? 2 : 1;
    if (publication.subjectStart === publication.subjectEnd) return false;
    if (words !== sizes && words !== sizes + 1) return false;
    publication.sizeStart = this.#starts[words - 1] as number;
    publication.sizeEnd = this.#ends[words - 1] as number;
    publication.headerStart = hasHeaders ? (this.#starts[words - 2] as number) : publication.sizeStart;
    publication.headerEnd = hasHeaders ? (this.#ends[words - 2] as number) : publication.sizeStart;
    publication.headerSize = hasHeaders ? digits(buffer, publication.headerStart, publication.headerEnd) : 0;
    const hasReply = words > sizes;
    publication.replyStart = hasReply ? (this.#starts[0] as number) : publication.headerStart;
    publication.replyEnd = hasReply ? (this.#ends[0] as number) : publication.headerStart;
    return publication.headerSize >= 0;
  }

  #payload(buffer: Uint8Array, start: number, size: number, end: number): number {
    const { publication } = this;
    const payloadEnd = start + size;
    if (payloadEnd < end && buffer[payloadEnd] !== CR) return this.#fail('operation');
    this.end = payloadEnd + 2;
    if (this.end > end) return INCOMPLETE;
    if (buffer[payloadEnd + 1] !== LF) return this.#fail('operation');
    publication.buffer = buffer;
    publication.payloadStart = start;
    publication.payloadEnd = payloadEnd;
    return this.end;
  }

  #fail(error: ParseError): typeof FAILED {
    this.error = error;
    return FAILED;
  }
}
