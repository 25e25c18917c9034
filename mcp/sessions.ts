import { randomUUID } from 'node:crypto';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import type { Server } from '@modelcontextprotocol/server';
import { type MeshError, toProblem } from '../core/base/errors.ts';
import { createShares, type ShareKey } from '../core/base/shares.ts';
import type { Watching } from './server.ts';

export interface SessionLimits {
  /** Sessions in this process. */
  readonly maxSessions?: number;
  /** A session that nobody used for so long ends. */
  readonly idleMs?: number;
}

const MAX_SESSIONS = 2_000;
const IDLE_MS = 30 * 60_000;
/** Resources that one session or subscription watches. */
export const MAX_WATCHED = 100;

export interface Session {
  readonly transport: NodeStreamableHTTPServerTransport;
  readonly server: Server;
  /** Uid of the credential that opened it: no other can use it. */
  readonly tokenId: string;
  readonly watched: Set<string>;
  usedAt: number;
  /** Requests and streams under way; such a session is not idle. */
  active: number;
  /** Calls among them, which are answered before a stop ends the session. */
  calls: number;
  /** Given back when the session ends. */
  readonly holds: DisposableStack;
}

export interface Opening {
  readonly tokenId: string;
  readonly keys: readonly ShareKey[];
  build(watching: Watching): Server;
}

export interface Sessions {
  /** Undefined for an unknown session, or one of another credential. */
  find(id: string, tokenId: string): Session | undefined;
  /** A session that is listed once its client has initialized it. @throws MeshError `rate_limited` */
  open(opening: Opening): Promise<Session>;
  /** Tells each session that watches one of these. */
  notify(uris: ReadonlySet<string>): void;
  readonly size: number;
  /** Ends one, listed or not, and tells its client why. */
  end(session: Session, reason?: MeshError): void;
  /** Ends one that its client has not initialized. */
  endUnlisted(session: Session): void;
  endAll(): void;
  close(): void;
}

/** Sessions of the 2025 era: shared out, tied to the credential that opened them, ended when idle. */
export function createSessions(
  { maxSessions = MAX_SESSIONS, idleMs = IDLE_MS }: SessionLimits,
  now: () => number,
): Sessions {
  const sessions = new Map<string, Session>();
  const shares = createShares('MCP sessions', maxSessions);
  const keysOf = new WeakMap<Session, readonly ShareKey[]>();
  const sweep = setInterval(endIdle, Math.min(idleMs, 60_000));
  sweep.unref();

  function end(session: Session, reason?: MeshError): void {
    const id = session.transport.sessionId;
    if (id !== undefined) sessions.delete(id);
    session.holds.dispose();
    void leave(session, reason);
  }

  function endAll(): void {
    for (const session of sessions.values()) end(session);
  }

  function endIdle(): void {
    for (const session of sessions.values()) {
      if (session.active === 0 && now() - session.usedAt > idleMs) end(session);
    }
  }

  /** Ends the one idle for longest among those that take from a share. */
  function makeRoom({ kind, id }: ShareKey): void {
    const takes = (session: Session) => keysOf.get(session)?.some((key) => key.kind === kind && key.id === id);
    const idle = [...sessions.values()].filter((session) => session.active === 0 && takes(session));
    const [oldest] = idle.sort((a, b) => a.usedAt - b.usedAt);
    if (oldest) end(oldest);
  }

  return {
    find(id, tokenId) {
      const session = sessions.get(id);
      if (session?.tokenId !== tokenId) return undefined;
      session.usedAt = now();
      return session;
    },
    async open({ tokenId, keys, build }) {
      const first = shares.acquire(keys);
      if (!first.ok && first.key) makeRoom(first.key);
      const holds = new DisposableStack();
      holds.defer(first.ok ? first.release : shares.take(keys));
      const watched = new Set<string>();
      const server = build({
        watch(uri) {
          if (watched.size < MAX_WATCHED) watched.add(uri);
        },
        unwatch: (uri) => void watched.delete(uri),
      });
      const transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, session),
        onsessionclosed: () => end(session),
      });
      const session: Session = { transport, server, tokenId, watched, usedAt: now(), active: 0, calls: 0, holds };
      keysOf.set(session, keys);
      await server.connect(transport);
      return session;
    },
    notify(uris) {
      for (const { server, watched } of sessions.values()) {
        if (watched.size === 0) continue;
        for (const uri of uris) {
          // A session whose stream is gone hears nothing; it is ended when idle.
          if (watched.has(uri)) server.sendResourceUpdated({ uri }).catch(() => undefined);
        }
      }
    },
    get size() {
      return sessions.size;
    },
    end,
    endUnlisted(session) {
      const id = session.transport.sessionId;
      if (id === undefined || sessions.get(id) !== session) end(session);
    },
    endAll,
    close() {
      clearInterval(sweep);
      endAll();
    },
  };
}

async function leave({ server }: Session, reason: MeshError | undefined): Promise<void> {
  try {
    if (reason) await server.sendLoggingMessage({ level: 'warning', logger: 'mesh', data: toProblem(reason) });
  } catch {
    // Nobody listens.
  }
  await server.close().catch(() => undefined);
}
