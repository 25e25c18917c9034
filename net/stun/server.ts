import { hostOf, siteOf } from '../source-networks.ts';
import { BindingAnswers } from './binding-answer.ts';
import {
  ATTRIBUTES,
  BINDING,
  encodeErrorCode,
  encodeStun,
  encodeUnknownAttributes,
  isBindingRequest,
  isMessage,
  transactionIdOf,
  unknownAttributes,
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
/** The required attributes of RFC 8489 and ICE; a server that asks for no credentials may ignore them. */
const KNOWN_REQUIRED: ReadonlySet<number> = new Set([0x06, 0x08, 0x14, 0x15, 0x1c, 0x1d, 0x1e, 0x24, 0x25]);
const MAX_LISTED_UNKNOWN = 4;
/** RFC 8489 section 14.8: Unknown Attribute. */
const UNKNOWN_ATTRIBUTE = 420;

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
  /** The limits of the /48 sites, for IPv6 only. */
  readonly #sites: SourceLimit;
  readonly #answers = new BindingAnswers();
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
    if (!isBindingRequest(datagram)) return this.#ignore('not-a-request');
    const unknown = unknownAttributes(datagram, KNOWN_REQUIRED, MAX_LISTED_UNKNOWN);
    if (unknown === undefined) return this.#ignore('malformed');
    if (port === 0) return this.#ignore('bad-source');
    if (!this.#mayAnswer(ip, now)) return this.#ignore('rate');
    if (unknown.length > 0) {
      this.#refused++;
      return refusal(transactionIdOf(datagram), unknown);
    }
    this.#answered++;
    return this.#answers.to(datagram, ip, port);
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

/** 420 with the unknown attributes and no text (RFC 8489 sections 6.3.1 and 14.8). */
function refusal(transactionId: Uint8Array, unknown: readonly number[]): Uint8Array {
  return encodeStun({
    class: 'error',
    method: BINDING,
    transactionId,
    attributes: [
      { type: ATTRIBUTES.errorCode, value: encodeErrorCode(UNKNOWN_ATTRIBUTE) },
      { type: ATTRIBUTES.unknownAttributes, value: encodeUnknownAttributes(unknown) },
    ],
  });
}
