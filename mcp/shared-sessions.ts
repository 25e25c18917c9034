import { z } from 'zod';
import { memoryCells } from '../core/base/memory-cells.ts';
import type { Clock } from '../core/base/ports.ts';
import { exhaustedKey, type QuotaKey, quotaExceeded, quotaName } from '../core/base/quotas.ts';
import type { Cell, Cells, SharedState } from '../core/base/shared.ts';

/** Resources that one session or subscription watches. */
export const MAX_WATCHED = 100;
/** When a session was used is written down no more often. */
const TOUCH_MS = 10_000;
/** Each control plane says so often that it has the stream of a session. */
export const STREAM_TOUCH_MS = 60_000;

const sharedSession = z.object({
  /** Uid of the credential that opened it: no other can use it. */
  tokenId: z.string(),
  /** The parameters of `initialize`, by which any control plane can take it up. */
  client: z.record(z.string(), z.unknown()),
  watched: z.array(z.string()),
  /** The event stream that is told; of another one, which may be open elsewhere, nothing more comes. */
  stream: z.string().optional(),
});
export type SharedSession = z.infer<typeof sharedSession>;

export interface SharedSessionsOptions {
  readonly clock: Clock;
  /** Kept with other control planes; in this process's memory where there is none. */
  readonly shared: Pick<SharedState, 'cells'> | undefined;
  readonly maxSessions: number;
  readonly idleMs: number;
}

/** The sessions of the 2025 era as all control planes know them: shared out, and over when idle. */
export interface SharedSessions {
  /**
   * Keeps one. Where its share is used up the one of that share that was idle for longest gives way.
   *
   * @returns the id of the one that gave way. @throws MeshError `rate_limited` where all of the share are in use
   */
  open(
    id: string,
    session: Pick<SharedSession, 'tokenId' | 'client'>,
    keys: readonly QuotaKey[],
  ): Promise<string | undefined>;
  /** Returns a session and records that it is in use; undefined if there is none, or it belongs to another credential. */
  use(id: string, tokenId: string): Promise<SharedSession | undefined>;
  of(ids: readonly string[]): Promise<ReadonlyMap<string, SharedSession>>;
  watch(id: string, uri: string): Promise<void>;
  unwatch(id: string, uri: string): Promise<void>;
  /** A stream was opened, or goes on. */
  stream(id: string, stream: string, options?: { readonly goesOn: boolean }): Promise<void>;
  streamEnded(id: string, stream: string): Promise<void>;
  end(id: string): Promise<void>;
}

export function buildSharedSessions({ clock, shared, maxSessions, idleMs }: SharedSessionsOptions): SharedSessions {
  const cells: Cells<SharedSession> =
    shared?.cells('mcp-session', (value) => sharedSession.safeParse(value).data) ?? memoryCells(clock, 2 * maxSessions);
  let opening: Promise<unknown> = Promise.resolve();

  /** A stream makes it end later than any that has none, so that those make room first. */
  function endOf({ stream }: SharedSession): number {
    return clock.now() + idleMs + (stream === undefined ? 0 : 2 * STREAM_TOUCH_MS);
  }

  /** Without a stream, or with one whose control plane is gone. */
  function isIdle({ value, expiresAt }: Cell<SharedSession>): boolean {
    return value.stream === undefined || expiresAt < clock.now() + idleMs;
  }

  function alter(id: string, change: (session: SharedSession) => SharedSession): Promise<void> {
    return cells.change(id, (cell) => {
      const value = cell && change(cell.value);
      return { cell: value && { ...cell, value, expiresAt: endOf(value) }, result: undefined };
    });
  }

  async function makeRoom(keys: readonly QuotaKey[]): Promise<string | undefined> {
    const full = await usedUpOf(keys);
    if (!full) return undefined;
    const oldest = full.key && (await cells.firstToEnd(quotaName(full.key)));
    const gaveWay =
      oldest !== undefined &&
      (await cells.change(oldest, (cell) =>
        cell && isIdle(cell) ? { cell: undefined, result: true } : { cell, result: false },
      ));
    const still = await usedUpOf(keys);
    if (still) throw quotaExceeded('MCP sessions', still.key);
    return gaveWay ? oldest : undefined;
  }

  async function usedUpOf(keys: readonly QuotaKey[]): Promise<{ readonly key: QuotaKey | undefined } | undefined> {
    const { all, tagged } = await cells.count(keys.map(quotaName));
    const key = exhaustedKey(keys, maxSessions - all, tagged);
    return key || all >= maxSessions ? { key } : undefined;
  }

  return {
    open(id, { tokenId, client }, keys) {
      // Sessions open one after the other, so that each sees those before it.
      const opened = opening.then(async () => {
        const gaveWay = await makeRoom(keys);
        const value: SharedSession = { tokenId, client, watched: [] };
        const cell = { value, expiresAt: endOf(value), tags: keys.map(quotaName) };
        await cells.change(id, () => ({ cell, result: undefined }));
        return gaveWay;
      });
      opening = opened.catch(() => undefined);
      return opened;
    },
    async use(id, tokenId) {
      const cell = (await cells.read([id])).get(id);
      if (cell?.value.tokenId !== tokenId) return undefined;
      if (endOf(cell.value) - cell.expiresAt >= TOUCH_MS) await alter(id, (session) => session);
      return cell.value;
    },
    async of(ids) {
      const found = await cells.read(ids);
      return new Map([...found].map(([id, { value }]) => [id, value]));
    },
    watch: (id, uri) =>
      alter(id, (session) => ({ ...session, watched: [...new Set([...session.watched, uri])].slice(0, MAX_WATCHED) })),
    unwatch: (id, uri) =>
      alter(id, (session) => ({ ...session, watched: session.watched.filter((watched) => watched !== uri) })),
    stream: (id, stream, { goesOn } = { goesOn: false }) =>
      alter(id, (session) => (goesOn && session.stream !== stream ? session : { ...session, stream })),
    streamEnded: (id, ended) =>
      alter(id, ({ stream, ...session }) => (stream === ended ? session : { ...session, ...(stream && { stream }) })),
    end: (id) => cells.change(id, () => ({ cell: undefined, result: undefined })),
  };
}
