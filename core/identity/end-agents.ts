import { removalOps } from '../network/peers.ts';
import type { AgentPhase, AgentRecord, PeerRecord, PolicyRecord } from '../network/resources.ts';
import type { NetworkState } from '../network/state.ts';
import { inTurn } from '../network/turn.ts';
import type { CommitContext, Op } from '../ports.ts';
import { draftOf } from '../record.ts';
import type { Services } from '../services.ts';
import { parseInstant } from '../time.ts';
import { family, isLive } from './delegation.ts';
import { AGENT_LABEL } from './presets.ts';
import { tokenName } from './token-record.ts';

type Needs = Pick<Services, 'store' | 'states' | 'clock' | 'liveness'>;

/** Identities that end in one commit, so that a mass expiry makes no batch without bound; a family is never split. */
const BATCH = 100;

/**
 * Ends identities and all they delegated, each family in one commit: peer, presence, preset policies and tokens go, the
 * peer's address rests, the identity stays as Revoked or Expired (contract, "Sub-agent peer"; DESIGN 5.4).
 *
 * @returns names of the identities that ended
 */
export async function endAgents(
  services: Needs,
  workspace: string,
  roots: (state: NetworkState) => readonly AgentRecord[],
  phase: Extract<AgentPhase, 'Revoked' | 'Expired'>,
  context: CommitContext,
): Promise<string[]> {
  const { store, states, clock, liveness } = services;
  const ended: string[] = [];
  for (;;) {
    const batch = await inTurn(store, workspace, async () => {
      const state = await states.current(workspace);
      const ending = nextFamilies(state, roots(state));
      if (ending.length === 0) return [];
      const peers = peersOf(state, ending);
      const now = clock.now();
      const ops = await Promise.all(ending.map((agent) => endOps(services, state, agent, phase)));
      const removals = await Promise.all(peers.map((peer) => removalOps(services, state, peer, now)));
      await store.commit(workspace, [...ops.flat(), ...removals.flat()], context);
      for (const { uid } of peers) liveness.forget(workspace, uid);
      return ending;
    });
    if (batch.length === 0) return ended;
    ended.push(...batch.map(({ name }) => name));
  }
}

/** Identities past their time, with everything below them. */
export function overdue(state: NetworkState, now: number): AgentRecord[] {
  return [...state.agents.values()].filter((agent) => isOpen(agent) && !isLive(agent, now));
}

/** The next instant at which an identity ends, ms. */
export function nextAgentEnd(state: NetworkState): number | undefined {
  let next: number | undefined;
  for (const agent of state.agents.values()) {
    if (!isOpen(agent)) continue;
    const at = parseInstant(agent.spec.expiresAt);
    if (next === undefined || at < next) next = at;
  }
  return next;
}

function isOpen({ status }: AgentRecord): boolean {
  return status.phase === 'Active' || status.phase === 'Pending';
}

function nextFamilies(state: NetworkState, roots: readonly AgentRecord[]): AgentRecord[] {
  const ending = new Map<string, AgentRecord>();
  for (const root of roots) {
    if (ending.size >= BATCH) break;
    const current = state.agents.get(root.name);
    if (current?.uid !== root.uid || ending.has(root.uid)) continue;
    for (const agent of family(state, current)) if (isOpen(agent)) ending.set(agent.uid, agent);
  }
  return [...ending.values()];
}

function peersOf(state: NetworkState, agents: readonly AgentRecord[]): PeerRecord[] {
  const names = new Set(agents.map(({ name }) => name));
  return [...state.peers.values()].filter(({ spec }) => spec.agentRef !== undefined && names.has(spec.agentRef));
}

async function endOps({ store }: Needs, state: NetworkState, agent: AgentRecord, phase: AgentPhase): Promise<Op[]> {
  const { peerRef: _, ...status } = agent.status;
  const ops: Op[] = [
    { op: 'update', revision: agent.revision, record: { ...draftOf(agent), status: { ...status, phase } } },
    ...policiesOf(state, agent).map(({ name }): Op => ({ op: 'delete', key: { kind: 'MeshPolicy', name } })),
  ];
  for (const kind of ['agt', 'dlg'] as const) {
    const key = { kind: 'Token', name: tokenName(kind, agent.uid) } as const;
    if (await store.get(agent.workspace, key)) ops.push({ op: 'delete', key });
  }
  return ops;
}

function policiesOf(state: NetworkState, agent: AgentRecord): PolicyRecord[] {
  return [...state.policies.values()].filter(({ labels }) => labels[AGENT_LABEL] === agent.uid);
}
