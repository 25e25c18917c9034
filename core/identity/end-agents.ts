import type { AgentPhase, AgentRecord, PolicyRecord } from '../network/resources.ts';
import type { NetworkState } from '../network/state.ts';
import type { CommitContext, Op, Store } from '../ports.ts';
import { foldName, type RecordDraft } from '../record.ts';
import type { Services } from '../services.ts';
import { parseInstant } from '../time.ts';
import { family, isLive } from './delegation.ts';
import { AGENT_LABEL } from './presets.ts';
import { tokenName } from './token-record.ts';

/**
 * Ends identities and all they delegated in one commit: peer, presence, preset policies and tokens go, the identity
 * stays as Revoked or Expired (contract, "Sub-agent peer"; DESIGN 5.4).
 *
 * @returns names of the identities that ended
 */
export async function endAgents(
  { store, states }: Pick<Services, 'store' | 'states'>,
  workspace: string,
  roots: (state: NetworkState) => readonly AgentRecord[],
  phase: Extract<AgentPhase, 'Revoked' | 'Expired'>,
  context: CommitContext,
): Promise<string[]> {
  const state = await states.current(workspace);
  const ending = new Map(
    roots(state)
      .flatMap((root) => family(state, root))
      .map((agent) => [agent.uid, agent]),
  );
  const living = [...ending.values()].filter(({ status }) => status.phase === 'Active' || status.phase === 'Pending');
  if (living.length === 0) return [];
  const ops = (await Promise.all(living.map((agent) => endOps(store, state, agent, phase)))).flat();
  await store.commit(workspace, ops, context);
  return living.map(({ name }) => name);
}

/** Identities past their time, with everything below them. */
export function overdue(state: NetworkState, now: number): AgentRecord[] {
  return [...state.agents.values()].filter(
    (agent) => (agent.status.phase === 'Active' || agent.status.phase === 'Pending') && !isLive(agent, now),
  );
}

/** The next instant at which an identity ends, ms. */
export function nextAgentEnd(state: NetworkState): number | undefined {
  let next: number | undefined;
  for (const { spec, status } of state.agents.values()) {
    if (status.phase !== 'Active' && status.phase !== 'Pending') continue;
    const at = parseInstant(spec.expiresAt);
    if (next === undefined || at < next) next = at;
  }
  return next;
}

async function endOps(store: Store, state: NetworkState, agent: AgentRecord, phase: AgentPhase): Promise<Op[]> {
  const { peerRef: _, ...status } = agent.status;
  const ops: Op[] = [
    { op: 'update', revision: agent.revision, record: { ...draftOf(agent), status: { ...status, phase } } },
    ...policiesOf(state, agent).map(({ name }): Op => ({ op: 'delete', key: { kind: 'MeshPolicy', name } })),
  ];
  const peer = [...state.peers.values()].find(({ spec }) => spec.agentRef === agent.name);
  if (peer) {
    ops.push({ op: 'delete', key: { kind: 'MeshPeer', name: peer.name } });
    const presence = [...state.presence.values()].find(({ name }) => foldName(name) === foldName(peer.name));
    if (presence) ops.push({ op: 'delete', key: { kind: 'Presence', name: presence.name } });
  }
  for (const [kind, owner] of [
    ['agt', agent.uid],
    ['dlg', agent.uid],
    ['dev', peer?.uid],
  ] as const) {
    if (owner === undefined) continue;
    const key = { kind: 'Token', name: tokenName(kind, owner) } as const;
    if (await store.get(agent.workspace, key)) ops.push({ op: 'delete', key });
  }
  return ops;
}

function policiesOf(state: NetworkState, agent: AgentRecord): PolicyRecord[] {
  return [...state.policies.values()].filter(({ labels }) => labels[AGENT_LABEL] === agent.uid);
}

function draftOf({
  kind,
  name,
  uid,
  labels,
  annotations,
  spec,
  status,
  unique,
}: AgentRecord): RecordDraft<AgentRecord['spec'], AgentRecord['status']> {
  return { kind, name, uid, labels, annotations, spec, status, unique };
}
