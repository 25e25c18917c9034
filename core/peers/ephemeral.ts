import { newId } from '../base/ids.ts';
import { serialized } from '../base/serialize.ts';
import { parseInstant } from '../base/time.ts';
import { LONGEST_ONLINE_MS } from '../model/heartbeat-times.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { PeerServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { removePeers } from './peers.ts';

/** An ephemeral peer that was not heard of for so long is deleted: a restart, an upgrade or a bad network takes less. */
export const EPHEMERAL_MS = 10 * 60_000;
/** Peers removed in one commit; the rest follow at once. */
const BATCH = 200;

/**
 * Deletes the ephemeral peers of a workspace that have gone. Their time goes on while no control plane runs, or another one.
 *
 * @param since when this process began to listen: whoever came back while none did is heard within {@link LONGEST_ONLINE_MS} of that.
 * @returns the next instant at which one may have, ms
 */
export async function removeEphemeral(
  services: PeerServices,
  workspace: string,
  since: number,
): Promise<number | undefined> {
  const { store, states, clock, liveness } = services;
  return serialized(store, workspace, async () => {
    const state = await states.current(workspace);
    const now = clock.now();
    const endOf = (peer: PeerRecord) =>
      Math.max(
        since + LONGEST_ONLINE_MS,
        Math.max(liveness.lastSeen(workspace, peer.uid) ?? 0, lastWritten(state, peer)) + EPHEMERAL_MS,
      );
    const away = [...state.peers.values()].filter(
      ({ name, status }) => status.ephemeral && status.phase === 'ready' && !state.presence.get(name)?.spec.online,
    );
    const gone = away.filter((peer) => endOf(peer) <= now);
    const batch = gone.slice(0, BATCH);
    if (batch.length > 0) {
      const names = batch.length === 1 ? batch[0]?.name : `${batch.length} ephemeral devices`;
      const reason = `deleted ${names}, offline for 10 minutes`;
      await removePeers(services, state, batch, { actor: 'system:ephemeral', reason, requestId: newId('r') });
    }
    if (gone.length > batch.length) return now;
    const next = away.map(endOf).filter((end) => end > now);
    return next.length === 0 ? undefined : next.reduce((a, b) => Math.min(a, b));
  });
}

/** When it went as it is written, or came where it never was online. */
function lastWritten(state: NetworkState, { name, createdAt }: PeerRecord): number {
  const lastSeenAt = state.presence.get(name)?.spec.lastSeenAt;
  return lastSeenAt === undefined ? createdAt : parseInstant(lastSeenAt);
}
