import type { KeyObject } from 'node:crypto';
import { decrypt, deriveKey, readHeader, type SealKind } from './format.ts';
import { ReplayWindow } from './window.ts';
import { agree, importPrivateKey, type KeyPair } from './x25519.ts';

/** Senders whose state is kept; the one silent longest is forgotten first and must then prove its epoch again. */
const MAX_SENDERS = 65_536;
/** Unproven epochs kept for each sender and kind: a real sender has one, replays of old processes may add more. */
const MAX_UNPROVEN_EPOCHS = 4;

export type SealRefusal =
  /** No sealed message: wrong version, too short or too long. */
  | 'malformed'
  /** The sender's key is not one this receiver listens to. */
  | 'stranger'
  /** Not made by the holder of that key for this receiver, kind and subject. */
  | 'not-authentic'
  /** Seen before, or too old to tell. */
  | 'replayed';

export interface Opened {
  readonly ok: true;
  readonly from: Uint8Array;
  readonly kind: SealKind;
  /**
   * `proven`: from the sender's present process, never seen before. `unproven`: authentic, but maybe a recording of an
   * earlier process. Act on an unproven message only as far as it proves itself fresh, then call `prove`.
   */
  readonly epoch: 'proven' | 'unproven';
  readonly epochId: string;
  readonly plaintext: Uint8Array;
}

export type OpenResult = Opened | { readonly ok: false; readonly reason: SealRefusal };

interface Epoch {
  readonly id: string;
  readonly key: Uint8Array;
  readonly window: ReplayWindow;
}

interface Sender {
  readonly secret: Uint8Array;
  /** By kind; the proven epoch first if there is one. */
  readonly epochs: Map<SealKind, { proven?: Epoch; unproven: Epoch[] }>;
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
    const known = this.#senders.get(name)?.epochs.get(kind);
    const proven = known?.proven?.id === id ? known.proven : undefined;
    const epoch = proven ??
      known?.unproven.find((candidate) => candidate.id === id) ?? {
        id,
        key: deriveKey(secret, header.epoch, kind, from, this.publicKey),
        window: new ReplayWindow(),
      };
    const plaintext = decrypt(epoch.key, sealed, subject);
    if (plaintext === undefined) return { ok: false, reason: 'not-authentic' };
    // Only after the message proved authentic: a forger must neither use up numbers nor push out what is kept.
    this.#keep(name, secret, kind, epoch);
    if (!epoch.window.use(header.seq)) return { ok: false, reason: 'replayed' };
    return { ok: true, from, kind, epoch: proven ? 'proven' : 'unproven', epochId: id, plaintext };
  }

  /** Makes the epoch of this message the sender's present one; messages of any other count as unproven from now on. */
  prove({ from, kind, epochId }: Pick<Opened, 'from' | 'kind' | 'epochId'>): void {
    const epochs = this.#senders.get(nameOf(from))?.epochs.get(kind);
    const epoch = epochs?.unproven.find((candidate) => candidate.id === epochId);
    if (epochs === undefined || epoch === undefined) return;
    epochs.proven = epoch;
    epochs.unproven = [];
  }

  /** Drops what is kept about a sender, for instance when it left the graph. */
  forget(sender: Uint8Array): void {
    this.#senders.delete(nameOf(sender));
  }

  #keep(name: string, secret: Uint8Array, kind: SealKind, epoch: Epoch): void {
    const sender = this.#senders.get(name) ?? { secret, epochs: new Map() };
    // Written again so that the map's order is that of the last message.
    this.#senders.delete(name);
    this.#senders.set(name, sender);
    if (this.#senders.size > MAX_SENDERS) {
      const [oldest] = this.#senders.keys();
      if (oldest !== undefined) this.#senders.delete(oldest);
    }
    const epochs = sender.epochs.get(kind) ?? { unproven: [] };
    sender.epochs.set(kind, epochs);
    if (epochs.proven === epoch || epochs.unproven.includes(epoch)) return;
    epochs.unproven.push(epoch);
    if (epochs.unproven.length > MAX_UNPROVEN_EPOCHS) epochs.unproven.shift();
  }
}

function nameOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
