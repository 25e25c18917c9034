import type { KeyObject } from 'node:crypto';
import {
  deriveKey,
  EPOCH_BYTES,
  encrypt,
  HEADER_BYTES,
  MAX_SEALED_BYTES,
  SEAL_KINDS,
  type SealKind,
  TAG_BYTES,
} from './format.ts';
import { agree, importPrivateKey, type KeyPair } from './x25519.ts';

/** Receivers whose derived key is kept ready. */
const MAX_STREAMS = 16_384;

interface Stream {
  readonly key: KeyObject;
  next: number;
}

/** Seals messages to public keys. One for each process and key pair: the epoch must be fresh random bytes. */
export class Sealer {
  readonly publicKey: Uint8Array;
  readonly #privateKey: KeyObject;
  readonly #epoch: Uint8Array;
  readonly #streams = new Map<string, Stream>();
  /** Where a new stream starts: above every number of the streams forgotten, so that no nonce comes twice. */
  #start = 0;

  constructor(pair: KeyPair, epoch: Uint8Array) {
    if (epoch.length !== EPOCH_BYTES) throw new RangeError(`An epoch has ${EPOCH_BYTES} random bytes.`);
    this.publicKey = pair.publicKey;
    this.#privateKey = importPrivateKey(pair.privateKey);
    this.#epoch = Uint8Array.from(epoch);
  }

  /** Undefined when the receiver's key is no usable X25519 key or the message is too large. */
  seal(kind: SealKind, to: Uint8Array, subject: string, plaintext: Uint8Array): Uint8Array | undefined {
    if (plaintext.length > MAX_SEALED_BYTES - HEADER_BYTES - TAG_BYTES) return undefined;
    const stream = this.#stream(kind, to);
    if (stream === undefined) return undefined;
    const header = { sender: this.publicKey, epoch: this.#epoch, seq: stream.next++ };
    return encrypt(stream.key, header, subject, plaintext);
  }

  /** Lets go of what is kept for a receiver that is told nothing more; it may still be, at the price of a new key. */
  forget(to: Uint8Array): void {
    for (const kind of SEAL_KINDS) this.#forget(nameOf(kind, to));
  }

  #stream(kind: SealKind, to: Uint8Array): Stream | undefined {
    const name = nameOf(kind, to);
    const known = this.#streams.get(name);
    if (known !== undefined) return known;
    const secret = agree(this.#privateKey, to);
    if (secret === undefined) return undefined;
    if (this.#streams.size >= MAX_STREAMS) this.#forget(this.#streams.keys().next().value ?? '');
    const stream = { key: deriveKey(secret, this.#epoch, kind, this.publicKey, to), next: this.#start };
    this.#streams.set(name, stream);
    return stream;
  }

  #forget(name: string): void {
    this.#start = Math.max(this.#start, this.#streams.get(name)?.next ?? 0);
    this.#streams.delete(name);
  }
}

function nameOf(kind: SealKind, to: Uint8Array): string {
  return `${kind}:${Buffer.from(to).toString('base64')}`;
}
