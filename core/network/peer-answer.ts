import type { CallContext } from '../operation.ts';
import type { Services } from '../services.ts';
import { findLivePeer, type PeerView, viewOfPeer } from './peer-view.ts';

/** A peer as it is now, for answers to what has just changed it. */
export async function peerNow(
  { services, workspace }: CallContext<Pick<Services, 'states' | 'clock' | 'liveness'>>,
  id: string,
): Promise<PeerView> {
  const state = await services.states.current(workspace);
  return viewOfPeer(findLivePeer(state, id, services.clock.now()), state, services.liveness);
}
