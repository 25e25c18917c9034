import type { KeyObject } from 'node:crypto';
import { decrypt, deriveKey, readHeader, type SealKind } from './format.ts';
import { ReplayWindow } from './window.ts';
import { agree, importPrivateKey, type KeyPair } from './x25519.ts';

/** Senders whose state is kept; the one silent longest is forgotten first and must then prove its epoch again. */
const MAX_SENDERS = 65_536;
/**
 * Epochs kept for each sender and kind, the proven one among them. Each is a process of the sender: so many restarts, a month of
 * one a day, can be recorded and none of it opens twice.
 */
const MAX_EPOCHS = 32;

export type SealRefusal =
  /** No sealed message: wrong version, too short or too long. */
  | 'malformed'
  /** The sender's key is not one this receiver listens to. */
  | 'stranger'
  /** Not made by the holder of that key for this receiver, kind and subject. */
  | 'not-authentic'
  /** Seen before, or too old to tell. */
  | 'replayed';

export interface OpenedMessage {
  readonly ok: true;
  readonly from: Uint8Array;
  readonly kind: SealKind;
  /**
   * `proven`: from the sender's present process, never seen before. `unproven`: authentic, but maybe a recording of an
   * earlier process. Act on an unproven message only as far as it proves itself fresh, then call `prove`.
   */
  readonly epoch: 'proven' | 'unproven';
  readonly epochId: string;
  /** It was the sender's present process before another one proved itself: two run. */
  readonly isSuperseded: boolean;
  readonly plaintext: Uint8Array;
}

export type OpenResult = OpenedMessage | { readonly ok: false; readonly reason: SealRefusal };

interface Epoch {
  readonly id: string;
  readonly key: KeyObject;
  readonly window: ReplayWindow;
  wasProven: boolean;
}

/** The known epochs of a sender's messages of one kind. */
interface Epochs {
  proven: Epoch | undefined;
  /** The proven one too; the one silent longest first. */
  readonly known: Map<string, Epoch>;
}

interface Sender {
  readonly secret: Uint8Array;
  readonly kinds: Map<SealKind, Epochs>;
}

/** Opens messages sealed to one key pair. `listensTo` decides by sender key before any work is done. */
export class Opener {
  readonly publicKey: Uint8Array;
  readonly #privateKey: KeyObject;
  readonly #listensTo: (sender: Uint8Array) => boolean;
  readonly #senders = new Map<string, Sender>();

  constructor(pair: KeyPair, listensTo: (sender: Uint8Array) => boolean) {
    this.publicKey = pair.publicKey;
    this.#privateKey = importPrivateKey(pair.privateKey);
    this.#listensTo = listensTo;
  }

  open(kind: SealKind, subject: string, sealed: Uint8Array): OpenResult {
    const header = readHeader(sealed);
    if (header === undefined) return { ok: false, reason: 'malformed' };
    if (!this.#listensTo(header.sender)) return { ok: false, reason: 'stranger' };
    const from = Uint8Array.from(header.sender);
    const name = nameOf(from);
    const secret = this.#senders.get(name)?.secret ?? agree(this.#privateKey, from);
    if (secret === undefined) return { ok: false, reason: 'not-authentic' };

    const id = nameOf(header.epoch);
    const epochs = this.#senders.get(name)?.kinds.get(kind);
    const epoch = epochs?.known.get(id) ?? {
      id,
      key: deriveKey(secret, header.epoch, kind, from, this.publicKey),
      window: new ReplayWindow(),
      wasProven: false,
    };
    const plaintext = decrypt(epoch.key, sealed, subject);
    if (plaintext === undefined) return { ok: false, reason: 'not-authentic' };
    // Only after the message proved authentic: a forger must neither use up numbers nor push out what is kept.
    this.#keep(name, secret, kind, epoch);
    if (!epoch.window.use(header.seq)) return { ok: false, reason: 'replayed' };
    const isProven = epochs?.proven === epoch;
    const isSuperseded = !isProven && epoch.wasProven;
    return { ok: true, from, kind, epoch: isProven ? 'proven' : 'unproven', epochId: id, isSuperseded, plaintext };
  }

  /** Makes the epoch of this message the sender's present one; messages of any other count as unproven from now on. */
  prove({ from, kind, epochId }: Pick<OpenedMessage, 'from' | 'kind' | 'epochId'>): void {
    const epochs = this.#senders.get(nameOf(from))?.kinds.get(kind);
    const epoch = epochs?.known.get(epochId);
    if (epochs === undefined || epoch === undefined) return;
    epochs.proven = epoch;
    epoch.wasProven = true;
  }

  /** Drops what is kept about a sender, for instance when it left the graph. */
  forget(sender: Uint8Array): void {
    this.#senders.delete(nameOf(sender));
  }

  /** Maps are written again so that their order is that of the last message. */
  #keep(name: string, secret: Uint8Array, kind: SealKind, epoch: Epoch): void {
    const sender = this.#senders.get(name) ?? { secret, kinds: new Map<SealKind, Epochs>() };
    putLast(this.#senders, name, sender);
    const [silent] = this.#senders.keys();
    if (this.#senders.size > MAX_SENDERS && silent !== undefined) this.#senders.delete(silent);

    const epochs = sender.kinds.get(kind) ?? { proven: undefined, known: new Map<string, Epoch>() };
    sender.kinds.set(kind, epochs);
    putLast(epochs.known, epoch.id, epoch);
    if (epochs.known.size <= MAX_EPOCHS) return;
    for (const [id, known] of epochs.known) {
      if (known === epochs.proven) continue;
      epochs.known.delete(id);
      return;
    }
  }
}

function putLast<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key);
  map.set(key, value);
}

function nameOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
