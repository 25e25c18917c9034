import type { Session } from './session.ts';

/** Holds publishers back for a receiver that is behind: until it has caught up, but not for long and not twice. */
export class Stalls {
  readonly #stallMs: number;
  readonly #command: (kind: 'pause' | 'resume', publisher: Session) => void;
  readonly #receivers = new Set<Session>();

  constructor(stallMs: number, command: (kind: 'pause' | 'resume', publisher: Session) => void) {
    this.#stallMs = stallMs;
    this.#command = command;
  }

  /** Receivers that somebody waits for. */
  get size(): number {
    return this.#receivers.size;
  }

  /** Returns true when the publisher now waits. The control plane never does: it has no socket to pause. */
  hold(publisher: Session, receiver: Session, now: number): boolean {
    if (receiver.stallSpent || publisher.internal || publisher === receiver || !receiver.open) return false;
    if (receiver.waiting?.has(publisher) === true) return false;
    if (receiver.waiting === undefined) {
      receiver.waiting = new Set();
      receiver.stalledUntil = now + this.#stallMs;
      this.#receivers.add(receiver);
    }
    receiver.waiting.add(publisher);
    if (++publisher.waits === 1) this.#command('pause', publisher);
    return true;
  }

  /** Lets those who wait for the receiver go on. */
  release(receiver: Session): void {
    this.#receivers.delete(receiver);
    const waiting = receiver.waiting;
    receiver.waiting = undefined;
    for (const publisher of waiting ?? []) if (--publisher.waits === 0) this.#command('resume', publisher);
  }

  /** Ends the stalls whose time is up; until the receiver has caught up it causes no other. */
  tick(now: number): void {
    for (const receiver of this.#receivers) {
      if (now < receiver.stalledUntil) continue;
      receiver.stallSpent = true;
      this.release(receiver);
    }
  }
}
