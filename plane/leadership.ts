import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { endProcess } from '../core/base/end-process.ts';
import { SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import { type Leader, SOLE_LEADER } from '../core/base/leader.ts';
import { type Log, type Store, StoreError } from '../core/base/ports.ts';
import { fencedStore } from './leadership/fenced-store.ts';
import { LEASE_MS, LeasedShares } from './leadership/leased-shares.ts';
import { NotAloneError, PLANES, PlaneSlot } from './leadership/plane-slot.ts';
import { movesOf, SHARES, shareOf } from './leadership/shares.ts';

/**
 * Which workspaces this control plane leads: it alone does there what is to be done once (jobs, pushes, answers to nodes).
 * Any plane serves any request of a caller.
 */
export interface Leadership extends Leader {
  /** After workspaces were gained, and before those that are given away are another's: that waits for what is answered here. */
  onChange(listener: () => unknown): () => void;
  state(): LeadershipState;
  /** Gives all away. Idempotent. */
  stop(): Promise<void>;
}

export interface LeadershipState {
  /** The number of shares that it leads; `all` counts those that exist. */
  readonly shares: number;
  readonly all: number;
  /** Planes that live, as it knows. */
  readonly planes: number;
  /** How often what it leads became something else. */
  readonly changes: number;
  /** Why it leads nothing, where that is not as it should be. */
  readonly problem?: string;
  /** Workspaces of its shares that nobody leads, since their log is damaged. */
  readonly damaged?: readonly string[];
}

/** The leadership of the only control plane. */
export const soleLeadership: Leadership = {
  ...SOLE_LEADER,
  onChange: () => () => undefined,
  state: () => ({ shares: SHARES, all: SHARES, planes: 1, changes: 0 }),
  stop: async () => undefined,
};

export interface LeadershipParts {
  readonly store: Pick<Store, 'acquire' | 'renew' | 'release' | 'leases' | 'workspaces' | 'caughtUp' | 'damaged'>;
  readonly log: Log;
  /** The name of this process among the holders of leases: no other has it, nor had it. */
  readonly self?: string;
  /** True if it has the store alone: no other plane lives beside it. */
  readonly isAlone?: boolean;
  /** Another one lives that must not. Unless set the process ends. */
  readonly onCompany?: (error: Error) => void;
  /** Milliseconds on a clock that nobody sets. */
  readonly now?: () => number;
}

const PREFIX = 'leadership/';
const leaseOf = (share: number) => `${PREFIX}share/${String(share).padStart(2, '0')}`;

/** Between two looks at who holds what: how long a share that was given away waits for its next holder at most. */
const POLL_MS = 500;
/** A lease of 4 s is renewed each 1.2 s, so that one answer that does not come costs nothing. */
const RENEW_MS = 1_200;
/** So long what is under way in a share may take to end before the share is given away nevertheless. */
const END_MS = 2_000;
/** Time limit for an answer of the store, after which the question is asked anew, ms. */
const ROUND_MS = 10_000;
/** A plane that cannot read what others wrote leads nothing, and tries again after so long, ms. */
const RESIGNED_MS = 5_000;

/**
 * Takes part in leading, once no plane lives that must not beside this one; by then it leads what it is to lead first.
 *
 * @throws NotAloneError where that one goes on
 */
export async function joinLeadership(parts: LeadershipParts): Promise<Leadership> {
  const seat = planeSlotOf(parts);
  await seat.join();
  const leadership = startLeadership(parts, seat);
  await leadership.begun;
  return leadership;
}

/** Takes part in leading, with all other planes on the same store. */
export function startLeadership(
  parts: LeadershipParts,
  seat: PlaneSlot = planeSlotOf(parts),
): Leadership & { readonly begun: Promise<void> } {
  const { store, log, onCompany = endProcess, now = () => performance.now() } = parts;
  const { self } = seat;
  const held = new LeasedShares();
  const listeners = new Set<() => unknown>();
  /** Workspaces whose log is damaged: what others wrote in them is not known, and keeps nobody from leading the others. */
  let damaged: readonly string[] = [];
  let [renewAt, resumeAt, planes, changes, told] = [0, 0, 0, 0, ''];
  let problem: string | undefined;
  let [timer, endTimer]: (NodeJS.Timeout | undefined)[] = [];
  let running: Promise<void> | undefined;
  let reading: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;

  async function round(): Promise<void> {
    if (now() < resumeAt) return;
    if (!seat.isHeld && problem !== undefined && !(await canRead())) return;
    const states = await store.leases(PREFIX);
    const isDue = now() >= renewAt;
    const renewedAt = now();
    if (isDue || !seat.isHeld) await seat.take(states);
    const living = states.flatMap(({ name, holder }) => (name.startsWith(PLANES) ? (holder ?? []) : []));
    const inPlay = seat.isHeld ? [...living, self] : living.filter((plane) => plane !== self);
    planes = new Set(inPlay).size;
    const holders = new Map(states.map(({ name, holder }) => [name, holder]));
    const shares = Array.from({ length: SHARES }, (_, share) => holders.get(leaseOf(share)));
    const { take, give } = movesOf(self, { planes: inPlay, shares });
    const own = shares.flatMap((holder, share) => (holder === self && !give.includes(share) ? [share] : []));
    const isRenewed = isDue && (await renew(own.filter((share) => held.has(share))));
    await acquire([...(isDue && !isRenewed ? own : own.filter((share) => !held.has(share))), ...take]);
    if (isDue) renewAt = renewedAt + RENEW_MS;
    for (const share of held.all()) if (shares[share] !== self && !take.includes(share)) held.lost(share);
    await begin(shares.some((holder) => holder !== undefined && holder !== self));
    if (give.length > 0) await giveAway(give);
  }

  /** Renews all that this plane holds in one write. @returns false where each has to be asked for by itself */
  async function renew(shares: readonly number[]): Promise<boolean> {
    if (shares.length === 0) return true;
    const askedAt = now();
    const tenures = shares.map((share) => ({ share, fence: held.fenceOf(share) ?? 0 }));
    const fences = tenures.map(({ share, fence }) => ({ lease: leaseOf(share), fence }));
    if (!(await store.renew(fences, self, LEASE_MS))) return false;
    for (const { share, fence } of tenures) if (held.fenceOf(share) === fence) held.acquired(share, fence, askedAt);
    return true;
  }

  async function acquire(shares: readonly number[]): Promise<void> {
    await Promise.all(
      shares.map(async (share) => {
        const askedAt = now();
        const lease = await store.acquire(leaseOf(share), self, LEASE_MS);
        if (lease) held.acquired(share, lease.fence, askedAt);
        else held.lost(share);
      }),
    );
  }

  /**
   * Leads what is held, once all that former leaders wrote was told here.
   *
   * @param othersHold some shares: where nobody does, nobody could do better, and it goes on trying
   */
  async function begin(othersHold: boolean): Promise<void> {
    // A share that was another's in between is told of as lost first, and then as gained.
    void tell();
    if (held.waiting().length > 0 || suspects().length > 0) {
      try {
        // A reading that takes longer than a round goes on beside the next: a slow store would be slow for each new question
        // too.
        reading ??= inTime(catchUp(), ROUND_MS).finally(() => {
          reading = undefined;
        });
        await inTime(reading);
      } catch (error) {
        cannotRead(error);
        if (othersHold) await resign(error);
        return;
      }
    }
    problem = undefined;
    void tell();
  }

  /** Leads those tenures of shares that had begun before it asked what others wrote in them. */
  async function catchUp(): Promise<void> {
    const gained = held.waiting().map((share) => [share, held.fenceOf(share)] as const);
    const known = await store.workspaces();
    const gaining = known.filter((workspace) => gained.some(([share]) => share === shareOf(workspace)));
    damaged = await damagedOf([...new Set([...gaining, ...suspects(), SYSTEM_WORKSPACE])]);
    for (const [share, fence] of gained) if (held.fenceOf(share) === fence) held.lead(share);
  }

  /** Workspaces of its shares whose log was damaged when it was read last. */
  function suspects(): readonly string[] {
    return [...damaged, ...store.damaged()].filter((workspace) => held.has(shareOf(workspace)));
  }

  /** Is told what others wrote in all of them. @returns those where it cannot be, because their log is damaged */
  async function damagedOf(workspaces: readonly string[]): Promise<readonly string[]> {
    try {
      await store.caughtUp(workspaces);
      return [];
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    const each = workspaces.map(async (workspace) => {
      const error = await store.caughtUp([workspace]).catch((reason: unknown) => reason);
      if (error === undefined) return [];
      if (workspace === SYSTEM_WORKSPACE || !isDamage(error)) throw error;
      return [workspace];
    });
    return (await Promise.all(each)).flat();
  }

  function cannotRead(error: unknown): void {
    problem = `it cannot read what others write: ${(error as Error).message}`;
  }

  /**
   * True if this plane can read again. A plane that resigned comes back no sooner: two on a slow store would resign for each
   * other.
   */
  async function canRead(): Promise<boolean> {
    try {
      await inTime(store.caughtUp([SYSTEM_WORKSPACE]), ROUND_MS / 2);
      return true;
    } catch (error) {
      cannotRead(error);
      return false;
    }
  }

  /** So that somebody leads who can. */
  async function resign(error: unknown): Promise<void> {
    log.warn({ error: String(error) }, 'this control plane leads no workspace now: it cannot read what others write');
    resumeAt = now() + RESIGNED_MS;
    await giveAway(held.all());
    await seat.leave();
  }

  async function giveAway(shares: readonly number[]): Promise<void> {
    for (const share of shares) held.leave(share);
    await inTime(tell()).catch(() => undefined);
    // By then what is still under way is refused at its commit.
    for (const share of shares) held.lost(share);
    await Promise.all(shares.map((share) => store.release(leaseOf(share), self)));
  }

  /** Tells what is led now, if that is something else; resolves once what is no longer led has ended. */
  async function tell(): Promise<void> {
    held.expire(now());
    clearTimeout(endTimer);
    const { endsAt } = held;
    if (endsAt !== undefined) {
      endTimer = setTimeout(() => void tell(), Math.max(0, Math.min(endsAt - now(), LEASE_MS))).unref();
    }
    const led = [...held.led(now()), ...damaged].join();
    if (led === told) return;
    told = led;
    changes += 1;
    log.debug({ shares: led }, 'this control plane leads other workspaces now');
    await Promise.all(
      [...listeners].map(async (listener) => {
        try {
          await listener();
        } catch (error) {
          log.error({ error: String(error) }, 'a change of leadership was not followed');
        }
      }),
    );
  }

  function next(): void {
    if (stopping !== undefined) return;
    running = inTime(round(), ROUND_MS)
      .catch((error: unknown) => {
        if (error instanceof NotAloneError) onCompany(error);
        if (problem === undefined) log.warn({ error: String(error) }, 'leases cannot be renewed: they are tried again');
        problem = `leases cannot be renewed: ${(error as Error).message}`;
        void tell();
      })
      .finally(() => {
        timer = setTimeout(next, POLL_MS);
      });
  }
  next();

  return {
    begun: running ?? Promise.resolve(),
    leads: (workspace) =>
      stopping === undefined && !damaged.includes(workspace) && held.leads(shareOf(workspace), now()),
    under(inner, workspace) {
      const share = shareOf(workspace);
      const fence = held.fenceOf(share);
      return fencedStore(inner, { lease: leaseOf(share), fence });
    },
    onChange(listener) {
      const own = () => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    state: () => ({
      shares: held.led(now()).length,
      all: SHARES,
      planes,
      changes,
      ...(problem !== undefined && { problem }),
      ...(damaged.length > 0 && { damaged }),
    }),
    stop() {
      stopping ??= (async () => {
        clearTimeout(timer);
        await inTime(running ?? Promise.resolve()).catch(() => undefined);
        clearTimeout(timer);
        try {
          await inTime(giveAway(held.all()).then(() => seat.leave()));
        } catch (error) {
          log.warn({ error: String(error) }, 'leases could not be given back: others wait until they are over');
        }
        clearTimeout(endTimer);
      })();
      return stopping;
    },
  };
}

/** A name that no other process has, nor had. */
export function planeName(): string {
  return `${hostname()}/${process.pid}/${randomBytes(6).toString('hex')}`;
}

/** The names of all that live on a store. */
export async function livePlanes(store: Pick<Store, 'leases'>): Promise<string[]> {
  return (await store.leases(PLANES)).flatMap(({ holder }) => holder ?? []);
}

function planeSlotOf({ store, self, isAlone = false, now = () => performance.now() }: LeadershipParts): PlaneSlot {
  return new PlaneSlot({ store, name: self ?? planeName(), isAlone, now });
}

function isDamage(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'lost';
}

/** @throws Error where it takes too long, and as it does */
function inTime<T>(work: Promise<T>, ms = END_MS): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it took more than ${ms / 1_000} s`)), ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
