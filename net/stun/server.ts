import { encodeXorAddress, parseIp } from './address.ts';
import {
  ATTRIBUTES,
  attributeEnd,
  BINDING,
  checkFingerprint,
  encodeStun,
  HEADER_BYTES,
  messageView,
} from './message.ts';
import { SourceLimit } from './rate.ts';

/** MESH_STUN_RATE: answers a second to one source address (IPv4) or /64 (IPv6). */
const DEFAULT_STUN_RATE = 50;
/** Answers at once, whatever the rate: a node asks on every interface it has when it starts. */
const MIN_BURST = 32;
/** Nothing a client sends is longer than one unfragmented datagram. */
const MAX_REQUEST_BYTES = 1_280;
const BINDING_REQUEST = 0x0001;
const BINDING_SUCCESS = 0x0101;
/** RFC 8489 section 14: below this a receiver must know the attribute. */
const OPTIONAL_FROM = 0x8000;
/** Of RFC 8489 and ICE; a server that asks for no credentials may ignore them. */
const KNOWN_REQUIRED: ReadonlySet<number> = new Set([0x06, 0x08, 0x14, 0x15, 0x1c, 0x1d, 0x1e, 0x24, 0x25]);
const MAX_LISTED_UNKNOWN = 4;

export interface StunSource {
  readonly address: string;
  readonly port: number;
}

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
  readonly #limit: SourceLimit;
  #answered = 0;
  #refused = 0;
  readonly #ignored: Record<StunIgnored, number> = { malformed: 0, 'not-a-request': 0, rate: 0, 'bad-source': 0 };

  constructor({ ratePerSecond = DEFAULT_STUN_RATE }: { readonly ratePerSecond?: number } = {}) {
    this.#limit = new SourceLimit(ratePerSecond, Math.max(MIN_BURST, Math.ceil(ratePerSecond / 2)));
  }

  /** The answer to send back to the source; undefined when there is none. */
  handle(datagram: Uint8Array, { address, port }: StunSource, now: number): Uint8Array | undefined {
    return this.answer(datagram, parseIp(address), port, now);
  }

  /** The same for a source in bytes: 4 or 16 of them. */
  answer(datagram: Uint8Array, ip: Uint8Array | undefined, port: number, now: number): Uint8Array | undefined {
    const view = datagram.length <= MAX_REQUEST_BYTES ? messageView(datagram) : undefined;
    if (view === undefined) return this.#ignore('malformed');
    if (view.getUint16(0) !== BINDING_REQUEST) return this.#ignore('not-a-request');
    const unknown = unknownAttributes(view);
    if (unknown === undefined || (datagram.length > HEADER_BYTES && checkFingerprint(datagram) === 'wrong')) {
      return this.#ignore('malformed');
    }
    if (ip === undefined || port === 0) return this.#ignore('bad-source');
    if (!this.#limit.take(limitKey(ip), now)) return this.#ignore('rate');
    const transactionId = datagram.subarray(8, HEADER_BYTES);
    if (unknown.length > 0) {
      this.#refused++;
      return refusal(transactionId, unknown);
    }
    this.#answered++;
    return success(datagram, encodeXorAddress(ip, port, transactionId));
  }

  metrics(): StunMetrics {
    return {
      answered: this.#answered,
      refused: this.#refused,
      ignored: { ...this.#ignored },
      sources: this.#limit.sources,
    };
  }

  #ignore(reason: StunIgnored): undefined {
    this.#ignored[reason]++;
  }
}

/** 32 bytes for IPv4, 44 for IPv6. */
function success(request: Uint8Array, address: Uint8Array): Uint8Array {
  const answer = new Uint8Array(HEADER_BYTES + 4 + address.length);
  const view = new DataView(answer.buffer);
  view.setUint16(0, BINDING_SUCCESS);
  view.setUint16(2, 4 + address.length);
  answer.set(request.subarray(4, HEADER_BYTES), 4);
  view.setUint16(HEADER_BYTES, ATTRIBUTES.xorMappedAddress);
  view.setUint16(HEADER_BYTES + 2, address.length);
  answer.set(address, HEADER_BYTES + 4);
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

/** Attributes that must be understood and are not; undefined when one reaches beyond the message. */
function unknownAttributes(view: DataView): readonly number[] | undefined {
  if (view.byteLength === HEADER_BYTES) return NONE;
  const unknown: number[] = [];
  for (let at = HEADER_BYTES; at < view.byteLength; ) {
    const end = attributeEnd(view, at);
    if (end === undefined) return undefined;
    const type = view.getUint16(at);
    if (type < OPTIONAL_FROM && !KNOWN_REQUIRED.has(type) && unknown.length < MAX_LISTED_UNKNOWN) unknown.push(type);
    at = end;
  }
  return unknown;
}

/** A source is an IPv4 address or the /64 of an IPv6 one: a single host may own all of a /64. */
function limitKey(ip: Uint8Array): string {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = ip;
  return ip.length === 4 ? String.fromCharCode(a, b, c, d) : String.fromCharCode(a, b, c, d, e, f, g, h);
}
