import type { CallContext } from '../base/operation.ts';
import { peerIdsOf, unknownPeersAt, withPeerIds } from '../model/peer-lists.ts';
import type { EgressRule } from '../model/policy.ts';
import type { NetworkServices } from '../state/services.ts';
import { requireMayName } from './grants.ts';

/**
 * Returns rules that a caller grants as they are stored, with the ids of the peers that they list.
 *
 * @param at where they stand in the request
 * @throws MeshError `forbidden` for who names peers and may not read them, `invalid_input` for unknown ones
 */
export async function storedRules(
  { services, workspace, caller }: CallContext<Pick<NetworkServices, 'states'>>,
  rules: readonly EgressRule[],
  at: string,
): Promise<readonly EgressRule[]> {
  if (unknownPeersAt(rules, peerIdsOf(new Map()), at).length > 0) requireMayName(caller, workspace, 'peers');
  const { peers } = await services.states.current(workspace);
  return withPeerIds(rules, peerIdsOf(peers), at);
}
