import { brokenAssertions, requireAssertions } from '../assertions/guard.ts';
import { isolatesText, isolatingFromNowOn, isolationReadSet } from '../authority/isolation.ts';
import { beyondDelegation } from '../authority/judge.ts';
import { apiTokenOf, principalOf } from '../base/caller.ts';
import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import { type CallContext, type ExpectedRecord, type PendingApproval, pendingFor } from '../base/operation.ts';
import { permitFirst } from '../base/permit-first.ts';
import type { Op } from '../base/ports.ts';
import { foldName, type Kind } from '../base/record.ts';
import { serialized, serializedOnConflict } from '../base/serialize.ts';
import { type ChangePlan, draftChanges, type NetworkChange } from '../changes/changes.ts';
import { renumbers } from '../changes/renumber.ts';
import { routesOf } from '../effect/routes.ts';
import { assessProposal } from '../intent/plan/assessed.ts';
import { writerOf } from '../intent/plan/check.ts';
import { requesterOf } from '../intent/plan/plan.ts';
import { controlRanges } from '../intent/verify/lock-out.ts';
import { modelOf } from '../state/network-model.ts';
import { mergeReadSets } from '../state/read-set.ts';
import type { NetworkState } from '../state/state.ts';
import { untilApproval } from '../write/outcome.ts';
import { requireComputable } from '../write/weight.ts';
import { specOf } from './apply.ts';
import { ADMINISTRATOR_ROUTES, mayRoutePublic, needsAnotherPerson, RENUMBERING_ALONE } from './approvers.ts';
import { beyondReasons } from './assessment-fields.ts';
import type { Services } from './services.ts';
import { openWorkflow } from './workflows.ts';

/** The outcome of submitted changes. */
export type SubmitResult =
  | {
      readonly status: 'committed';
      readonly outcomes: ChangePlan['outcomes'];
      /** The state that the changes led to. */
      readonly after: NetworkState;
    }
  /** The workspace asks for approval of direct writes too (`requireApproval`). */
  | PendingApproval;

type SubmitCall = CallContext<Pick<Services, 'store' | 'clock' | 'states' | 'settings' | 'computed'>>;

/**
 * The one way by which an operator's direct write changes policies, networks, labels and the network of peers: committed
 * at once and recorded as direct (no approval workflow saw it), or put into the approval workflow (docs/delegation.md#who-approves-two-persons).
 *
 * @param reason a sentence, or a function of the outcomes that returns it
 * @param whole returns the ops to commit for the changes: their own, and others with them or instead. Where a person has to
 * approve more than the changes, the whole call waits.
 * @throws MeshError as `planChanges`, or `policy_assertion_failed`; nothing is written then.
 */
export async function submitChanges(
  context: SubmitCall,
  asked: readonly NetworkChange[],
  reason: string | ((outcomes: ChangePlan['outcomes']) => string),
  whole: (ops: readonly Op[], state: NetworkState) => Promise<readonly Op[]> = async (ops) => ops,
): Promise<SubmitResult> {
  const { services, workspace, expected } = context;
  // A change that waits for approval keeps its expected revision.
  const changes = expected ? asked.map((change) => expecting(change, expected)) : asked;
  const { store, states, clock } = services;
  // Writes of agents are judged in a computing thread, one after the other.
  return context.caller.kind === 'agent'
    ? serialized(store, workspace, attempt, clock)
    : serializedOnConflict(store, workspace, attempt);

  async function attempt(): Promise<SubmitResult> {
    const state = await states.current(workspace);
    const draft = draftChanges(state, changes, clock.now(), controlRanges(services.settings));
    const { ops, outcomes, after } = await permitFirst(context, draft.ops, draft.plan);
    // Before anybody judges what it does, which takes as long as the network is heavy.
    const weighed = requireComputable(services, state, ops, () => after, context.caller.kind === 'agent');
    const all = await whole(ops, state);
    const why = typeof reason === 'string' ? reason : reason(outcomes);
    if (all.length === 0) return { status: 'committed', outcomes, after: state };
    const held = await brokenAssertions(services, state, after);
    await permitFirst(context, all, () => requireAssertions(held.broken));
    // Changes alone are shown as a plan is; with other writes the whole call waits.
    const alone = all === ops;
    const needsAdministrator = !mayRoutePublic(context) && routesPublic(ops, state, after, clock.now());
    const isRenumbering = renumbers(ops, state);
    if (alone && (needsAdministrator || isRenumbering)) return askForApproval(context, changes, why);
    if (needsAdministrator) throw new MeshError('forbidden', ADMINISTRATOR_ROUTES);
    if (isRenumbering) throw new MeshError('conflict', RENUMBERING_ALONE);
    const requireAtCommit = () => requireNoneIsolated(state, after);
    if (!alone) await permitFirst(context, all, requireAtCommit);
    const direct = commitContext(context, why, {
      readSet: mergeReadSets(mergeReadSets(held.readSet, isolationReadSet(state)), weighed),
      requireAtCommit,
      ...(alone && { weighedAt: state.revision }),
      ...(ops.length > 0 && { direct: true }),
    });
    const write = () => store.commit(workspace, all, direct);
    if (!alone) await write();
    else if ((await untilApproval(write)).status === 'needsApproval') return askForApproval(context, changes, why);
    return { status: 'committed', outcomes, after: await states.current(workspace) };
  }
}

/**
 * Refuses a direct write where a plan would warn, since nobody reviews it.
 *
 * @throws MeshError `conflict` naming the policies of delegated agents that would isolate peers from then on
 */
function requireNoneIsolated(before: NetworkState, after: NetworkState): void {
  const isolating = isolatingFromNowOn({ before, after });
  if (isolating.length === 0) return;
  const message = `Then ${isolatesText(isolating)}. Have ${isolating.length === 1 ? 'it' : 'them'} deleted first, or plan the change, which shows what it closes.`;
  throw new MeshError('conflict', message, { policies: isolating });
}

/** Tells whether nodes would route addresses of the Internet that they do not route now. */
function routesPublic(ops: readonly Op[], before: NetworkState, after: NetworkState, now: number): boolean {
  const isAboutRoutes = ops.some((op) => 'record' in op && ROUTED.has(op.record.kind));
  if (!isAboutRoutes) return false;
  return routesOf(modelOf(before, now), modelOf(after, now)).some(({ isPublic }) => isPublic);
}

const ROUTED: ReadonlySet<Kind> = new Set<Kind>(['MeshNetwork', 'MeshPeer']);

function expecting(change: NetworkChange, { kind, name, uid, revision }: ExpectedRecord): NetworkChange {
  const isIt = change.resource === kind && (change.name === uid || foldName(change.name) === foldName(name));
  return isIt && change.action !== 'create' ? { ...change, revision } : change;
}

async function askForApproval(
  context: SubmitCall,
  changes: readonly NetworkChange[],
  reason: string,
): Promise<SubmitResult> {
  const { services, workspace, caller, requestId } = context;
  const nothing = { expectations: [], records: [] };
  const readBy = writerOf(context);
  const proposal = { changes, ...nothing, plannedBy: 'caller', readBy, sentence: reason } as const;
  const assessment = await services.computed(
    assessProposal,
    { proposal, requester: await requesterOf(context) },
    { workspace, principal: principalOf(caller), requestId },
  );
  if (assessment.beyond?.delegated) throw beyondDelegation(assessment.beyond);
  const apiToken = apiTokenOf(caller);
  const asked = {
    summary: `${assessment.title} (${reason})`,
    intent: reason,
    changes: assessment.changes,
    ...nothing,
    requestedBy: caller.subject,
    requesterId: caller.id,
    ...(apiToken !== undefined && { requesterToken: apiToken }),
    ...(caller.person !== undefined && { person: caller.person }),
  };
  const spec = specOf(assessment, asked, caller, services.clock.now());
  const shown = { ...spec, riskReasons: [...spec.riskReasons, ...beyondReasons(assessment)] };
  const id = await openWorkflow(context, workspace, shown, reason);
  const byAnother = await needsAnotherPerson(context, spec);
  return pendingFor([{ workflow_id: id }], { byAnother }, assessment.beyond?.reasons);
}
