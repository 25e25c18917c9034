import type { Change } from '../core/base/ports.ts';
import { isOfKind } from '../core/base/written-record.ts';
import type { PeerRecord } from '../core/model/resources.ts';
import type { Services } from '../core/workflow/services.ts';
import { NODE_JWT_MS } from '../net/bus/claims.ts';
import { nodeKeyOf } from '../net/bus/node-key.ts';
import { followKeyChanges } from './key-changes.ts';

/** A bus that knows nodes by a key: what was given to one does not hold, until the instant (ms). */
export interface RevokingBus {
  /** Takes a revocation back. */
  allow(user: string): void;
  revoke(user: string, until: number): void;
}

type RevocationServices = Pick<Services, 'store' | 'clock' | 'log' | 'keys' | 'keyAllowance'>;

/** Tells a bus of every node that lost its place or its key, and counts it; first of those that lost it before this start. */
export async function startBusRevocations(services: RevocationServices, bus: RevokingBus): Promise<{ stop(): void }> {
  const { clock, keys, keyAllowance } = services;
  const userOf = ({ uid, publicKey }: PeerKey) =>
    nodeKeyOf(keys.agree(Uint8Array.from(Buffer.from(publicKey, 'base64'))), uid).publicKey;
  return followKeyChanges(services, ({ workspace, changes, at }) => {
    const { lost, gained } = peerKeyChanges(changes);
    // By the clock that asks for room: the one that wrote may be ahead.
    keyAllowance?.lost(workspace, lost.length, Math.min(at, clock.now()));
    for (const place of gained) bus.allow(userOf(place));
    for (const place of lost) bus.revoke(userOf(place), at + NODE_JWT_MS);
  });
}

interface PeerKey {
  readonly uid: string;
  /** X25519, base64. */
  readonly publicKey: string;
}

/**
 * Returns the keys that peers lost by these changes, through deletion, revocation or another key, and those that they gained.
 */
function peerKeyChanges(changes: readonly Change[]): {
  readonly lost: readonly PeerKey[];
  readonly gained: readonly PeerKey[];
} {
  const lost = new Map<string, PeerKey>();
  const gained = new Map<string, PeerKey>();
  for (const change of changes) {
    if (!isOfKind(change, 'MeshPeer')) continue;
    const { type, record, before } = change;
    const now = type === 'deleted' ? undefined : peerKeyOf(record);
    const then = type === 'deleted' ? peerKeyOf(record) : before && peerKeyOf(before);
    if (now?.publicKey === then?.publicKey) continue;
    if (now) gained.set(`${now.uid} ${now.publicKey}`, now);
    if (then) lost.set(`${then.uid} ${then.publicKey}`, then);
  }
  // A renamed peer is deleted and created again.
  for (const place of gained.keys()) lost.delete(place);
  return { lost: [...lost.values()], gained: [...gained.values()] };
}

function peerKeyOf({ uid, spec, status }: PeerRecord): PeerKey | undefined {
  return status.phase === 'revoked' ? undefined : { uid, publicKey: spec.publicKey };
}
