import { heartbeatTimes, LONGEST_ONLINE_MS } from './heartbeat-times.ts';
import type { Liveness } from './services.ts';

/** Comings and goings of a peer that are recorded as it says them; of more, how it is in the end, each so often. */
const RECORDED_AT_ONCE = 4;
const RECORDED_EACH_MS = 60_000;

/** A key counts as shared for so long after both machines that use it were heard. */
export const KEY_SHARED_MS = 10 * 60_000;

interface PeerLiveness {
  at?: number;
  /** Longest silence while it is online, ms. */
  onlineMs?: number;
  /** Latest presence that is not recorded yet. */
  isHere?: boolean;
  /** When as many as are recorded at once are so again. */
  restedAt?: number;
  version?: string;
  mismatch?: string;
  keySharedAt?: number;
}

/**
 * Hearings in memory. Only peers that exist are told to it, and `forget` goes with their deletion, so it holds a few
 * numbers and two texts a peer.
 */
export function buildLiveness(): Liveness {
  const byWorkspace = new Map<string, Map<string, PeerLiveness>>();
  const of = (workspace: string, peerUid: string) => byWorkspace.get(workspace)?.get(peerUid);
  const entry = (workspace: string, peerUid: string): PeerLiveness => {
    const peers = byWorkspace.get(workspace) ?? new Map<string, PeerLiveness>();
    byWorkspace.set(workspace, peers);
    const heard = peers.get(peerUid) ?? {};
    peers.set(peerUid, heard);
    return heard;
  };
  return {
    heard(workspace, peerUid, at, wire) {
      const heard = entry(workspace, peerUid);
      heard.at = Math.max(heard.at ?? at, at);
      heard.onlineMs = heartbeatTimes(wire).online;
      delete heard.mismatch;
      if (heard.keySharedAt !== undefined && at - heard.keySharedAt >= KEY_SHARED_MS) delete heard.keySharedAt;
    },
    lastSeen: (workspace, peerUid) => of(workspace, peerUid)?.at,
    onlineMs: (workspace, peerUid) => of(workspace, peerUid)?.onlineMs ?? LONGEST_ONLINE_MS,
    countOnline(now) {
      let count = 0;
      for (const peers of byWorkspace.values()) {
        for (const { at = -Infinity, onlineMs = 0 } of peers.values()) if (now - at < onlineMs) count += 1;
      }
      return count;
    },
    said(workspace, peerUid, version) {
      entry(workspace, peerUid).version = version;
    },
    version: (workspace, peerUid) => of(workspace, peerUid)?.version,
    mismatched(workspace, peerUid, why) {
      entry(workspace, peerUid).mismatch = why;
    },
    mismatch: (workspace, peerUid) => of(workspace, peerUid)?.mismatch,
    keyShared(workspace, peerUid, at) {
      const heard = entry(workspace, peerUid);
      const isNew = heard.keySharedAt === undefined;
      heard.keySharedAt = at;
      return isNew;
    },
    keySharedAt: (workspace, peerUid) => of(workspace, peerUid)?.keySharedAt,
    mayRecord(workspace, peerUid, now) {
      const heard = entry(workspace, peerUid);
      const restedAt = Math.max(heard.restedAt ?? now, now) + RECORDED_EACH_MS;
      if (restedAt - now > RECORDED_AT_ONCE * RECORDED_EACH_MS) return false;
      heard.restedAt = restedAt;
      return true;
    },
    keepUnrecorded(workspace, peerUid, isHere) {
      entry(workspace, peerUid).isHere = isHere;
    },
    recorded(workspace, peerUid) {
      const heard = of(workspace, peerUid);
      if (heard) delete heard.isHere;
    },
    leaveUnrecorded(isOthers) {
      for (const [workspace, peers] of byWorkspace) {
        if (isOthers(workspace)) for (const heard of peers.values()) delete heard.isHere;
      }
    },
    isHere: (workspace, peerUid) => of(workspace, peerUid)?.isHere,
    unrecorded(workspace) {
      const peers = byWorkspace.get(workspace) ?? new Map<string, PeerLiveness>();
      return [...peers].flatMap(([uid, { isHere }]) => (isHere === undefined ? [] : [uid]));
    },
    forget(workspace, peerUid) {
      const peers = byWorkspace.get(workspace);
      peers?.delete(peerUid);
      if (peers?.size === 0) byWorkspace.delete(workspace);
    },
  };
}
