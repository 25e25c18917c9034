import { randomUUID } from 'node:crypto';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import type { Server } from '@modelcontextprotocol/server';
import { MeshError } from '../core/errors.ts';
import type { Watching } from './server.ts';

export interface SessionLimits {
  /** Sessions in this process. */
  readonly maxSessions?: number;
  /** Sessions of one credential; past it the one idle for longest ends. */
  readonly maxPerToken?: number;
  /** A session that nobody used for so long ends. */
  readonly idleMs?: number;
}

const MAX_SESSIONS = 2_000;
const MAX_PER_TOKEN = 32;
const IDLE_MS = 30 * 60_000;
const MAX_WATCHED = 100;

export interface Session {
  readonly transport: NodeStreamableHTTPServerTransport;
  readonly server: Server;
  /** Uid of the credential that opened it: no other can use it. */
  readonly tokenId: string;
  readonly watched: Set<string>;
  usedAt: number;
  /** Requests and streams under way; such a session is not idle. */
  active: number;
}

export interface Sessions {
  /** Undefined for an unknown session, or one of another credential. */
  find(id: string, tokenId: string): Session | undefined;
  /** A session that is listed once its client has initialized it. @throws MeshError `rate_limited` when all are in use. */
  open(tokenId: string, build: (watching: Watching) => Server): Promise<Session>;
  /** Tells each session that watches one of these. */
  notify(uris: ReadonlySet<string>): void;
  readonly size: number;
  endAll(): void;
  close(): void;
}

/** Sessions of the 2025 era: bounded, tied to the credential that opened them, ended when idle. */
export function createSessions(
  { maxSessions = MAX_SESSIONS, maxPerToken = MAX_PER_TOKEN, idleMs = IDLE_MS }: SessionLimits,
  now: () => number,
): Sessions {
  const sessions = new Map<string, Session>();
  const sweep = setInterval(endIdle, Math.min(idleMs, 60_000));
  sweep.unref();

  function end(id: string): void {
    const session = sessions.get(id);
    if (!sessions.delete(id) || !session) return;
    session.server.close().catch(() => undefined);
  }

  function endAll(): void {
    for (const id of sessions.keys()) end(id);
  }

  function endIdle(): void {
    for (const [id, { usedAt, active }] of sessions) if (active === 0 && now() - usedAt > idleMs) end(id);
  }

  /** Ends the one idle for longest among those that match. */
  function makeRoom(matches: (session: Session) => boolean): boolean {
    const idle = [...sessions].filter(([, session]) => session.active === 0 && matches(session));
    const [oldest] = idle.sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (oldest) end(oldest[0]);
    return oldest !== undefined;
  }

  return {
    find(id, tokenId) {
      const session = sessions.get(id);
      if (session?.tokenId !== tokenId) return undefined;
      session.usedAt = now();
      return session;
    },
    async open(tokenId, build) {
      const own = [...sessions.values()].filter((session) => session.tokenId === tokenId).length;
      const room =
        (own < maxPerToken || makeRoom((session) => session.tokenId === tokenId)) &&
        (sessions.size < maxSessions || makeRoom(() => true));
      if (!room) {
        throw new MeshError('rate_limited', 'Too many MCP sessions are open: close one and try again.', {
          retryAfterSeconds: 30,
        });
      }
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
        onsessionclosed: (id) => void end(id),
      });
      const session: Session = { transport, server, tokenId, watched, usedAt: now(), active: 0 };
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
    endAll,
    close() {
      clearInterval(sweep);
      endAll();
    },
  };
}
