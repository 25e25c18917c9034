import { memoize } from '../../base/memoize.ts';
import type { StoredRecord } from '../../base/record.ts';
import { parseInstant } from '../../base/time.ts';
import { publicKeyFlaw } from '../../model/public-key.ts';
import type { PeerRecord } from '../../model/resources.ts';
import { counted, holdsUnless, named } from '../check-result.ts';
import { peersInScope, type View } from '../view.ts';
import type { StateCheck } from './check.ts';
import { noneInScope } from './isolation.ts';

const DAY_MS = 86_400_000;
/** Keys are to be renewed within so long. */
export const KEY_DAYS = 365;

const flawOf = memoize(({ spec }: PeerRecord) => publicKeyFlaw(spec.publicKey) ?? '');

/** Checks that every peer in scope uses WireGuard, the only transport. */
export const encryptedPaths: StateCheck = {
  on: 'state',
  judge(view) {
    const peers = peersInScope(view);
    if (peers.length === 0) return noneInScope(view);
    const bare = peers.filter((peer) => flawOf(peer) !== '');
    return holdsUnless(
      bare.length > 0 ? [`${named(bare)} has no WireGuard key`] : [],
      `Each of ${counted(peers.length, `${view.subject} peer`)} has a WireGuard key, and the overlay has no other transport: direct or by the relay, which forwards what it cannot read.`,
    );
  },
  remedy: () => ({ text: 'The owner of the device enrols it again with a WireGuard key.', changes: [] }),
};

/** Checks that the keys of peers in scope are not too old. */
export const keyAges: StateCheck = {
  on: 'state',
  atEachMoment: true,
  judge(view) {
    const peers = peersInScope(view);
    if (peers.length === 0) return noneInScope(view);
    const old = peers.filter((peer) => isOld(view, peer));
    return holdsUnless(
      old.length > 0 ? [`${named(old)} ${old.length === 1 ? 'has' : 'have'} a key older than ${KEY_DAYS} days`] : [],
      `${counted(peers.length, 'key')} of ${view.subject} peers, none older than ${KEY_DAYS} days.`,
    );
  },
  remedy: () => ({
    text: 'The owner of each of these devices renews its key (mesh rotate-key on the device).',
    changes: [],
  }),
};

function isOld({ at }: View, peer: PeerRecord): boolean {
  return keyDeadline(peer) <= at;
}

function keyDeadline({ status, createdAt }: PeerRecord): number {
  const since = status.keySince === undefined ? createdAt : parseInstant(status.keySince);
  return since + KEY_DAYS * DAY_MS;
}

/** The instant at which the key of a peer is too old, as an own list. */
export function keyDeadlines(record: StoredRecord): number[] {
  return record.kind === 'MeshPeer' ? [keyDeadline(record)] : [];
}
