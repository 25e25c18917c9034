import { priorityOf } from './candidate.ts';
import { encodeCheck, type IceCredentials, type IceRole } from './check-message.ts';
import { FULL_TRIES, fullWaitMs } from './full-size.ts';
import type { Remote } from './remotes.ts';
import type { IceSessionOptions } from './session-options.ts';
import { Transactions } from './transactions.ts';

/** RFC 8445 section 14.2: between the first checks of one session. */
export const PACING_MS = 50;
/** Waits after each check of an address; its check has failed when the last of them is over. */
const CHECK_WAITS_MS = [200, 300, 500, 800, 1_000, 1_000, 1_000, 1_000] as const;

/** Content of a check beside its destination. */
interface CheckContent {
  readonly credentials: IceCredentials;
  readonly role: IceRole;
  readonly isNominating: boolean;
  /** Padded to the largest packet that WireGuard sends. */
  readonly isFull?: boolean;
}

/** The checks that one session sends, and when. */
export class Checks {
  readonly transactions: Transactions;
  readonly #options: IceSessionOptions;
  #lastSlot = 0;
  #count = 0;

  constructor(options: IceSessionOptions) {
    this.#options = options;
    this.transactions = new Transactions(options.number, options.random);
  }

  /** Sent since the try began. */
  get count(): number {
    return this.#count;
  }

  /** A try begins, and with it the first checks. */
  begin(now: number): void {
    this.#lastSlot = now - PACING_MS;
    this.#count = 0;
  }

  /** The next free moment for a first check. */
  slot(now: number): number {
    this.#lastSlot = Math.max(now, this.#lastSlot + PACING_MS);
    return this.#lastSlot;
  }

  /** Sends the next check of an address, or puts it off. False when it had its share. */
  next(remote: Remote, now: number, content: CheckContent): boolean {
    if (remote.attempts >= CHECK_WAITS_MS.length) return false;
    const later = this.#options.pacer.take(now);
    if (later !== undefined) {
      remote.nextAt = later;
      return true;
    }
    if (remote.state !== 'succeeded') remote.state = 'checking';
    remote.nextAt = now + (CHECK_WAITS_MS[remote.attempts] ?? PACING_MS);
    remote.attempts += 1;
    this.send(remote, now, content);
    return true;
  }

  /** Sends the next check of full size, or puts it off. False when an address had its share. */
  nextFull(remote: Remote, now: number, content: CheckContent): boolean {
    if (remote.fullAttempts >= FULL_TRIES) return false;
    const later = this.#options.pacer.take(now);
    if (later !== undefined) {
      remote.fullAt = later;
      return true;
    }
    remote.fullAttempts += 1;
    remote.fullAt = now + fullWaitMs(remote.fullAttempts, remote.roundTripMs);
    this.send(remote, now, { ...content, isFull: true });
    return true;
  }

  send(remote: Remote, now: number, { credentials, role, isNominating, isFull = false }: CheckContent): void {
    const { local, tieBreaker, events, hasOtherPath } = this.#options;
    const isOnlyPath = !hasOtherPath();
    const transactionId = this.transactions.begin({ remote, sentAt: now, isNominating, isFull, role });
    remote.sentAt = now;
    this.#count += 1;
    const priority = priorityOf('prflx', remote.address);
    events.send(
      remote,
      encodeCheck({
        transactionId,
        local,
        remote: credentials,
        priority,
        role,
        tieBreaker,
        isNominating,
        isFull,
        isOnlyPath,
      }),
    );
  }
}
