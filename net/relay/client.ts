import { importPrivateKey, type KeyPair } from '../seal/x25519.ts';
import type { RelayKeys } from './credential.ts';
import { MAX_PAYLOAD_BYTES } from './frame.ts';
import { type Challenge, type Hello, identityProof, tokenProof } from './handshake.ts';
import { RELAY_LIMITS } from './limits.ts';
import { decodeMessage, encodeMessage, type MessageTo, type Refusal } from './message.ts';
import { type ByeReason, mayReturn } from './reasons.ts';
import { FrameSplitter } from './splitter.ts';

type Ready = Extract<MessageTo<'node'>, { readonly type: 'ready' }>;

/** By what right a client comes: its own credential, or the shared token and the workspace it claims. */
export type RelayRight =
  | { readonly credential: Uint8Array }
  | { readonly keys: RelayKeys; readonly workspace: Uint8Array };

export type RelayClientEvent =
  /** Write these bytes. */
  | { readonly type: 'send'; readonly bytes: Uint8Array }
  /** Forwarding begins, or a renewed credential was taken. */
  | Ready
  /** Packets of a peer, valid until the next call; or whether a peer is connected. */
  | Extract<MessageTo<'node'>, { readonly type: 'forward' | 'probe-reply' }>
  /** The relay is about to restart: connect elsewhere or again after that time; this session still forwards. */
  | { readonly type: 'move'; readonly retryAfterMs: number }
  /** Over; close the socket. `mayReturn`: the same relay may be tried again with the same credential. */
  | {
      readonly type: 'closed';
      readonly reason: ByeReason;
      readonly retryAfterMs: number;
      readonly mayReturn: boolean;
    };

export type RelayClientState = 'new' | 'hello-sent' | 'proof-sent' | 'ready' | 'closed';

/** A session of a node with a relay, without its socket. */
export class RelayClient {
  readonly #hello: Hello;
  readonly #keyPair: KeyPair;
  readonly #keys: RelayKeys | undefined;
  readonly #splitter = new FrameSplitter(MAX_PAYLOAD_BYTES);
  #state: RelayClientState = 'new';
  #startedAt = 0;
  #heardAt = 0;
  #sentAt = 0;
  #keepaliveMs = RELAY_LIMITS.keepaliveMs;
  #deadMs = RELAY_LIMITS.deadMs;

  constructor(keyPair: KeyPair, right: RelayRight) {
    const { publicKey } = keyPair;
    this.#keyPair = keyPair;
    this.#hello =
      'credential' in right
        ? { mode: 'credential', publicKey, credential: right.credential }
        : { mode: 'token', publicKey, workspace: right.workspace };
    this.#keys = 'keys' in right ? right.keys : undefined;
  }

  get state(): RelayClientState {
    return this.#state;
  }

  /** The first bytes of a fresh connection. */
  start(now: number): Uint8Array {
    this.#state = 'hello-sent';
    this.#startedAt = now;
    this.#heardAt = now;
    this.#sentAt = now;
    return encodeMessage({ type: 'hello', hello: this.#hello });
  }

  receive(chunk: Uint8Array, now: number): readonly RelayClientEvent[] {
    if (this.#state === 'closed' || this.#state === 'new') return [];
    const events: RelayClientEvent[] = [];
    const refusal = this.#splitter.push(chunk, (bytes, view, start, end) => {
      const event = this.#handle(decodeMessage('node', bytes, view, start, end), now);
      if (event !== undefined) events.push(event);
      return this.#state !== 'closed';
    });
    this.#heardAt = now;
    if (refusal !== undefined) events.push(this.#close('protocol', 0));
    return events;
  }

  /** Keeps the session alive and notices a dead one. Call about once a second. */
  tick(now: number): readonly RelayClientEvent[] {
    switch (this.#state) {
      case 'new':
      case 'closed':
        return [];
      case 'hello-sent':
      case 'proof-sent':
        return now - this.#startedAt >= RELAY_LIMITS.handshakeMs ? [this.#close('handshake-timeout', 0)] : [];
      case 'ready':
        if (now - this.#heardAt >= this.#deadMs) return [this.#close('silent', 0)];
        if (now - this.#sentAt < this.#keepaliveMs) return [];
        this.#sentAt = now;
        return [{ type: 'send', bytes: encodeMessage({ type: 'keepalive' }) }];
      default:
        return this.#state satisfies never;
    }
  }

  /** A packet for a peer as a frame; undefined before `ready` and for a packet that is too large. */
  forward(peer: bigint, packet: Uint8Array): Uint8Array | undefined {
    if (this.#state !== 'ready' || packet.length > MAX_PAYLOAD_BYTES) return undefined;
    return encodeMessage({ type: 'forward', peer, packets: packet, segment: 0, takesCoalesced: true });
  }

  /** Asks whether a peer is connected to this relay; the answer brings the echo back, so it measures the way too. */
  probe(peer: bigint, echo: Uint8Array): Uint8Array {
    return encodeMessage({ type: 'probe', peer, echo });
  }

  /** Presents a fresh credential for the same key and workspace, so that the session outlives the first. */
  renew(credential: Uint8Array): Uint8Array {
    return encodeMessage({ type: 'renew', credential });
  }

  /** The last bytes of a session. */
  bye(): Uint8Array {
    this.#state = 'closed';
    return encodeMessage({ type: 'bye', reason: 'normal', retryAfterMs: 0 });
  }

  #handle(message: MessageTo<'node'> | Refusal, now: number): RelayClientEvent | undefined {
    if (typeof message === 'string') {
      // A message of a later version is ignored, and a bad packet of another node is not the relay's fault.
      return message === 'malformed' ? this.#close('protocol', 0) : undefined;
    }
    switch (message.type) {
      case 'forward':
        return this.#state === 'ready' ? message : undefined;
      case 'challenge':
        return this.#prove(message.challenge, now);
      case 'ready':
        return this.#ready(message);
      case 'keepalive':
        return { type: 'send', bytes: encodeMessage({ type: 'keepalive-reply' }) };
      case 'keepalive-reply':
        return undefined;
      case 'probe-reply':
        return message;
      case 'bye': {
        const { reason, retryAfterMs } = message;
        const mayStay = reason === 'restart' && this.#state === 'ready';
        return mayStay ? { type: 'move', retryAfterMs } : this.#close(reason, retryAfterMs);
      }
      default:
        return message satisfies never;
    }
  }

  #prove(challenge: Challenge, now: number): RelayClientEvent {
    if (this.#state !== 'hello-sent') return this.#close('protocol', 0);
    const privateKey = importPrivateKey(this.#keyPair.privateKey);
    const identity = identityProof(privateKey, challenge.relayKey, this.#hello, challenge);
    if (identity === undefined) return this.#close('protocol', 0);
    const token = this.#keys === undefined ? [] : [tokenProof(this.#keys, this.#hello, challenge)];
    this.#state = 'proof-sent';
    this.#sentAt = now;
    return { type: 'send', bytes: encodeMessage({ type: 'proof', macs: Buffer.concat([identity, ...token]) }) };
  }

  #ready(ready: Ready): RelayClientEvent {
    if (this.#state !== 'proof-sent' && this.#state !== 'ready') return this.#close('protocol', 0);
    this.#state = 'ready';
    // A relay may ask for more care, never for less.
    this.#keepaliveMs = Math.min(RELAY_LIMITS.keepaliveMs, Math.max(1_000, ready.keepaliveMs));
    this.#deadMs = Math.min(RELAY_LIMITS.deadMs, Math.max(2_000, ready.deadMs));
    return ready;
  }

  #close(reason: ByeReason, retryAfterMs: number): RelayClientEvent {
    this.#state = 'closed';
    return { type: 'closed', reason, retryAfterMs, mayReturn: mayReturn(reason) };
  }
}
