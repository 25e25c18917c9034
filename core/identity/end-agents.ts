import type { CommitContext, Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { serializedFirst } from '../base/serialize.ts';
import { parseInstant } from '../base/time.ts';
import type { AgentPhase, AgentRecord } from '../model/resources.ts';
import { cancelOp } from '../model/workflow-records.ts';
import { removalOps } from '../peers/peers.ts';
import { family, isLive, isOpen } from '../state/agent-tree.ts';
import type { PeerServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { type RemovalCascade, removalCascade } from './removal-cascade.ts';

/** Identities that end in one commit, so that a mass expiry makes no batch without bound; a family is never split. */
const BATCH = 100;

/**
 * Ends identities and all they delegated, each family in one commit: peers, presence, policies, tokens, plans and pending
 * workflows go, addresses go into quarantine, the identities stay as Revoked or Expired (docs/delegation.md#what-ends-with-it).
 *
 * @returns names of the identities that ended
 */
export async function endAgents(
  services: PeerServices,
  workspace: string,
  roots: (state: NetworkState) => readonly AgentRecord[],
  phase: Extract<AgentPhase, 'Revoked' | 'Expired'>,
  context: CommitContext,
): Promise<string[]> {
  const { store, states } = services;
  const ended: string[] = [];
  for (;;) {
    const batch = await serializedFirst(store, workspace, async () => {
      const state = await states.current(workspace);
      const ending = nextFamilies(state, roots(state));
      if (ending.length === 0) return [];
      await endFamilies(services, state, { ending, phase, context });
      return ending;
    });
    if (batch.length === 0) return ended;
    ended.push(...batch.map(({ name }) => name));
  }
}

interface FamilyEnd {
  /** Whole families, see {@link nextFamilies}. */
  readonly ending: readonly AgentRecord[];
  readonly phase: Extract<AgentPhase, 'Revoked' | 'Expired'>;
  readonly context: CommitContext;
  /** Other ops of the same commit. */
  readonly besides?: readonly Op[];
}

/** Ends identities with all that ends with them, in one commit. */
export async function endFamilies(
  services: PeerServices,
  state: NetworkState,
  { ending, phase, context, besides = [] }: FamilyEnd,
): Promise<void> {
  const { store, clock, liveness } = services;
  const { workspace } = state;
  const now = clock.now();
  const going = await removalCascade(services, state, ending);
  const { peers } = going;
  const removals = await Promise.all(peers.map((peer) => removalOps(services, state, peer, now)));
  await store.commit(workspace, [...endOps(ending, phase, going), ...removals.flat(), ...besides], context);
  for (const { uid } of peers) liveness.forget(workspace, uid);
}

/** Identities past their time, with everything below them. */
export function expiredAgents(state: NetworkState, now: number): AgentRecord[] {
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

/** Open identities of whole families, as many as one commit takes where nothing else is said. */
export function nextFamilies(state: NetworkState, roots: readonly AgentRecord[], most = BATCH): AgentRecord[] {
  const ending = new Map<string, AgentRecord>();
  for (const root of roots) {
    if (ending.size >= most) break;
    const current = state.agents.get(root.name);
    if (current?.uid !== root.uid || ending.has(root.uid)) continue;
    for (const agent of family(state, current)) if (isOpen(agent)) ending.set(agent.uid, agent);
  }
  return [...ending.values()];
}

/** Returns the ops that end agents, without those for their peers. */
export function endOps(ending: readonly AgentRecord[], phase: AgentPhase, going: RemovalCascade): Op[] {
  const { policies, kept, checks, tokens, plans, workflows } = going;
  return [
    ...checks,
    ...ending.map((agent): Op => {
      const { peerRef: _, ...status } = agent.status;
      return { op: 'update', revision: agent.revision, record: { ...draftOf(agent), status: { ...status, phase } } };
    }),
    ...[...policies, ...tokens, ...plans].map(
      ({ kind, name, revision }): Op => ({ op: 'delete', key: { kind, name }, revision }),
    ),
    ...kept.map(({ before: { revision }, after: record }): Op => ({ op: 'update', record, revision })),
    ...workflows.map((workflow) => cancelOp(workflow, 'who asked for it has ended')),
  ];
}
