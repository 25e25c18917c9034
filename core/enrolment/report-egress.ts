import { MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import type { Calls } from '../model/call-trace.ts';
import { ancestors } from '../state/agent-tree.ts';
import type { NetworkServices } from '../state/services.ts';
import { ownPeer } from './own-device.ts';

/** Attempts of a sandbox to reach something outside of the overlay, of one kind. */
export interface ReportedUse {
  readonly destination: string;
  readonly outcome: 'opened' | 'refused' | 'failed';
  readonly count: number;
}

type ReportCall = CallContext<Pick<NetworkServices, 'states' | 'clock'> & { readonly calls: Pick<Calls, 'keep'> }>;

const OUTCOMES = { opened: 'ok', refused: 'forbidden', failed: 'unavailable' } as const;

/**
 * Keeps what isolates the sandbox of an agent, and what it reached or tried to, among the calls of the agent, which are bounded.
 *
 * @throws MeshError `conflict` for the device of nobody's sandbox
 */
export async function reportEgress(
  context: ReportCall,
  uses: readonly ReportedUse[],
  isolation?: string,
): Promise<void> {
  const { services, workspace, requestId } = context;
  const { peer, state } = await ownPeer(context);
  const agent = peer.spec.agentRef === undefined ? undefined : state.agents.get(peer.spec.agentRef);
  if (!agent) throw new MeshError('conflict', 'This device is of no agent: only the sandbox of one reports.');
  const by = { workspace, caller: agent.uid, family: ancestors(state, agent).at(-1)?.uid ?? agent.uid };
  const about = { at: services.clock.now(), face: 'rest' as const, requestId };
  if (isolation !== undefined) {
    const result = JSON.stringify({ isolation });
    services.calls.keep(by, { ...about, operation: 'sandbox', outcome: 'ok', input: '{}', result });
  }
  for (const { destination, outcome, count } of uses) {
    services.calls.keep(by, {
      ...about,
      operation: 'egress',
      outcome: OUTCOMES[outcome],
      input: JSON.stringify({ destination }),
      result: JSON.stringify({ [outcome]: count }),
    });
  }
}
