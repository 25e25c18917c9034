import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import { type CommitContext, StoreError } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import type { NetworkServices } from '../state/services.ts';
import type { SessionRecord } from './sessions.ts';

const MINUTE_MS = 60_000;
/** Sessions remembered; one that makes room is read from the store when it is used again. */
const MAX_SESSIONS = 100_000;

interface Use {
  /** Here. */
  at: number;
  /** What the store knows, from here or from another control plane. */
  keptAt: number;
  /** Up to then it may have been used where that was not kept: elsewhere, or here before a restart. */
  maybeAt: number;
}

/** When sessions were last used, where those that are not end. */
export interface SessionUse {
  /** Takes note of a session as it is stored. @returns whether it ended by not being used */
  learn(session: SessionRecord): boolean;
  /** @returns whether the session goes on, as far as is known here; else it has to be learnt first */
  goesOn(session: string, isUse: boolean): boolean;
  /** Ends the idle ones, and keeps when the others were used; each minute, and at the end. */
  flush(options?: { readonly isLast?: boolean }): Promise<void>;
  /** What to tell somebody whose session ended. */
  readonly words: string;
}

/** A quarter of the idle time, so that the store is told of a session in use a few times in it and no more. */
const KEPT_SHARE = 4;

export function buildSessionUse({
  store,
  clock,
  settings,
  shared,
}: Pick<NetworkServices, 'store' | 'clock' | 'settings' | 'shared'>): SessionUse {
  const { idleMs } = settings.signIn;
  const uses = new Map<string, Use>();
  const words = `Signed out after ${wordsOf(idleMs ?? 0)} without use: log in again.`;
  if (idleMs === undefined) return { learn: () => false, goesOn: () => true, flush: async () => undefined, words };
  const keepEachMs = Math.max(MINUTE_MS, Math.floor(idleMs / KEPT_SHARE));

  function isIdle({ at, maybeAt }: Use): boolean {
    return clock.now() - Math.max(at, maybeAt) >= (idleMs ?? Number.POSITIVE_INFINITY);
  }

  /** A use that was kept, if not from here: it may have been used for so long after it, and is not ended too early. */
  function hear(use: Use, keptAt: number): void {
    if (keptAt <= use.keptAt) return;
    use.keptAt = keptAt;
    // Alone, what comes from now on is seen here.
    use.maybeAt = shared ? keptAt + keepEachMs : Math.min(keptAt + keepEachMs, clock.now());
  }

  async function keepUse(name: string, use: Use, context: CommitContext): Promise<void> {
    const session = await store.get(SYSTEM_WORKSPACE, { kind: 'Session', name });
    if (!session || session.spec.idle || session.spec.expiresAt <= clock.now()) {
      uses.delete(name);
      return;
    }
    hear(use, session.spec.usedAt ?? 0);
    const ended = isIdle(use);
    if (!ended && use.at <= use.keptAt) return;
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
    learn({ uid, spec, createdAt }) {
      if (spec.idle) return true;
      const use = uses.get(uid) ?? { at: createdAt, keptAt: 0, maybeAt: 0 };
      hear(use, spec.usedAt ?? createdAt);
      use.at = Math.min(use.at, clock.now());
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
        if (!isDue && !isIdle(use)) continue;
        const ended = isIdle(use);
        await keepUse(name, use, {
          actor: 'system:session-use',
          reason: ended ? 'a session was not used for too long' : 'a session is in use',
          requestId: newId('r'),
        });
      }
    },
  };
}

function wordsOf(ms: number): string {
  const minutes = Math.round(ms / MINUTE_MS);
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}
