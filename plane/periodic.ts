import { endAgents, nextAgentEnd, overdue } from '../core/identity/end-agents.ts';
import type { ServiceGate } from '../core/identity/gate.ts';
import { newId, SYSTEM_WORKSPACE } from '../core/ids.ts';
import { networkJobs } from '../core/network/jobs.ts';
import type { Commit } from '../core/ports.ts';
import type { Services } from '../core/services.ts';
import type { Job } from './jobs.ts';

const MINUTE_MS = 60_000;

/** Everything that is due at instants rather than on request. */
export function buildJobs(services: Services, gate: Pick<ServiceGate, 'flushRefusals'>): Job[] {
  return [
    expireAgents(services),
    ...networkJobs(services),
    every('flush refusals', MINUTE_MS, services, () => gate.flushRefusals()),
  ];
}

/** Ends delegated identities at their instant: their peers leave within a second of it (contract, "Sub-agent peer"). */
function expireAgents(services: Services): Job {
  const { store, states, clock } = services;
  return {
    name: 'expire agents',
    wakeOn: ({ changes }: Commit) => changes.some(({ record }) => record.kind === 'AgentIdentity'),
    async run() {
      let next: number | undefined;
      for (const workspace of await store.workspaces()) {
        if (workspace === SYSTEM_WORKSPACE) continue;
        const now = clock.now();
        const context = { actor: 'system:expiry', reason: 'the time of the identity is over', requestId: newId('r') };
        await endAgents(services, workspace, (state) => overdue(state, now), 'Expired', context);
        const end = nextAgentEnd(await states.current(workspace));
        if (end !== undefined && (next === undefined || end < next)) next = end;
      }
      return next;
    },
  };
}

/** Work that is done each so many milliseconds, the first time at once. */
export function every(name: string, ms: number, { clock }: Pick<Services, 'clock'>, work: () => Promise<unknown>): Job {
  return {
    name,
    async run() {
      await work();
      return clock.now() + ms;
    },
  };
}
