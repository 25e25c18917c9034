import { Challenges } from '../seal/challenges.ts';
import type { Opener, SealRefusal } from '../seal/opener.ts';
import type { Sealer } from '../seal/sealer.ts';
import { SourceLimit } from '../stun/rate.ts';
import { decodeSignal, encodeSignal, type SignalMessage } from './message.ts';

/** At most one SYN goes to a peer in this time, whatever arrives: two nodes never talk each other into a storm. */
export const SYN_INTERVAL_MS = 500;
/**
 * ACKs to one peer: a process asks no oftener than the interval of its SYN. What is not from the process that we know has an
 * allowance of its own, so that recordings of former ones use up nothing of the living one.
 */
const ACKS = { perSecond: 1_000 / SYN_INTERVAL_MS, burst: 8 };
/** Peers whose last SYN is remembered. */
const MAX_PACED_PEERS = 16_384;

/** A sealed signal for the bus, to be published on the receiver's signal subject. */
export interface SealedSignal {
  readonly to: Uint8Array;
  readonly subject: string;
  readonly payload: Uint8Array;
}

export type SignalDrop =
  | SealRefusal
  | 'unknown-kind'
  | 'unproven'
  | 'stale-echo'
  /** SYNs beyond what a peer may ask. */
  | 'rate';

/** Kinds that concern the connection; SYN and ACK are dealt with here. */
export type ConnectionSignal = Exclude<SignalMessage, { kind: 'SYN' | 'ACK' }>;

export interface SignalOutcome {
  /** To publish, in this order. */
  readonly send: readonly SealedSignal[];
  /** For the connectivity logic. */
  readonly deliver?: { readonly from: Uint8Array; readonly message: ConnectionSignal };
  /**
   * `syn`: the peer asks for us; harmless to act on, for it may be a recording while `newProcess`.
   * `ready`: the peer answered our SYN, so each takes the other's messages now: send or repeat the OFFER.
   * `newProcess`: the peer's process is not the one we knew, or we knew none.
   */
  readonly event?: { readonly type: 'syn' | 'ready'; readonly peer: Uint8Array; readonly newProcess: boolean };
  readonly dropped?: SignalDrop;
}

/**
 * Signals of one node: seals what goes out, opens what comes in, and finds out by SYN and ACK which process of a peer is
 * the living one, so that a recording of an earlier process does nothing.
 */
export class SignalExchange {
  readonly #sealer: Sealer;
  readonly #opener: Opener;
  readonly #subjectOf: (peer: Uint8Array) => string | undefined;
  readonly #challenges: Challenges;
  readonly #lastSyn = new Map<string, number>();
  readonly #acks = new SourceLimit(ACKS.perSecond, ACKS.burst);

  /** `subjectOf` names the signal subject of a peer in the node's graph, undefined for any other key. */
  constructor(parts: {
    readonly sealer: Sealer;
    readonly opener: Opener;
    readonly subjectOf: (peer: Uint8Array) => string | undefined;
    readonly random: (bytes: number) => Uint8Array;
  }) {
    this.#sealer = parts.sealer;
    this.#opener = parts.opener;
    this.#subjectOf = parts.subjectOf;
    this.#challenges = new Challenges(parts.random);
  }

  /** Asks a peer to prove that it runs. Empty while the last SYN is younger than the interval. */
  syn(peer: Uint8Array, now: number): readonly SealedSignal[] {
    const name = Buffer.from(peer).toString('base64');
    const last = this.#lastSyn.get(name);
    if (last !== undefined && now >= last && now - last < SYN_INTERVAL_MS) return [];
    this.#lastSyn.delete(name);
    this.#lastSyn.set(name, now);
    if (this.#lastSyn.size > MAX_PACED_PEERS) {
      const [oldest] = this.#lastSyn.keys();
      if (oldest !== undefined) this.#lastSyn.delete(oldest);
    }
    return this.send(peer, { kind: 'SYN', nonce: this.#challenges.ask(peer, now) });
  }

  /** Seals a message. Empty when the peer is not in the graph. */
  send(peer: Uint8Array, message: SignalMessage): readonly SealedSignal[] {
    const subject = this.#subjectOf(peer);
    const payload = subject && this.#sealer.seal('signal', peer, subject, encodeSignal(message));
    return subject && payload ? [{ to: Uint8Array.from(peer), subject, payload }] : [];
  }

  /** Takes what arrived on this node's own signal subject. */
  receive(subject: string, sealed: Uint8Array, now: number): SignalOutcome {
    const opened = this.#opener.open('signal', subject, sealed);
    if (!opened.ok) return { send: [], dropped: opened.reason };
    const decoded = decodeSignal(opened.plaintext);
    if (!decoded.ok) return { send: [], dropped: decoded.reason };

    const { from } = opened;
    const { message } = decoded;
    const isProven = opened.epoch === 'proven';
    switch (message.kind) {
      case 'SYN': {
        // Our own SYN goes before the ACK: on an ordered bus the peer has proven itself before it hears that it is heard.
        const challenge = isProven ? [] : this.syn(from, now);
        // Without an ACK it still proves itself by answering the challenge, and its next SYN is that of a known process.
        if (!this.#acks.take(`${opened.epoch} ${Buffer.from(from).toString('base64')}`, now)) {
          return { send: challenge, dropped: 'rate' };
        }
        const send = [...challenge, ...this.send(from, { kind: 'ACK', nonce: message.nonce })];
        return { send, event: { type: 'syn', peer: from, newProcess: !isProven } };
      }
      case 'ACK': {
        if (!this.#challenges.answer(from, message.nonce, now)) return { send: [], dropped: 'stale-echo' };
        this.#opener.prove(opened);
        return { send: [], event: { type: 'ready', peer: from, newProcess: !isProven } };
      }
      case 'OFFER':
      case 'ANSWER':
      case 'CANDIDATE':
      case 'BYE':
      case 'PING':
      case 'RELAYS':
        if (!isProven) return { send: this.syn(from, now), dropped: 'unproven' };
        return { send: [], deliver: { from, message } };
      default:
        return message satisfies never;
    }
  }
}

/** True if this node makes the OFFER: the node with the larger public key does. */
export function initiates(own: Uint8Array, peer: Uint8Array): boolean {
  return Buffer.compare(own, peer) > 0;
}
