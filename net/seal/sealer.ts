import type { KeyObject } from 'node:crypto';
import { deriveKey, EPOCH_BYTES, encrypt, HEADER_BYTES, MAX_SEALED_BYTES, type SealKind, TAG_BYTES } from './format.ts';
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

  #stream(kind: SealKind, to: Uint8Array): Stream | undefined {
    const name = `${kind}:${Buffer.from(to).toString('base64')}`;
    const known = this.#streams.get(name);
    if (known !== undefined) return known;
    const secret = agree(this.#privateKey, to);
    if (secret === undefined) return undefined;
    if (this.#streams.size >= MAX_STREAMS) this.#forgetOldest();
    const stream = { key: deriveKey(secret, this.#epoch, kind, this.publicKey, to), next: this.#start };
    this.#streams.set(name, stream);
    return stream;
  }

  #forgetOldest(): void {
    for (const [name, stream] of this.#streams) {
      this.#streams.delete(name);
      this.#start = Math.max(this.#start, stream.next);
      return;
    }
  }
}
