import { keepCheckpoints } from '../core/audit/keep-checkpoints.ts';
import { beginPolicies } from '../core/authority/begin-policies.ts';
import { newId, SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import { asLeader, eachLedWorkspace, type Leader, SOLE_LEADER } from '../core/base/leader.ts';
import type { Commit } from '../core/base/ports.ts';
import type { Kind } from '../core/base/record.ts';
import { isOfKind } from '../core/base/written-record.ts';
import type { ServiceGate } from '../core/call/gate.ts';
import { removeOldAssessments } from '../core/compliance/assessments.ts';
import { announceDueReviews, removeOldReviews } from '../core/compliance/reviews/reminders.ts';
import { assessScheduled } from '../core/compliance/scheduled-assessments.ts';
import { enforceRetention } from '../core/history/retention.ts';
import { takeScheduledSnapshots } from '../core/history/scheduled-snapshots.ts';
import { emptyIfGone } from '../core/identity/empty-workspace.ts';
import { endAgents, expiredAgents, nextAgentEnd } from '../core/identity/end-agents.ts';
import { askIssuers } from '../core/identity/issuer-sessions.ts';
import { finishAllLeaving } from '../core/identity/leave.ts';
import { endOrphans } from '../core/identity/offboard.ts';
import { removeSpentTokens } from '../core/identity/remove-spent-tokens.ts';
import { waits } from '../core/model/policy-match.ts';
import { networkJobs } from '../core/peers/jobs.ts';
import { recordPresence } from '../core/peers/presence.ts';
import { logWitnesses } from '../core/peers/witness-reports.ts';
import type { Services } from '../core/workflow/services.ts';
import { expireWorkflows, resumeWorkflows } from '../core/workflow/upkeep.ts';
import type { Job } from './jobs.ts';

const PRESENCE_MS = 10_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Work in each workspace that this control plane leads. */
type InEach = (work: (workspace: string, services: Services) => Promise<unknown>) => Promise<number | undefined>;

/**
 * Everything that is due at instants rather than on request: in the workspaces that are led here, and the last two for this
 * process.
 */
export function buildJobs(
  services: Services,
  gate: Pick<ServiceGate, 'flushRefusals' | 'flushSessions'>,
  leading: Leader = SOLE_LEADER,
): Job[] {
  const inEach: InEach = (work) => eachLedWorkspace(leading, services, work);
  return [
    expireAgents(services, inEach),
    endOrphanedAgents(inEach),
    finishLeavingAccounts(services, leading),
    {
      name: 'ask issuers whether sessions go on',
      wakeOn: (commit) => commit.changes.some((change) => isOfKind(change, 'Session') && change.record.spec.issued),
      run: () => asLeader(leading, services, SYSTEM_WORKSPACE, askIssuers),
    },
    every('empty workspaces that are gone', HOUR_MS, services, () =>
      inEach((workspace, led) => emptyIfGone(led, workspace)),
    ),
    ...networkJobs(services, leading),
    {
      name: 'begin policies',
      wakeOn: (commit) => commit.changes.some((change) => change.type !== 'deleted' && waits(change.record.spec)),
      run: () => inEach((workspace, led) => beginPolicies(led, workspace)),
    },
    every('record presence', PRESENCE_MS, services, async () => {
      await inEach((workspace, led) => recordPresence(led, workspace));
      services.liveness.leaveUnrecorded((workspace) => !leading.leads(workspace));
    }),
    scheduledSnapshots(inEach),
    ...workflows(services, inEach),
    every('remove spent tokens', HOUR_MS, services, () =>
      asLeader(leading, services, SYSTEM_WORKSPACE, removeSpentTokens),
    ),
    every('enforce retention', HOUR_MS, services, () => inEach((workspace, led) => enforceRetention(led, workspace))),
    scheduledAssessments(inEach),
    every('remove old assessments', DAY_MS, services, () =>
      inEach((workspace, led) => removeOldAssessments(led, workspace)),
    ),
    every('remove old reviews', DAY_MS, services, () =>
      inEach(async (workspace, led) => {
        await removeOldReviews(led, workspace);
      }),
    ),
    every('tell of reviews that are due', HOUR_MS, services, () =>
      inEach(async (workspace, led) => {
        await announceDueReviews(led, workspace);
      }),
    ),
    every('keep checkpoints of the audit logs', MINUTE_MS, services, () => keepCheckpoints(services, leading)),
    every('tell who has seen the audit logs', HOUR_MS, services, () =>
      inEach((workspace, led) => logWitnesses(led, workspace)),
    ),
    every('flush refusals', MINUTE_MS, services, () => gate.flushRefusals()),
    every('end idle sessions', MINUTE_MS, services, () => gate.flushSessions()),
  ];
}

/** Ends delegated identities at their instant: their peers leave within a second of it (docs/delegation.md#root-agents-and-sub-agents). */
function expireAgents({ states, clock }: Services, inEach: InEach): Job {
  return {
    name: 'expire agents',
    wakeOn: writes('AgentIdentity'),
    run: () =>
      inEach(async (workspace, led) => {
        const context = { actor: 'system:expiry', reason: 'the time of the identity is over', requestId: newId('r') };
        await endAgents(led, workspace, (state) => expiredAgents(state, clock.now()), 'Expired', context);
        return nextAgentEnd(await states.current(workspace));
      }),
  };
}

/** Ends the agents of people who have gone, where a crash came between the two. */
function endOrphanedAgents(inEach: InEach): Job {
  return {
    name: 'end agents of people who have gone',
    wakeOn: (commit) => commit.changes.some(({ record }) => record.kind === 'Member' || record.kind === 'Account'),
    async run() {
      const context = { actor: 'system:people', reason: 'the person who made the agent has gone' };
      await inEach(async (workspace, led) => {
        await endOrphans(led, workspace, { ...context, requestId: newId('r') });
      });
      return undefined;
    },
  };
}

/** Ends what accounts leave that were disabled or are to be deleted, where the call that decided it was cut short. */
function finishLeavingAccounts(services: Services, leading: Leader): Job {
  return {
    name: 'finish what people leave',
    wakeOn: (commit) => commit.changes.some((change) => isOfKind(change, 'Account') && change.record.spec.leaving),
    run: () => asLeader(leading, services, SYSTEM_WORKSPACE, finishAllLeaving),
  };
}

function scheduledSnapshots(inEach: InEach): Job {
  return {
    name: 'take scheduled snapshots',
    wakeOn: writes('Workspace'),
    run: () => inEach((workspace, led) => takeScheduledSnapshots(led, workspace)),
  };
}

function scheduledAssessments(inEach: InEach): Job {
  const refused = new Map<string, number>();
  return {
    name: 'make scheduled assessments',
    wakeOn: writes('Workspace'),
    run: () => inEach((workspace, led) => assessScheduled(led, workspace, refused)),
  };
}

function workflows({ clock }: Services, inEach: InEach): Job[] {
  return [
    {
      name: 'expire workflows and plans',
      wakeOn: (commit) => writes('Workflow')(commit) || writes('Plan')(commit),
      run: () => inEach((workspace, led) => expireWorkflows(led, workspace)),
    },
    {
      name: 'resume workflows',
      async run() {
        await inEach(async (workspace, led) => {
          await resumeWorkflows(led, workspace);
        });
        return clock.now() + MINUTE_MS;
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
