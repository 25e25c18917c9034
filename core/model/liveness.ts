import type { Liveness } from './services.ts';

/** A peer is online within so long of being heard of (docs/wire.md#requests-on-the-bus: a heartbeat every 30 s). */
export const ONLINE_MS = 90_000;

/**
 * Hearings in memory. Only peers that exist are told to it, and `forget` goes with their deletion, so it holds at most one
 * number a peer.
 */
export function buildLiveness(): Liveness {
  const byWorkspace = new Map<string, Map<string, number>>();
  return {
    heard(workspace, peerUid, at) {
      const heard = byWorkspace.get(workspace) ?? new Map<string, number>();
      byWorkspace.set(workspace, heard);
      const last = heard.get(peerUid);
      heard.set(peerUid, last === undefined ? at : Math.max(last, at));
      return last === undefined || at - last >= ONLINE_MS;
    },
    lastSeen: (workspace, peerUid) => byWorkspace.get(workspace)?.get(peerUid),
    countSince(instant) {
      let count = 0;
      for (const heard of byWorkspace.values()) for (const at of heard.values()) if (at > instant) count += 1;
      return count;
    },
    forget(workspace, peerUid) {
      const heard = byWorkspace.get(workspace);
      heard?.delete(peerUid);
      if (heard?.size === 0) byWorkspace.delete(workspace);
    },
  };
}
