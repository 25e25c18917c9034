import { BufferPool, type Chunk } from './buffer-pool.ts';
import type { Command } from './commands.ts';
import { type Limits, MIN_PENDING_BYTES } from './limits.ts';
import type { Session } from './session.ts';
import type { Source } from './sources.ts';

/** Bytes that wait for receivers: in outboxes until they are written, and in flight until the socket has taken them. */
export class PendingWrites {
  readonly pool = new BufferPool();
  #awake: Session[] = [];
  #inFlight = 0;

  /** The bytes of memory that wait for receivers. */
  get bytes(): number {
    return this.#inFlight + this.pool.queued;
  }

  wake(session: Session): void {
    session.awake = true;
    this.#awake.push(session);
  }

  /** A `write` for each session that woke since and can be written to. */
  takeCommands(): Command[] {
    const writes: Command[] = [];
    for (const session of this.#awake) {
      session.awake = false;
      if (session.inFlight === 0 && session.outbox.bytes > 0) writes.push({ kind: 'write', session });
    }
    if (this.#awake.length > 0) this.#awake = [];
    return writes;
  }

  take(session: Session, now: number): Chunk | undefined {
    const chunk = session.outbox.take();
    if (chunk === undefined) return undefined;
    const { length } = chunk.bytes;
    session.inFlight += length;
    session.writingSince = now;
    this.#inFlight += length;
    return chunk;
  }

  written(session: Session, chunk: Chunk): void {
    chunk.owner.give(chunk.buffer);
    this.#land(session);
    if (session.outbox.bytes > 0 && !session.awake) this.wake(session);
  }

  /** Its connection is gone: nothing of it waits any more. */
  drop(session: Session): void {
    session.outbox.clear();
    this.#land(session);
  }

  #land(session: Session): void {
    this.#inFlight -= session.inFlight;
    session.inFlight = 0;
  }
}

/** True if a receiver has so much pending that it is cut off. `waiting` is the number of bytes pending for all receivers. */
export function isTooSlow(
  { pending, source, inFlight }: Session,
  waiting: number,
  { maxPending, maxTotalPending }: Limits,
): boolean {
  const isStranger = source.node === undefined;
  if (isStranger && inFlight > 0 && waiting > 2 * maxTotalPending) return true;
  if (pending <= MIN_PENDING_BYTES) return false;
  return waiting > maxTotalPending || pending > maxPending || pendingOf(source) > maxPending;
}

/** Bytes waiting for connections of a source that are behind. */
function pendingOf({ sessions }: Source): number {
  let sum = 0;
  for (const { pending } of sessions) sum += pending > MIN_PENDING_BYTES ? pending : 0;
  return sum;
}
