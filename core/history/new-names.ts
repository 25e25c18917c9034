import type { RecordVersion } from '../base/ports.ts';
import type { PeerRecord, PresenceRecord } from '../model/resources.ts';
import type { NetworkState } from '../state/state.ts';

/** Names in another state of the peers that have a different name there, by uid. */
export type NewNames = ReadonlyMap<string, string>;

/**
 * The peers of a state that another one has under another name. Without those whose name there was that of a peer here
 * that is gone there: two peers of one state cannot be called alike.
 */
export function newNames(state: NetworkState, other: NetworkState): NewNames {
  const there = new Map([...other.peers.values()].map(({ uid, name }) => [uid, name]));
  const found = new Map<string, string>();
  for (const { uid, name } of state.peers.values()) {
    const now = there.get(uid);
    if (now !== undefined && now !== name) found.set(uid, now);
  }
  for (;;) {
    const taken = [...found].filter(([, name]) => {
      const holder = state.peers.get(name);
      return holder !== undefined && !found.has(holder.uid);
    });
    if (taken.length === 0) return found;
    for (const [uid] of taken) found.delete(uid);
  }
}

/** Peers as they are, by what they are called in the other state. */
export function byNewName(peers: NetworkState['peers'], names: NewNames): NetworkState['peers'] {
  if (names.size === 0) return peers;
  return new Map([...peers.values()].map((peer) => [names.get(peer.uid) ?? peer.name, peer]));
}

/** A state whose peers are called by their new names: ids are what peers are compared by. */
export function withNewNames(state: NetworkState, names: NewNames): NetworkState {
  if (names.size === 0) return state;
  const called = new Map<string, string>();
  const peers = new Map<string, PeerRecord>();
  for (const [name, peer] of byNewName(state.peers, names)) {
    called.set(peer.name, name);
    peers.set(name, name === peer.name ? peer : { ...peer, name });
  }
  const presence = new Map<string, PresenceRecord>();
  for (const record of state.presence.values()) {
    const name = called.get(record.name) ?? record.name;
    presence.set(name, name === record.name ? record : { ...record, name });
  }
  return { ...state, peers, presence };
}

/** Versions of peers under their new names; that a peer is gone from the old name is no deletion. */
export function underNewNames(
  versions: readonly RecordVersion[],
  older: NetworkState,
  names: NewNames,
): readonly RecordVersion[] {
  if (names.size === 0) return versions;
  const holders = new Map([...older.peers.values()].map(({ name, uid }) => [name, uid]));
  return versions.flatMap((version) => {
    const uid = version.record?.uid ?? holders.get(version.name);
    if (version.record) holders.set(version.name, version.record.uid);
    else holders.delete(version.name);
    const name = uid === undefined ? undefined : names.get(uid);
    if (name === undefined || version.name === name) return [version];
    return version.record ? [{ ...version, name, record: { ...version.record, name } }] : [];
  });
}
