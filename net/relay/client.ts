import { countOf, MAX_JOINED } from '../../platform/segments.ts';
import { importPrivateKey, type KeyPair } from '../seal/x25519.ts';
import type { RelayKeys } from './credential.ts';
import {
  encodeFrame,
  FLAG_REPLY,
  FLAG_TAKES_JOINED,
  FRAME_TYPES,
  HEADER_BYTES,
  MAX_PAYLOAD_BYTES,
  MIN_SEGMENT,
  writeHeader,
} from './frame.ts';
import {
  decodeBye,
  decodeChallenge,
  decodeReady,
  encodeBye,
  encodeHello,
  type Hello,
  identityProof,
  type Ready,
  tokenProof,
} from './handshake.ts';
import { RELAY_LIMITS } from './limits.ts';
import { type ByeReason, mayReturn } from './reasons.ts';
import { FrameSplitter } from './splitter.ts';

const NO_PAYLOAD = new Uint8Array(0);

/** By what right a client comes: its own credential, or the shared token and the workspace it claims. */
export type RelayRight =
  | { readonly credential: Uint8Array }
  | { readonly keys: RelayKeys; readonly workspace: Uint8Array };

export type RelayClientEvent =
  /** Write these bytes. */
  | { readonly type: 'send'; readonly bytes: Uint8Array }
  /** Forwarding begins, or a renewed credential was taken. */
  | { readonly type: 'ready'; readonly ready: Ready }
  /** A packet of a peer, or joined ones by their segment (platform/segments.ts); the payload is valid until the next call. */
  | {
      readonly type: 'packets';
      readonly from: bigint;
      readonly payload: Uint8Array;
      readonly segment: number;
      /** Whether the peer takes joined packets. */
      readonly takesJoined: boolean;
    }
  | { readonly type: 'probed'; readonly peer: bigint; readonly isPresent: boolean; readonly echo: Uint8Array }
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

/** One session of a node with a relay, without its socket. */
export class RelayClient {
  readonly #hello: Hello;
  readonly #helloBytes: Uint8Array;
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
    this.#helloBytes = encodeHello(this.#hello);
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
    return encodeFrame('hello', 0n, this.#helloBytes);
  }

  receive(chunk: Uint8Array, now: number): readonly RelayClientEvent[] {
    if (this.#state === 'closed' || this.#state === 'new') return [];
    const events: RelayClientEvent[] = [];
    const refusal = this.#splitter.push(chunk, (bytes, view, start, end) => {
      const payload = bytes.subarray(start + HEADER_BYTES, end);
      this.#handle(view, start, payload, now, events);
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
        return [{ type: 'send', bytes: encodeFrame('keepalive', 0n, NO_PAYLOAD) }];
      default:
        return this.#state satisfies never;
    }
  }

  /** A packet for a peer as a frame; undefined before `ready` and for a packet that is too large. */
  forward(peer: bigint, payload: Uint8Array): Uint8Array | undefined {
    if (this.#state !== 'ready' || payload.length > MAX_PAYLOAD_BYTES) return undefined;
    return encodeFrame('forward', peer, payload, FLAG_TAKES_JOINED);
  }

  /** Asks whether a peer is connected to this relay; the answer brings the echo back, so it measures the way too. */
  probe(peer: bigint, echo: Uint8Array): Uint8Array {
    return encodeFrame('probe', peer, echo);
  }

  /** Presents a fresh credential for the same key and workspace, so that the session outlives the first. */
  renew(credential: Uint8Array): Uint8Array {
    return encodeFrame('renew', 0n, credential);
  }

  /** The last bytes of a session. */
  bye(): Uint8Array {
    this.#state = 'closed';
    return encodeFrame('bye', 0n, encodeBye({ reason: 'normal', retryAfterMs: 0 }));
  }

  #handle(view: DataView, start: number, payload: Uint8Array, now: number, events: RelayClientEvent[]): void {
    const type = view.getUint8(start + 1);
    const peer = view.getBigUint64(start + 8);
    const isReply = (view.getUint16(start + 2) & FLAG_REPLY) !== 0;
    switch (type) {
      case FRAME_TYPES.forward:
        if (this.#state === 'ready') this.#forwarded(peer, view.getUint16(start + 2), payload, events);
        return;
      case FRAME_TYPES.challenge:
        events.push(this.#prove(payload, now));
        return;
      case FRAME_TYPES.ready:
        events.push(this.#ready(payload));
        return;
      case FRAME_TYPES.keepalive:
        if (!isReply) events.push({ type: 'send', bytes: encodeFrame('keepalive', 0n, NO_PAYLOAD, FLAG_REPLY) });
        return;
      case FRAME_TYPES.probe:
        if (!isReply || payload.length === 0) return;
        events.push({ type: 'probed', peer, isPresent: payload[0] === 1, echo: Uint8Array.from(payload.subarray(1)) });
        return;
      case FRAME_TYPES.bye: {
        const bye = decodeBye(payload);
        if (bye?.reason === 'restart' && this.#state === 'ready') {
          events.push({ type: 'move', retryAfterMs: bye.retryAfterMs });
        } else events.push(this.#close(bye?.reason ?? 'protocol', bye?.retryAfterMs ?? 0));
        return;
      }
      default:
        // Types of a later version mean nothing to us and harm nobody.
        return;
    }
  }

  #forwarded(from: bigint, flags: number, payload: Uint8Array, events: RelayClientEvent[]): void {
    const segment = flags >= MIN_SEGMENT && flags < payload.length ? flags : 0;
    if (countOf(payload, segment) > MAX_JOINED) return;
    events.push({ type: 'packets', from, payload, segment, takesJoined: flags > 0 });
  }

  #prove(payload: Uint8Array, now: number): RelayClientEvent {
    const challenge = decodeChallenge(payload);
    if (challenge === undefined || this.#state !== 'hello-sent') return this.#close('protocol', 0);
    const bytes = Uint8Array.from(payload);
    const privateKey = importPrivateKey(this.#keyPair.privateKey);
    const identity = identityProof(privateKey, challenge.relayKey, this.#helloBytes, bytes);
    if (identity === undefined) return this.#close('protocol', 0);
    const token = this.#keys === undefined ? NO_PAYLOAD : tokenProof(this.#keys, this.#helloBytes, bytes);
    this.#state = 'proof-sent';
    this.#sentAt = now;
    return { type: 'send', bytes: encodeFrame('proof', 0n, Buffer.concat([identity, token])) };
  }

  #ready(payload: Uint8Array): RelayClientEvent {
    const ready = decodeReady(payload);
    if (ready === undefined || (this.#state !== 'proof-sent' && this.#state !== 'ready')) {
      return this.#close('protocol', 0);
    }
    this.#state = 'ready';
    // A relay may ask for more care, never for less.
    this.#keepaliveMs = Math.min(RELAY_LIMITS.keepaliveMs, Math.max(1_000, ready.keepaliveMs));
    this.#deadMs = Math.min(RELAY_LIMITS.deadMs, Math.max(2_000, ready.deadMs));
    return { type: 'ready', ready };
  }

  #close(reason: ByeReason, retryAfterMs: number): RelayClientEvent {
    this.#state = 'closed';
    return { type: 'closed', reason, retryAfterMs, mayReturn: mayReturn(reason) };
  }
}

/**
 * Writes a forward frame where it will be sent from.
 *
 * @param segment of joined packets; 0 for one alone
 * @returns the first byte behind it; there must be room
 */
export function writeForward(
  into: Uint8Array,
  view: DataView,
  at: number,
  peer: bigint,
  payload: Uint8Array,
  segment: number,
): number {
  writeHeader(view, at, FRAME_TYPES.forward, segment === 0 ? FLAG_TAKES_JOINED : segment, payload.length, peer);
  into.set(payload, at + HEADER_BYTES);
  return at + HEADER_BYTES + payload.length;
}
