import type { Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { parseInstant } from '../base/time.ts';
import { issueToken } from '../identity/device-token.ts';
import { agentLabels, presetPolicies } from '../model/presets.ts';
import { type AgentRecord, DEFAULT_NETWORK } from '../model/resources.ts';
import { expiredToken, type TokenRecord, unknownToken } from '../model/token-record.ts';
import { ancestors, isLive } from '../state/agent-tree.ts';
import type { NetworkState } from '../state/state.ts';
import type { Enrolment } from './enrolment.ts';

/**
 * Enrolls the device that spends a delegate token as the peer of the sub-agent. The peer is held to its preset from the first
 * instant and has its own agent token. The identity is active, or pending for as long as its peer is (docs/wire.md#enrolment).
 *
 * @throws MeshError `unauthenticated` when the identity or one of its ancestors has ended.
 */
export function enrolDelegate(
  state: NetworkState,
  token: TokenRecord,
  peerName: string,
  { now, isPending }: { readonly now: number; readonly isPending: boolean },
): Enrolment {
  const agent = agentOf(state, token);
  const line = ancestors(state, agent);
  if (![agent, ...line].every((member) => isLive(member, now))) throw expiredToken();
  const parent = line[0];
  const { name, uid, spec, revision } = agent;
  const agentToken = issueToken('agt', {
    name,
    owner: uid,
    createdBy: token.spec.createdBy,
    expiresAt: parseInstant(spec.expiresAt),
  });
  const activate: Op = {
    op: 'update',
    revision,
    record: {
      ...draftOf(agent),
      status: { ...agent.status, phase: isPending ? 'Pending' : 'Active', peerRef: peerName },
    },
  };
  // A revocation of an ancestor at the same moment wins.
  const checks = line.map(
    (member): Op => ({
      op: 'check',
      key: { kind: 'AgentIdentity', name: member.name },
      revision: member.revision,
    }),
  );
  const policies = presetPolicies(agent, parent, spec.egress ?? []).map((record): Op => ({ op: 'create', record }));
  return {
    labels: agentLabels(agent, parent),
    network: networkOf(state, line),
    agentRef: name,
    expiresAt: spec.expiresAt,
    ops: [activate, ...checks, ...policies, agentToken.op],
    agentToken: agentToken.token,
  };
}

function agentOf({ agents }: NetworkState, { spec }: TokenRecord): AgentRecord {
  for (const agent of agents.values()) if (agent.uid === spec.owner) return agent;
  throw unknownToken();
}

/** Returns the network of the nearest ancestor with a peer, so that a sub-agent can reach the peers that its parent may. */
function networkOf({ peers }: NetworkState, line: readonly AgentRecord[]): string {
  for (const { name } of line) {
    for (const { spec } of peers.values()) if (spec.agentRef === name) return spec.network;
  }
  return DEFAULT_NETWORK;
}
