import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import { type CommitContext, StoreError } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { hasEnded } from '../base/time.ts';
import type { NetworkServices } from '../state/services.ts';
import type { SessionRecord } from './sessions.ts';

const MINUTE_MS = 60_000;
/** Sessions remembered; one that makes room is read from the store when it is used again. */
const MAX_SESSIONS = 100_000;

interface Use {
  at: number;
  /** The latest use that the store knows. */
  keptAt: number;
}

/** When sessions were last used, where those that are not end. */
export interface SessionUse {
  /** Takes note of a session as it is stored. @returns whether it ended by not being used */
  learn(session: SessionRecord): boolean;
  /** @returns whether the session goes on by what is known here; else it has to be learnt first */
  goesOn(session: string, isUse: boolean): boolean;
  /** Ends the idle ones, and keeps when the others were used; each minute, and at the end. */
  flush(options?: { readonly isLast?: boolean }): Promise<void>;
  /** Message for a caller whose session ended. */
  readonly words: string;
}

/** A quarter of the idle time, so that the store is told of a session in use a few times in it and no more. */
const WRITE_FRACTION = 4;

export function buildSessionUse({
  store,
  clock,
  settings,
}: Pick<NetworkServices, 'store' | 'clock' | 'settings'>): SessionUse {
  const { idleMs } = settings.signIn;
  const uses = new Map<string, Use>();
  const words = `Signed out after ${wordsOf(idleMs ?? 0)} without use: log in again.`;
  if (idleMs === undefined) return { learn: () => false, goesOn: () => true, flush: async () => undefined, words };
  const keepEachMs = Math.max(MINUTE_MS, Math.floor(idleMs / WRITE_FRACTION));
  /** So long after what is kept it may have been used elsewhere, and none is ended too early for that. */
  const elsewhereMs = settings.sharesStore ? keepEachMs + MINUTE_MS : 0;

  function isIdle({ at, keptAt }: Use): boolean {
    return clock.now() - Math.max(at, keptAt + elsewhereMs) >= (idleMs ?? Number.POSITIVE_INFINITY);
  }

  async function keepUse(name: string, use: Use): Promise<void> {
    const session = await store.get(SYSTEM_WORKSPACE, { kind: 'Session', name });
    if (!session || session.spec.idle || hasEnded(session.spec, clock.now())) {
      uses.delete(name);
      return;
    }
    use.keptAt = Math.max(use.keptAt, storedAtOf(session));
    const ended = isIdle(use);
    // Another control plane has kept a later use.
    if (!ended && use.at <= use.keptAt) return;
    const reason = ended ? 'a session was not used for too long' : 'a session is in use';
    const context: CommitContext = { actor: 'system:session-use', reason, requestId: newId('r') };
    const spec = ended ? { ...session.spec, idle: true as const } : { ...session.spec, usedAt: use.at };
    const event = { type: 'session_idle', actor: `user:${spec.username}`, result: 'ok' } as const;
    const op = { op: 'update', record: { ...draftOf(session), spec }, revision: session.revision } as const;
    try {
      await store.commit(SYSTEM_WORKSPACE, [op], { ...context, ...(ended && { securityEvents: [event] }) });
    } catch (error) {
      // It was ended or written meanwhile: the next minute sees to it.
      if (!(error instanceof StoreError) || error.isOutage) throw error;
      return;
    }
    if (ended) uses.delete(name);
    else use.keptAt = spec.usedAt ?? use.keptAt;
  }

  return {
    words,
    learn(session) {
      const { uid, spec } = session;
      if (spec.idle) return true;
      // After a restart: it may have been used for so long after what was kept, and is not ended too early.
      const keptAt = storedAtOf(session);
      const use = uses.get(uid) ?? { at: keptAt + keepEachMs, keptAt };
      use.at = Math.min(use.at, clock.now());
      use.keptAt = Math.max(use.keptAt, keptAt);
      if (uses.size >= MAX_SESSIONS) {
        const [oldest] = uses.keys();
        if (oldest !== undefined) uses.delete(oldest);
      }
      uses.set(uid, use);
      return isIdle(use);
    },
    goesOn(session, isUse) {
      const use = uses.get(session);
      if (!use || isIdle(use)) return false;
      if (isUse) use.at = clock.now();
      return true;
    },
    async flush({ isLast = false } = {}) {
      for (const [name, use] of [...uses]) {
        const isDue = use.at > use.keptAt && (isLast || use.at - use.keptAt >= keepEachMs);
        if (isDue || isIdle(use)) await keepUse(name, use);
      }
    },
  };
}

function storedAtOf({ spec, createdAt }: SessionRecord): number {
  return spec.usedAt ?? createdAt;
}

function wordsOf(ms: number): string {
  const minutes = Math.round(ms / MINUTE_MS);
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}
