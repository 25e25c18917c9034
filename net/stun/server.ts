import { hostOf, siteOf } from '../source-networks.ts';
import {
  ATTRIBUTES,
  attributeEnd,
  BINDING,
  checkFingerprint,
  encodeStun,
  HEADER_BYTES,
  isMessage,
  MAGIC_COOKIE,
  messageView,
  uint16,
} from './message.ts';
import { SourceLimit } from './rate.ts';

/** MESH_STUN_RATE: answers a second to one source address (IPv4) or /64 (IPv6). */
const DEFAULT_STUN_RATE = 50;
/** Answers at once, whatever the rate: a node asks on every interface it has when it starts. */
const MIN_BURST = 32;
/** How many times the rate and burst of one /64 its /48 has: a site of many hosts, not the 65,536 that it could pretend to. */
const SITE_FACTOR = 16;
/** Nothing a client sends is longer than one unfragmented datagram. */
const MAX_REQUEST_BYTES = 1_280;
const BINDING_REQUEST = 0x0001;
const BINDING_SUCCESS = 0x0101;
/** RFC 8489 section 14: below this a receiver must know the attribute. */
const OPTIONAL_FROM = 0x8000;
/** Of RFC 8489 and ICE; a server that asks for no credentials may ignore them. */
const KNOWN_REQUIRED: ReadonlySet<number> = new Set([0x06, 0x08, 0x14, 0x15, 0x1c, 0x1d, 0x1e, 0x24, 0x25]);
const MAX_LISTED_UNKNOWN = 4;
const FAMILY_IPV4 = 1;
const FAMILY_IPV6 = 2;
/** Offsets in a success: cookie and transaction id, then port and address in the one attribute. */
const MASK_AT = 4;
const PORT_AT = 26;
const ADDRESS_AT = 28;

export type StunIgnored = 'malformed' | 'not-a-request' | 'rate' | 'bad-source';

export interface StunMetrics {
  readonly answered: number;
  readonly refused: number;
  readonly ignored: Readonly<Record<StunIgnored, number>>;
  /** Sources remembered for the rate limit; bounded. */
  readonly sources: number;
}

/** A STUN binding server without its sockets (RFC 8489). Answers with XOR-MAPPED-ADDRESS alone, so it amplifies little. */
export class StunServer {
  readonly #hosts: SourceLimit;
  /** Of IPv6 alone. */
  readonly #sites: SourceLimit;
  readonly #ipv4Answer = emptyAnswer(FAMILY_IPV4, 4);
  readonly #ipv6Answer = emptyAnswer(FAMILY_IPV6, 16);
  #answered = 0;
  #refused = 0;
  readonly #ignored: Record<StunIgnored, number> = { malformed: 0, 'not-a-request': 0, rate: 0, 'bad-source': 0 };

  constructor({ ratePerSecond = DEFAULT_STUN_RATE }: { readonly ratePerSecond?: number } = {}) {
    const burst = Math.max(MIN_BURST, Math.ceil(ratePerSecond / 2));
    this.#hosts = new SourceLimit(ratePerSecond, burst);
    this.#sites = new SourceLimit(SITE_FACTOR * ratePerSecond, SITE_FACTOR * burst);
  }

  /**
   * The answer to send back to the source, overwritten by the next one; undefined when there is none.
   *
   * @param ip 4 or 16 bytes
   */
  answer(datagram: Uint8Array, ip: Uint8Array, port: number, now: number): Uint8Array | undefined {
    if (datagram.length > MAX_REQUEST_BYTES || !isMessage(datagram)) return this.#ignore('malformed');
    if (uint16(datagram, 0) !== BINDING_REQUEST) return this.#ignore('not-a-request');
    const unknown = datagram.length === HEADER_BYTES ? NONE : unknownAttributes(datagram);
    if (unknown === undefined) return this.#ignore('malformed');
    if (port === 0) return this.#ignore('bad-source');
    if (!this.#mayAnswer(ip, now)) return this.#ignore('rate');
    if (unknown.length > 0) {
      this.#refused++;
      return refusal(datagram.subarray(8, HEADER_BYTES), unknown);
    }
    this.#answered++;
    return success(ip.length === 4 ? this.#ipv4Answer : this.#ipv6Answer, datagram, ip, port);
  }

  metrics(): StunMetrics {
    return {
      answered: this.#answered,
      refused: this.#refused,
      ignored: { ...this.#ignored },
      sources: this.#hosts.sources + this.#sites.sources,
    };
  }

  #mayAnswer(ip: Uint8Array, now: number): boolean {
    return this.#hosts.take(hostOf(ip), now) && (ip.length === 4 || this.#sites.take(siteOf(ip), now));
  }

  #ignore(reason: StunIgnored): undefined {
    this.#ignored[reason]++;
  }
}

/** A success with XOR-MAPPED-ADDRESS, of 32 bytes for IPv4 and 44 for IPv6, without what each request changes. */
function emptyAnswer(family: number, ipBytes: number): Uint8Array {
  const answer = new Uint8Array(ADDRESS_AT + ipBytes);
  const view = new DataView(answer.buffer);
  view.setUint16(0, BINDING_SUCCESS);
  view.setUint16(2, answer.length - HEADER_BYTES);
  view.setUint32(4, MAGIC_COOKIE);
  view.setUint16(HEADER_BYTES, ATTRIBUTES.xorMappedAddress);
  view.setUint16(HEADER_BYTES + 2, 4 + ipBytes);
  answer[HEADER_BYTES + 5] = family;
  return answer;
}

/** The mask of port and address (RFC 8489 section 14.2) is what the header has behind its length: cookie, transaction id. */
function success(answer: Uint8Array, request: Uint8Array, ip: Uint8Array, port: number): Uint8Array {
  for (let at = 8; at < HEADER_BYTES; at++) answer[at] = request[at] as number;
  answer[PORT_AT] = (port >>> 8) ^ (answer[MASK_AT] as number);
  answer[PORT_AT + 1] = port ^ (answer[MASK_AT + 1] as number);
  for (let at = 0; at < ip.length; at++) {
    answer[ADDRESS_AT + at] = (ip[at] as number) ^ (answer[MASK_AT + at] as number);
  }
  return answer;
}

/** 420 with the unknown attributes and no text (RFC 8489 sections 6.3.1 and 14.8). */
function refusal(transactionId: Uint8Array, unknown: readonly number[]): Uint8Array {
  const list = new Uint8Array(unknown.length * 2);
  const view = new DataView(list.buffer);
  unknown.forEach((type, n) => {
    view.setUint16(n * 2, type);
  });
  return encodeStun({
    class: 'error',
    method: BINDING,
    transactionId,
    attributes: [
      { type: ATTRIBUTES.errorCode, value: Uint8Array.of(0, 0, 4, 20) },
      { type: ATTRIBUTES.unknownAttributes, value: list },
    ],
  });
}

const NONE: readonly number[] = [];

/** Attributes that must be understood and are not; undefined when one reaches beyond the message, or FINGERPRINT is wrong. */
function unknownAttributes(datagram: Uint8Array): readonly number[] | undefined {
  const view = messageView(datagram);
  if (view === undefined) return undefined;
  const unknown: number[] = [];
  for (let at = HEADER_BYTES; at < view.byteLength; ) {
    const end = attributeEnd(view, at);
    if (end === undefined) return undefined;
    const type = view.getUint16(at);
    if (type < OPTIONAL_FROM && !KNOWN_REQUIRED.has(type) && unknown.length < MAX_LISTED_UNKNOWN) unknown.push(type);
    at = end;
  }
  return checkFingerprint(datagram) === 'wrong' ? undefined : unknown;
}
