import { setTimeout as after } from 'node:timers/promises';
import type { LeaseState, Store } from '../../core/base/ports.ts';
import { LEASE_MS } from './leased-shares.ts';
import { SHARES } from './shares.ts';

export const PLANES = 'leadership/plane/';
/** Begins the name of one that has the store alone. */
const ALONE = 'alone/';

/** A plane that was killed lives until its lease is over. */
const OTHERS_END_MS = LEASE_MS + 1_000;
/** Between two looks whether it does, at random up to this. */
const POLL_MS = 500;

interface PlaneSlotParts {
  readonly store: Pick<Store, 'acquire' | 'release' | 'leases'>;
  /** The name of this process. */
  readonly name: string;
  /** It shares the store with nobody. */
  readonly isAlone: boolean;
  /** Milliseconds on a clock that nobody sets. */
  readonly now: () => number;
}

/** Two control planes live on one store of which one has it alone: they would have the same nodes on two buses. */
export class NotAloneError extends Error {
  constructor(isAlone: boolean, other: string) {
    super(
      isAlone
        ? `another control plane is at work on the database that MESH_STORE_URL names (${other}), and one with --standalone has it alone: end it first, or start each without --standalone (docs/cluster.md)`
        : `a control plane with --standalone is at work on the database that MESH_STORE_URL names (${other}): end it first, and start each without --standalone (docs/cluster.md)`,
    );
  }
}

/** A place among the planes that live on a store, of which there are as many as shares. */
export class PlaneSlot {
  /** By which the others know this process. */
  readonly self: string;
  readonly #parts: PlaneSlotParts;
  #held: { readonly name: string; readonly fence: number; readonly askedAt: number } | undefined;

  constructor(parts: PlaneSlotParts) {
    this.#parts = parts;
    this.self = parts.isAlone ? `${ALONE}${parts.name}` : parts.name;
  }

  get isHeld(): boolean {
    return this.#held !== undefined;
  }

  /** Takes one, once nobody lives who must not beside it. @throws NotAloneError */
  async join(): Promise<void> {
    const { store, isAlone, now } = this.#parts;
    const deadline = now() + OTHERS_END_MS;
    for (;;) {
      const states = await store.leases(PLANES);
      // Looked first, so that those who live notice nothing of one that is refused.
      const other = this.#otherIn(states);
      try {
        if (other !== undefined) throw new NotAloneError(isAlone, other);
        await this.take(states);
        return;
      } catch (error) {
        if (!(error instanceof NotAloneError) || now() > deadline) throw error;
      }
      await after(POLL_MS * Math.random());
    }
  }

  /** Takes one, or renews it. @throws NotAloneError */
  async take(states: readonly LeaseState[]): Promise<void> {
    const { store, now } = this.#parts;
    const holders = new Map(states.map(({ name, holder }) => [name, holder]));
    const seats = Array.from({ length: SHARES }, (_, n) => `${PLANES}${String(n).padStart(2, '0')}`);
    const name = seats.find((each) => holders.get(each) === this.self) ?? seats.find((each) => !holders.get(each));
    const askedAt = now();
    const lease = name === undefined ? undefined : await store.acquire(name, this.self, LEASE_MS);
    const before = this.#held;
    this.#held = name === undefined || !lease ? undefined : { name, fence: lease.fence, askedAt };
    if (!this.#held) return;
    const { fence } = this.#held;
    const goesOn = before?.name === name && before?.fence === fence && askedAt - before.askedAt < LEASE_MS;
    if (goesOn) return;
    // After it was taken: of two that come at the same time one sees the other.
    const other = this.#otherIn(await store.leases(PLANES));
    if (other === undefined) return;
    await this.leave();
    throw new NotAloneError(this.#parts.isAlone, other);
  }

  async leave(): Promise<void> {
    const left = this.#held;
    this.#held = undefined;
    if (left) await this.#parts.store.release(left.name, this.self);
  }

  /** Returns a living plane beside which this one must not live. */
  #otherIn(states: readonly LeaseState[]): string | undefined {
    const living = states.flatMap(({ name, holder }) => (name.startsWith(PLANES) ? (holder ?? []) : []));
    return living.find((holder) => holder !== this.self && (this.#parts.isAlone || holder.startsWith(ALONE)));
  }
}
