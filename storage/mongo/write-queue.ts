import { setTimeout as after } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import type { WorkspaceTurns } from '../../core/base/write-queue.ts';
import type { Connection } from './connect.ts';
import { isDuplicate } from './errors.ts';

/** A holder or a waiter that died costs the others at most this, ms. */
const LEASE_MS = 2_000;
/** A process with more to write keeps its turn for so long, ms. */
const HOLD_MS = 250;
/** Between two looks of a waiter, ms. */
const POLL_MS = 8;
/** The time limit of a request to the server, ms. */
const MAX_TIME_MS = 1_000;
/** After this a waiter writes without a turn, ms. */
const WAIT_MS = 5_000;
/** Writes take turns for so long after two processes met, ms. */
const CONTENDED_MS = 2_000;

export interface MongoWriteQueue extends WorkspaceTurns {
  /** Remembers that another process changed what a write was concluded from. */
  met(workspace: string): void;
}

interface HeldTicket {
  readonly ticket: ObjectId;
  readonly since: number;
}

/** A workspace in which this process met another one. */
interface ContendedWorkspace {
  metUntil: number;
  held: HeldTicket | undefined;
  /** Works that run in the turn. */
  users: number;
  taking: Promise<void> | undefined;
}

export interface WriteQueueParts {
  /** Resolves once this process has heard of all that the turns before wrote in a workspace. */
  readonly hear: (workspace: string) => Promise<void>;
  /** Milliseconds on a clock that nobody sets. */
  readonly now?: () => number;
}

/**
 * Turns of processes at writing to one workspace, first come, first served: a queue in one document. They are for speed
 * alone. What a transaction checks decides, so a turn that is over, or that two processes believe to have, harms nothing.
 */
export function buildWriteQueue(
  { turns }: Pick<Connection, 'turns'>,
  { hear, now = () => performance.now() }: WriteQueueParts,
): MongoWriteQueue {
  const places = new Map<string, ContendedWorkspace>();

  /** Undefined where nobody else was met lately. */
  function placeOf(workspace: string): ContendedWorkspace | undefined {
    const place = places.get(workspace);
    if (!place || place.held || place.taking !== undefined || isMet(place)) return place;
    places.delete(workspace);
    return undefined;
  }

  function isMet({ metUntil }: ContendedWorkspace): boolean {
    return metUntil > now();
  }

  function meet(place: ContendedWorkspace): void {
    place.metUntil = now() + CONTENDED_MS;
  }

  async function run<T>(workspace: string, work: () => Promise<T>): Promise<T> {
    const place = placeOf(workspace);
    if (!place) return work();
    while (!mayGoOn(place)) {
      giveUp(workspace, place);
      place.taking ??= take(workspace, place).finally(() => {
        place.taking = undefined;
      });
      await place.taking;
    }
    place.users += 1;
    try {
      return await work();
    } finally {
      place.users -= 1;
      // The next write of this process begins in the same tick, and may go on with the turn.
      if (place.users === 0) setImmediate(() => place.users === 0 && giveUp(workspace, place));
    }
  }

  /** A part of the work that has the turn never waits for its end. */
  function mayGoOn({ held, users }: ContendedWorkspace): boolean {
    return held !== undefined && (users > 0 || now() - held.since < HOLD_MS);
  }

  /** Takes the turn, or goes on without where it does not come. */
  async function take(workspace: string, place: ContendedWorkspace): Promise<void> {
    const ticket = new ObjectId();
    const begun = waitFor(workspace, place, ticket).then(() => hear(workspace));
    const waited = new AbortController();
    const tooLong = after(WAIT_MS, undefined, { signal: waited.signal });
    await Promise.race([begun, tooLong]).catch(() => undefined);
    waited.abort();
    place.held = { ticket, since: now() };
  }

  async function waitFor(workspace: string, place: ContendedWorkspace, ticket: ObjectId): Promise<void> {
    for (const deadline = now() + WAIT_MS; now() < deadline && !(await isNext(turns, workspace, ticket)); ) {
      meet(place);
      await after(POLL_MS * (0.5 + Math.random()));
    }
  }

  function giveUp(workspace: string, place: ContendedWorkspace): void {
    const { held } = place;
    if (!held) return;
    place.held = undefined;
    // A ticket that is not removed expires soon.
    turns.updateOne({ _id: workspace }, { $pull: { waiting: { ticket: held.ticket } } }, LIGHT).catch(() => undefined);
  }

  return {
    met(workspace) {
      const place = placeOf(workspace) ?? { metUntil: 0, held: undefined, users: 0, taking: undefined };
      places.set(workspace, place);
      meet(place);
    },
    isContended: (workspace) => placeOf(workspace) !== undefined,
    run,
  };
}

/** A turn that a failed primary takes with it is taken again. */
const LIGHT = { writeConcern: { w: 1 } } as const;

/** Queues a ticket, where it is not queued yet. @returns whether it is the first of those whose holders live */
async function isNext(turns: Connection['turns'], workspace: string, ticket: ObjectId): Promise<boolean> {
  const now = { $toLong: '$$NOW' };
  const own = { ticket, until: { $add: [now, LEASE_MS] } };
  const isOwn = { $eq: ['$$this.ticket', ticket] };
  const endsSoon = { $lt: ['$$this.until', { $add: [now, LEASE_MS / 2] }] };
  const living = { $filter: { input: { $ifNull: ['$waiting', []] }, cond: { $gt: ['$$this.until', now] } } };
  const renewed = { $map: { input: '$waiting', in: { $cond: [{ $and: [isOwn, endsSoon] }, own, '$$this'] } } };
  const queued = { $concatArrays: ['$waiting', [own]] };
  const found = await turns
    .findOneAndUpdate(
      { _id: workspace },
      [
        { $set: { waiting: living } },
        { $set: { waiting: { $cond: [{ $in: [ticket, '$waiting.ticket'] }, renewed, queued] } } },
      ],
      { ...LIGHT, upsert: true, returnDocument: 'after', maxTimeMS: MAX_TIME_MS },
    )
    .catch((error: unknown) => {
      // Another process was the first ever to ask.
      if (isDuplicate(error)) return null;
      throw error;
    });
  return found?.waiting[0]?.ticket.equals(ticket) ?? false;
}
