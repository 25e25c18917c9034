import type { Caller } from './caller.ts';
import { MeshError } from './errors.ts';

/** Under whose name something is held: a workspace; a principal, which is a person or a root agent with its line; a sub-agent. */
export interface QuotaKey {
  readonly kind: QuotaKind;
  readonly id: string;
}

export type QuotaKind = keyof typeof PARTS;

/**
 * How much one may hold for each that is free. A share shrinks as others hold more and something stays free for who
 * comes next (the dynamic thresholds of Choudhury and Hahne, which share a switch's memory among its ports). Of 1,000:
 *
 *   one workspace alone       held < free              500
 *   each of two workspaces    held < free              333, and 333 stay free
 *   one principal alone       held < (free - held) / 8 100
 *   each of eight principals  in one workspace          41, and 334 stay for others of it
 *   one sub-agent alone       half of what its line has 39
 */
const PARTS = { workspace: 1, principal: 1 / 8, agent: 1 / 2 } as const;

/** Whose shares a caller takes from in these workspaces, the widest first. */
export function quotaKeysOf(
  { id, line = [] }: Pick<Caller, 'id' | 'line'>,
  workspaces: readonly string[],
): readonly QuotaKey[] {
  const principal = line.at(-1) ?? id;
  return [
    ...[...new Set(workspaces)].map((workspace): QuotaKey => ({ kind: 'workspace', id: workspace })),
    { kind: 'principal', id: principal },
    ...(principal === id ? [] : [{ kind: 'agent', id } as const]),
  ];
}

export type QuotaSlot =
  | { readonly ok: true /** Gives it back; more than once is no error. */; readonly release: () => void }
  /** Whose share is used up; none when nothing at all is free. */
  | { readonly ok: false; readonly key: QuotaKey | undefined };

export interface Quotas {
  acquire(keys: readonly QuotaKey[]): QuotaSlot;
  /** As `acquire`, and answers its release. @throws MeshError `rate_limited` that names the limit */
  take(keys: readonly QuotaKey[]): () => void;
  readonly held: number;
}

/** Shares out so many of one thing, such as `event streams`. */
export function createQuotas(what: string, total: number): Quotas {
  const holdings = new Map<string, number>();
  let held = 0;

  function add(keys: readonly QuotaKey[], by: 1 | -1): void {
    held += by;
    for (const name of keys.map(quotaName)) {
      const count = (holdings.get(name) ?? 0) + by;
      if (count === 0) holdings.delete(name);
      else holdings.set(name, count);
    }
  }

  function acquire(keys: readonly QuotaKey[]): QuotaSlot {
    const holding = keys.map((each) => holdings.get(quotaName(each)) ?? 0);
    const key = exhaustedKey(keys, total - held, holding);
    if (key || held >= total) return { ok: false, key };
    add(keys, 1);
    let released = false;
    return {
      ok: true,
      release() {
        if (!released) add(keys, -1);
        released = true;
      },
    };
  }

  return {
    acquire,
    take(keys) {
      const acquired = acquire(keys);
      if (acquired.ok) return acquired.release;
      throw quotaExceeded(what, acquired.key);
    },
    get held() {
      return held;
    },
  };
}

/**
 * The first of these keys whose share is used up, where so many are free and each key holds so many. What each leaves is
 * shared out under the next, narrower one.
 */
export function exhaustedKey(
  keys: readonly QuotaKey[],
  free: number,
  holding: readonly number[],
): QuotaKey | undefined {
  let room = free;
  return keys.find((key, index) => {
    room = room * PARTS[key.kind] - (holding[index] ?? 0);
    return room <= 0;
  });
}

/** Seconds; about as long as a client of streams waits before it opens one again. */
const RETRY_AFTER_SECONDS = 30;

/** Returns the error for a caller whose quota is used up, or for everyone when all are taken. */
export function quotaExceeded(what: string, key: QuotaKey | undefined): MeshError {
  const whose = { workspace: "This workspace's share", principal: 'Your share', agent: 'Your share' };
  const detail = key
    ? `${whose[key.kind]} of the ${what} is in use: close one, or try again later.`
    : `All ${what} are in use: try again later.`;
  return new MeshError('rate_limited', detail, {
    limit: what,
    ...(key && { share: key.kind }),
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** Returns the name under which a holder is counted. */
export function quotaName({ kind, id }: QuotaKey): string {
  return `${kind} ${id}`;
}
