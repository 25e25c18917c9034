import type { CallContext } from '../base/operation.ts';
import type { NetworkServices } from '../state/services.ts';
import { findLivePeer, type PeerView, peerView } from './peer-view.ts';

/** A peer as it is now, for answers to what has just changed it. */
export async function currentPeer(
  { services, workspace }: CallContext<Pick<NetworkServices, 'states' | 'clock' | 'liveness'>>,
  id: string,
): Promise<PeerView> {
  const state = await services.states.current(workspace);
  return peerView(findLivePeer(state, id, services.clock.now()), state, services.liveness);
}
