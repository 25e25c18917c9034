import type { CallContext } from '../base/operation.ts';
import { formatInstant } from '../base/time.ts';
import { isOfAgent } from '../model/presets.ts';
import { type WorkspaceRecord, workspaceById } from '../model/workspaces.ts';
import { openPaths } from '../peers/path-counts.ts';
import { isLive } from '../state/agent-tree.ts';
import type { NetworkServices } from '../state/services.ts';
import { type NetworkState, writtenPolicies } from '../state/state.ts';
import { livePeers } from '../views/peer-view.ts';
import type { FactContext } from './facts/fact.ts';
import { INSTALLATION_FACTS } from './facts/installation.ts';

/** Warnings about the installation, shown only to callers with `compliance:assess`. */
const FACT_WARNINGS = ['first-password', 'bus-exposure'] as const;
export const WARNINGS = ['open-network', 'approval-ended', ...FACT_WARNINGS] as const;

/** How long administrators are told that the host ended the need for a second person. */
const APPROVAL_ENDED_MS = 30 * 86_400_000;

export interface Warning {
  readonly code: (typeof WARNINGS)[number];
  readonly message: string;
  readonly remedy: string;
}

/** The workspace at a glance: counts of what is there now, and what somebody should see to. */
export async function overviewOf(context: CallContext<FactContext['services'] & Pick<NetworkServices, 'paths'>>) {
  const { services, workspace } = context;
  const now = services.clock.now();
  const state = await services.states.current(workspace);
  const peers = livePeers(state, now);
  const agents = [...state.agents.values()];
  const scopes = context.caller.scopesIn(workspace);
  const approval = scopes?.has('members:write') ? approvalEnded(await workspaceById(services, workspace), now) : [];
  return {
    revision: state.revision,
    peers: {
      total: peers.length,
      ready: peers.filter(({ status }) => status.phase === 'ready').length,
      pending: peers.filter(({ status }) => status.phase === 'pending').length,
      online: peers.filter(
        ({ name, status }) => status.phase === 'ready' && state.presence.get(name)?.spec.online === true,
      ).length,
    },
    paths: openPaths(state, peers, services.paths),
    policies: [...writtenPolicies(state).values()].filter((policy) => !isOfAgent(policy)).length,
    agents: { total: agents.length, live: agents.filter((agent) => isLive(agent, now)).length },
    warnings: [
      ...approval,
      ...openNetworks(state, now),
      ...(scopes?.has('compliance:assess') ? await factWarnings({ services, workspace, at: now }) : []),
    ],
  };
}

/** Told while it is so: whoever turns the need for a second person on again has seen it. */
function approvalEnded({ spec: { approvalEndedAt, settings } }: WorkspaceRecord, now: number): Warning[] {
  if (approvalEndedAt === undefined || approvalEndedAt + APPROVAL_ENDED_MS <= now) return [];
  if (settings.selfApproval !== true) return [];
  const message = `Whoever runs the host ended the need for a second person on ${formatInstant(approvalEndedAt)}: people approve their own requests.`;
  const remedy =
    'Check that this was meant. An administrator turns it on again with the setting selfApproval: null (mesh admin update-workspace --settings \'{"selfApproval": null}\'), and compliance.secondPerson: true where the workspace had it.';
  return [{ code: 'approval-ended', message, remedy }];
}

/** Networks in which no policy of a person or an agent says who may reach whom. */
function openNetworks(state: NetworkState, now: number): Warning[] {
  const used = new Set(livePeers(state, now).map(({ spec }) => spec.network));
  return [...used].sort().flatMap((name) => {
    const isOpen = state.networks.get(name)?.spec.defaultAction !== 'DENY';
    const isRuled = [...state.policies.values()].some(
      (policy) => !isOfAgent(policy) && (policy.spec.network === undefined || policy.spec.network === name),
    );
    if (!isOpen || isRuled) return [];
    const message = `The network ${name} has no policy: every peer in it reaches every other.`;
    const remedy = 'Write a first policy that says who may reach whom, or set its defaultAction to DENY.';
    return [{ code: 'open-network' as const, message, remedy }];
  });
}

async function factWarnings(context: FactContext): Promise<Warning[]> {
  const facts = await Promise.all(
    FACT_WARNINGS.map(async (code) => ({ code, ...(await INSTALLATION_FACTS[code](context)) })),
  );
  return facts
    .filter(({ holds }) => holds === false)
    .map(({ code, evidence, remedy }) => ({ code, message: evidence, remedy }));
}
