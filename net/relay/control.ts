import type { RelayKeys } from './credential.ts';
import { encodeFrame, FLAG_REPLY, FRAME_TYPES, HEADER_BYTES, viewOf } from './frame.ts';
import { decodeBye, decodeChallenge, encodeHello, MAX_HANDSHAKE_PAYLOAD, tokenProof } from './handshake.ts';
import type { ByeReason } from './reasons.ts';
import { encodeMember, MEMBER_BYTES, type Member } from './revocations.ts';
import { FrameSplitter } from './splitter.ts';

export type RelayControlEvent =
  | { readonly type: 'send'; readonly bytes: Uint8Array }
  | { readonly type: 'ready' }
  /** The relay has closed the sessions of this key. */
  | { readonly type: 'revoked' }
  | { readonly type: 'closed'; readonly reason: ByeReason };

/** A control plane's session with a relay that runs elsewhere: proves the shared token and pushes revocations. */
export class RelayControl {
  readonly #keys: RelayKeys;
  readonly #hello = encodeHello({ mode: 'control' });
  readonly #splitter = new FrameSplitter(MAX_HANDSHAKE_PAYLOAD);

  constructor(keys: RelayKeys) {
    this.#keys = keys;
  }

  start(): Uint8Array {
    return encodeFrame('hello', 0n, this.#hello);
  }

  receive(chunk: Uint8Array): readonly RelayControlEvent[] {
    const events: RelayControlEvent[] = [];
    const refusal = this.#splitter.push(chunk, (bytes, view, start, end) => {
      const event = this.#handle(view, start, Uint8Array.from(bytes.subarray(start + HEADER_BYTES, end)));
      if (event !== undefined) events.push(event);
      return event?.type !== 'closed';
    });
    if (refusal !== undefined) events.push({ type: 'closed', reason: 'protocol' });
    return events;
  }

  /** `until`: when its last credential runs out; milliseconds since the epoch. */
  revoke(member: Member, until: number): Uint8Array {
    const payload = new Uint8Array(MEMBER_BYTES + 8);
    payload.set(encodeMember(member));
    viewOf(payload).setBigUint64(MEMBER_BYTES, BigInt(until));
    return encodeFrame('revoke', 0n, payload);
  }

  /** Takes a revocation back. */
  allow(member: Member): Uint8Array {
    return this.revoke(member, 0);
  }

  /** Send one at least every 20 s. */
  keepalive(): Uint8Array {
    return encodeFrame('keepalive', 0n, new Uint8Array(0));
  }

  #handle(view: DataView, start: number, payload: Uint8Array): RelayControlEvent | undefined {
    const isReply = (view.getUint16(start + 2) & FLAG_REPLY) !== 0;
    switch (view.getUint8(start + 1)) {
      case FRAME_TYPES.challenge:
        if (decodeChallenge(payload) === undefined) return { type: 'closed', reason: 'protocol' };
        return { type: 'send', bytes: encodeFrame('proof', 0n, tokenProof(this.#keys, this.#hello, payload)) };
      case FRAME_TYPES.ready:
        return { type: 'ready' };
      case FRAME_TYPES.revoke:
        return isReply ? { type: 'revoked' } : undefined;
      case FRAME_TYPES.bye:
        return { type: 'closed', reason: decodeBye(payload)?.reason ?? 'protocol' };
      default:
        return undefined;
    }
  }
}
