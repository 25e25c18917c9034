import type { Command } from './commands.ts';
import { BufferPool, type Chunk } from './outbox.ts';
import type { Session } from './session.ts';

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
