import { keepCheckpoints } from '../core/audit/keep-checkpoints.ts';
import { newId } from '../core/base/ids.ts';
import type { Commit } from '../core/base/ports.ts';
import type { Kind } from '../core/base/record.ts';
import type { ServiceGate } from '../core/call/gate.ts';
import { removeOldAssessments } from '../core/compliance/assessments.ts';
import { removeOldReviews, tellDueReviews } from '../core/compliance/reviews/reminders.ts';
import { assessScheduled } from '../core/compliance/scheduled.ts';
import { enforceRetention } from '../core/history/retention.ts';
import { takeScheduled } from '../core/history/scheduled.ts';
import { endAgents, nextAgentEnd, overdue } from '../core/identity/end-agents.ts';
import { endOrphans } from '../core/identity/offboard.ts';
import { removeSpentTokens } from '../core/identity/remove-spent-tokens.ts';
import { networkJobs } from '../core/peers/jobs.ts';
import { recordPresence } from '../core/peers/presence.ts';
import { tellWitnesses } from '../core/peers/witnessed.ts';
import type { Services } from '../core/workflow/services.ts';
import { expireWorkflows, resumeWorkflows } from '../core/workflow/upkeep.ts';
import { eachWorkspace } from './each-workspace.ts';
import type { Job } from './jobs.ts';

const PRESENCE_MS = 10_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Everything that is due at instants rather than on request. */
export function buildJobs(services: Services, gate: Pick<ServiceGate, 'flushRefusals' | 'flushSessions'>): Job[] {
  return [
    expireAgents(services),
    endOrphanedAgents(services),
    ...networkJobs(services),
    every('record presence', PRESENCE_MS, services, () =>
      eachWorkspace(services, async (workspace) => {
        await recordPresence(services, workspace);
      }),
    ),
    scheduledSnapshots(services),
    ...workflows(services),
    every('remove spent tokens', HOUR_MS, services, () => removeSpentTokens(services)),
    every('enforce retention', HOUR_MS, services, () =>
      eachWorkspace(services, (workspace) => enforceRetention(services, workspace)),
    ),
    scheduledAssessments(services),
    every('remove old assessments', DAY_MS, services, () =>
      eachWorkspace(services, (workspace) => removeOldAssessments(services, workspace)),
    ),
    every('remove old reviews', DAY_MS, services, () =>
      eachWorkspace(services, async (workspace) => {
        await removeOldReviews(services, workspace);
      }),
    ),
    every('tell of reviews that are due', HOUR_MS, services, () =>
      eachWorkspace(services, async (workspace) => {
        await tellDueReviews(services, workspace);
      }),
    ),
    every('keep checkpoints of the audit logs', MINUTE_MS, services, () => keepCheckpoints(services)),
    every('tell who has seen the audit logs', HOUR_MS, services, () =>
      eachWorkspace(services, (workspace) => tellWitnesses(services, workspace)),
    ),
    every('flush refusals', MINUTE_MS, services, () => gate.flushRefusals()),
    every('end idle sessions', MINUTE_MS, services, () => gate.flushSessions()),
  ];
}

/** Ends delegated identities at their instant: their peers leave within a second of it (docs/delegation.md#root-agents-and-sub-agents). */
function expireAgents(services: Services): Job {
  const { states, clock } = services;
  return {
    name: 'expire agents',
    wakeOn: writes('AgentIdentity'),
    run: () =>
      eachWorkspace(services, async (workspace) => {
        const context = { actor: 'system:expiry', reason: 'the time of the identity is over', requestId: newId('r') };
        await endAgents(services, workspace, (state) => overdue(state, clock.now()), 'Expired', context);
        return nextAgentEnd(await states.current(workspace));
      }),
  };
}

/** Ends the agents of people who have gone, where a crash came between the two. */
function endOrphanedAgents(services: Services): Job {
  return {
    name: 'end agents of people who have gone',
    wakeOn: (commit) => commit.changes.some(({ record }) => record.kind === 'Member' || record.kind === 'Account'),
    async run() {
      const context = { actor: 'system:people', reason: 'the person who made the agent has gone' };
      await eachWorkspace(services, async (workspace) => {
        await endOrphans(services, workspace, { ...context, requestId: newId('r') });
      });
      return undefined;
    },
  };
}

function scheduledSnapshots(services: Services): Job {
  return {
    name: 'take scheduled snapshots',
    wakeOn: writes('Workspace'),
    run: () => eachWorkspace(services, (workspace) => takeScheduled(services, workspace)),
  };
}

function scheduledAssessments(services: Services): Job {
  const refused = new Map<string, number>();
  return {
    name: 'make scheduled assessments',
    wakeOn: writes('Workspace'),
    run: () => eachWorkspace(services, (workspace) => assessScheduled(services, workspace, refused)),
  };
}

function workflows(services: Services): Job[] {
  return [
    {
      name: 'expire workflows and plans',
      wakeOn: (commit) => writes('Workflow')(commit) || writes('Plan')(commit),
      run: () => eachWorkspace(services, (workspace) => expireWorkflows(services, workspace)),
    },
    {
      name: 'resume workflows',
      async run() {
        await eachWorkspace(services, async (workspace) => {
          await resumeWorkflows(services, workspace);
        });
        return services.clock.now() + MINUTE_MS;
      },
    },
  ];
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

function writes(kind: Kind): (commit: Commit) => boolean {
  return ({ changes }) => changes.some(({ type, record }) => type !== 'deleted' && record.kind === kind);
}
