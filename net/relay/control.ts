import type { RelayKeys } from './credential.ts';
import { type Hello, MAX_HANDSHAKE_PAYLOAD, tokenProof } from './handshake.ts';
import type { Member } from './member.ts';
import { decodeMessage, encodeMessage, type MessageTo, type Refusal } from './message.ts';
import type { ByeReason } from './reasons.ts';
import { FrameSplitter } from './splitter.ts';

const HELLO: Hello = { mode: 'control' };

export type RelayControlEvent =
  | { readonly type: 'send'; readonly bytes: Uint8Array }
  | { readonly type: 'ready' }
  /** The relay has closed the sessions of this key. */
  | { readonly type: 'revoked' }
  | { readonly type: 'closed'; readonly reason: ByeReason };

/** A control plane's session with a relay that runs elsewhere: proves the shared token and pushes revocations. */
export class RelayControl {
  readonly #keys: RelayKeys;
  readonly #splitter = new FrameSplitter(MAX_HANDSHAKE_PAYLOAD);

  constructor(keys: RelayKeys) {
    this.#keys = keys;
  }

  start(): Uint8Array {
    return encodeMessage({ type: 'hello', hello: HELLO });
  }

  receive(chunk: Uint8Array): readonly RelayControlEvent[] {
    const events: RelayControlEvent[] = [];
    const refusal = this.#splitter.push(chunk, (bytes, view, start, end) => {
      const event = this.#handle(decodeMessage('control', bytes, view, start, end));
      if (event !== undefined) events.push(event);
      return event?.type !== 'closed';
    });
    if (refusal !== undefined) events.push({ type: 'closed', reason: 'protocol' });
    return events;
  }

  /** `until`: when its last credential runs out; milliseconds since the epoch. */
  revoke(member: Member, until: number): Uint8Array {
    return encodeMessage({ type: 'revoke', member, until });
  }

  /** Takes a revocation back. */
  allow(member: Member): Uint8Array {
    return this.revoke(member, 0);
  }

  /** Send one at least every 20 s. */
  keepalive(): Uint8Array {
    return encodeMessage({ type: 'keepalive' });
  }

  #handle(message: MessageTo<'control'> | Refusal): RelayControlEvent | undefined {
    if (typeof message === 'string')
      return message === 'malformed' ? { type: 'closed', reason: 'protocol' } : undefined;
    switch (message.type) {
      case 'challenge': {
        const macs = tokenProof(this.#keys, HELLO, message.challenge);
        return { type: 'send', bytes: encodeMessage({ type: 'proof', macs }) };
      }
      case 'ready':
        return { type: 'ready' };
      case 'revoke-reply':
        return { type: 'revoked' };
      case 'bye':
        return { type: 'closed', reason: message.reason };
      case 'keepalive-reply':
        return undefined;
      default:
        return message satisfies never;
    }
  }
}
