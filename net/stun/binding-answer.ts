import type { IpBytes } from '../../platform/ip.ts';
import { FAMILY_IPV4, FAMILY_IPV6 } from './address.ts';
import { ATTRIBUTES, HEADER_BYTES, TRANSACTION_ID_AT, writeAttributeHeader, writeHeader } from './message.ts';

/** RFC 8489 section 5: a success response of the method Binding. */
const BINDING_SUCCESS = 0x0101;
/** Offsets of the one attribute: zero, family, port, address. */
const VALUE_AT = HEADER_BYTES + 4;
const FAMILY_AT = VALUE_AT + 1;
const PORT_AT = VALUE_AT + 2;
const ADDRESS_AT = VALUE_AT + 4;
/** Port and address are masked with what the header has from here on: cookie, transaction id (RFC 8489 section 14.2). */
const MASK_AT = 4;

/**
 * Answers of a binding server, with XOR-MAPPED-ADDRESS alone: 32 bytes for IPv4 and 44 for IPv6. Each kind is written once;
 * an answer changes what differs, and is overwritten by the next. The same bytes as `encodeStun` makes.
 */
export class BindingAnswers {
  readonly #ipv4 = emptyAnswer(FAMILY_IPV4, 4);
  readonly #ipv6 = emptyAnswer(FAMILY_IPV6, 16);

  to(request: Uint8Array, ip: IpBytes, port: number): Uint8Array {
    const answer = ip.length === 4 ? this.#ipv4 : this.#ipv6;
    for (let at = TRANSACTION_ID_AT; at < HEADER_BYTES; at++) answer[at] = request[at] as number;
    answer[PORT_AT] = (port >>> 8) ^ (answer[MASK_AT] as number);
    answer[PORT_AT + 1] = port ^ (answer[MASK_AT + 1] as number);
    for (let at = 0; at < ip.length; at++) {
      answer[ADDRESS_AT + at] = (ip[at] as number) ^ (answer[MASK_AT + at] as number);
    }
    return answer;
  }
}

function emptyAnswer(family: number, ipBytes: number): Uint8Array {
  const answer = new Uint8Array(ADDRESS_AT + ipBytes);
  const view = new DataView(answer.buffer);
  writeHeader(view, BINDING_SUCCESS, answer.length - HEADER_BYTES);
  writeAttributeHeader(view, HEADER_BYTES, ATTRIBUTES.xorMappedAddress, answer.length - VALUE_AT);
  answer[FAMILY_AT] = family;
  return answer;
}
