import type { IceRole } from './check-message.ts';
import type { Remote } from './remotes.ts';

const MAX_TRANSACTIONS = 64;
const SESSION_BYTES = 4;
const TRANSACTION_BYTES = 12;

/** A check that was sent. */
interface Transaction {
  readonly remote: Remote;
  readonly sentAt: number;
  readonly isNominating: boolean;
  readonly isFull: boolean;
  readonly role: IceRole;
}

/** The checks of one session that wait for an answer, the newest of them. */
export class Transactions {
  readonly #session: number;
  readonly #random: (bytes: number) => Uint8Array;
  readonly #byId = new Map<string, Transaction>();

  /** `session` begins every transaction's id: an answer is known to be the session's by it. */
  constructor(session: number, random: (bytes: number) => Uint8Array) {
    this.#session = session;
    this.#random = random;
  }

  newId(): Uint8Array {
    const id = Buffer.alloc(TRANSACTION_BYTES);
    id.writeUInt32BE(this.#session);
    id.set(this.#random(TRANSACTION_BYTES - SESSION_BYTES), SESSION_BYTES);
    return id;
  }

  /** @returns the id to send it with */
  begin(transaction: Transaction): Uint8Array {
    const id = this.newId();
    this.#byId.set(textOf(id), transaction);
    if (this.#byId.size > MAX_TRANSACTIONS) {
      const [oldest] = this.#byId.keys();
      if (oldest !== undefined) this.#byId.delete(oldest);
    }
    return id;
  }

  find(id: Uint8Array): Transaction | undefined {
    return this.#byId.get(textOf(id));
  }

  end(id: Uint8Array): void {
    this.#byId.delete(textOf(id));
  }

  forget(): void {
    this.#byId.clear();
  }
}

/** The session that a transaction was made in. */
export function sessionNumberOf(id: Uint8Array): number {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).readUInt32BE();
}

function textOf(id: Uint8Array): string {
  return Buffer.from(id).toString('base64');
}
