import { commitContext } from '../commit-context.ts';
import { type ChangePlan, type NetworkChange, planChanges } from '../network/changes.ts';
import { restingAddresses } from '../network/rest.ts';
import type { NetworkState } from '../network/state.ts';
import { inTurn } from '../network/turn.ts';
import type { CallContext } from '../operation.ts';
import type { Services } from '../services.ts';

/** What became of submitted changes. */
export type Submitted =
  | {
      readonly status: 'committed';
      readonly outcomes: ChangePlan['outcomes'];
      /** The state that the changes led to. */
      readonly after: NetworkState;
    }
  | { readonly status: 'pending_approval'; readonly workflow_id: string };

/**
 * The one way by which an operator's direct write changes policies, networks, labels and the network of peers. It is
 * recorded as direct: no approval workflow saw it (DESIGN 5.5).
 *
 * @throws MeshError as {@link planChanges}; nothing is written then.
 */
export async function submitChanges(
  context: CallContext<Pick<Services, 'store' | 'clock' | 'states'>>,
  changes: readonly NetworkChange[],
  reason: string,
): Promise<Submitted> {
  const { services, workspace } = context;
  const { store, states, clock } = services;
  return inTurn(store, workspace, async () => {
    const state = await states.current(workspace);
    const resting = changes.some(({ resource }) => resource === 'MeshPeer')
      ? await restingAddresses(store, workspace)
      : undefined;
    const { ops, outcomes } = planChanges(state, changes, clock.now(), resting);
    if (ops.length > 0) await store.commit(workspace, ops, commitContext(context, reason, { direct: true }));
    return { status: 'committed', outcomes, after: await states.current(workspace) };
  });
}
