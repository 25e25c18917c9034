import type { ClientSession } from 'mongodb';
import type { Clock, Fence, LeaseState } from '../../core/base/ports.ts';
import type { Connection } from './connect.ts';
import type { LeaseDoc } from './documents.ts';
import { isDuplicate } from './errors.ts';

export interface Lease {
  readonly fence: number;
  readonly expiresAt: number;
}

/** Longer than any transaction that writes under the lease, which is waited for. */
const MAX_TIME_MS = 1_500;

/** Whose clock says when a lease is over: that of the server is the same for all who ask. */
export type LeaseClock = Clock | 'server';

/**
 * Takes or renews. The fence of a name is never forgotten, so that it rises over release and expiry alike. The holder
 * hears of an end by its own clock, counted from before it asked: it stops before another can begin.
 */
export function acquireLease(
  { run, leases }: Connection,
  { name, holder, ttlMs }: { readonly name: string; readonly holder: string; readonly ttlMs: number },
  clock: Clock,
  leaseClock: LeaseClock,
): Promise<Lease | undefined> {
  return run(async (session) => {
    const expiresAt = clock.now() + ttlMs;
    const now = nowOf(leaseClock);
    const isHolder = { $eq: ['$holder', { $literal: holder }] };
    const isFree = { $or: [{ $eq: [{ $ifNull: ['$holder', null] }, null] }, isHolder, { $lte: ['$expiresAt', now] }] };
    const next = { $add: [{ $ifNull: ['$fence', 0] }, 1] };
    const ifFree = (value: object, otherwise: string) => ({ $cond: [isFree, value, otherwise] });
    const taken = {
      fence: { $cond: [isHolder, '$fence', ifFree(next, '$fence')] },
      holder: ifFree({ $literal: holder }, '$holder'),
      expiresAt: ifFree({ $add: [now, ttlMs] }, '$expiresAt'),
    };
    const options = { session, upsert: true, returnDocument: 'after', maxTimeMS: MAX_TIME_MS } as const;
    const lease = await leases.findOneAndUpdate({ _id: name }, [{ $set: taken }], options).catch((error) => {
      // Somebody else was the first ever to ask.
      if (isDuplicate(error)) return undefined;
      throw error;
    });
    return lease?.holder === holder ? { fence: lease.fence, expiresAt } : undefined;
  });
}

/** Extends all or some of them; true where the holder has them all. */
export function renewLeases(
  { run, leases }: Connection,
  { held, holder, ttlMs }: { readonly held: readonly Fence[]; readonly holder: string; readonly ttlMs: number },
  leaseClock: LeaseClock,
): Promise<boolean> {
  return run(async (session) => {
    const own = { holder, $or: held.map(({ lease, fence }) => ({ _id: lease, fence })) };
    const extended = [{ $set: { expiresAt: { $add: [nowOf(leaseClock), ttlMs] } } }];
    const { matchedCount } = await leases.updateMany(own, extended, { session, maxTimeMS: MAX_TIME_MS });
    return matchedCount === held.length;
  });
}

export function releaseLease({ run, leases }: Connection, name: string, holder: string): Promise<void> {
  return run(async (session) => {
    await leases.updateOne({ _id: name, holder }, { $set: { holder: null } }, { session, maxTimeMS: MAX_TIME_MS });
  });
}

export function leaseStates(
  { run, leases }: Connection,
  prefix: string,
  leaseClock: LeaseClock,
): Promise<LeaseState[]> {
  return run(async (session) => {
    const isFree = { $lte: ['$expiresAt', nowOf(leaseClock)] };
    const found = await leases
      .aggregate<Pick<LeaseDoc, '_id' | 'holder'>>(
        [
          { $match: { _id: { $gte: prefix, $lt: `${prefix}\u{10ffff}` } } },
          { $sort: { _id: 1 } },
          { $project: { holder: { $cond: [isFree, null, '$holder'] } } },
        ],
        { session },
      )
      .toArray();
    return found.map(({ _id: name, holder }) => (holder === null ? { name } : { name, holder }));
  });
}

function nowOf(clock: LeaseClock) {
  return clock === 'server' ? { $toLong: '$$NOW' } : { $literal: clock.now() };
}

/**
 * Which of these leases are still held, in the transaction of what their holders write. Each is written to, since a
 * transaction that only read it would not meet another holder who takes it at the same time.
 */
export async function heldOf(
  { leases }: Connection,
  fences: readonly Fence[],
  session: ClientSession,
): Promise<(fence: Fence) => boolean> {
  const held = new Set<string>();
  const keyOf = ({ lease, fence }: Fence) => `${lease} ${fence}`;
  for (const [key, { lease, fence }] of new Map(fences.map((each) => [keyOf(each), each]))) {
    const holds = { _id: lease, fence, holder: { $ne: null } };
    const { matchedCount } = await leases.updateOne(holds, { $inc: { writes: 1 } }, { session });
    if (matchedCount > 0) held.add(key);
  }
  return (fence) => held.has(keyOf(fence));
}
