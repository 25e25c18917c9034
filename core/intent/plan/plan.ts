import { apiTokenOf } from '../../base/caller.ts';
import { commitContext } from '../../base/commit-context.ts';
import { MeshError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import type { CallContext } from '../../base/operation.ts';
import { StoreError } from '../../base/ports.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import { workspaceById } from '../../model/workspaces.ts';
import type { OrderInput } from '../orders/order.ts';
import { readOrders } from '../orders/read-orders.ts';
import type { Expectation } from '../verify/expectation.ts';
import type { Requester } from '../verify/findings.ts';
import { peerAt } from '../verify/lock-out.ts';
import { isAtMost } from '../verify/risk.ts';
import { deadlineOf } from './approval-deadline.ts';
import { assess } from './assess.ts';
import type { Assessment, Proposal } from './assessment.ts';
import { type ReadBy, writerOf } from './check.ts';
import { openQuestions, plannerWords, wordingViewOf } from './diff-markdown.ts';
import { changesOfEdits, type OrderedInput } from './edits.ts';
import { type ProposedAnswer, proposalOfOrders, proposeAndProve, withHold } from './loop.ts';
import { recordingCalls } from './model-calls.ts';
import { withChanges } from './named.ts';
import { type PlanSpec, planDraft } from './plan-record.ts';
import type { RevertTarget } from './planner.ts';
import { revertProposal } from './revert-target.ts';
import type { ComputeServices, PlanServices } from './services.ts';
import { type WrittenOrders, writtenOrders } from './written-orders.ts';

export interface PlanRequest {
  readonly intent: string;
  readonly dryRun: boolean;
  /** Filled by the caller: then no planner is asked. */
  readonly changes: readonly NetworkChange[] | undefined;
  /** The expectations that the plan must fulfill, beside or instead of those read from the intent. */
  readonly expectations: readonly Expectation[] | undefined;
  /** Orders that must hold afterwards, among other things. */
  readonly hold?: readonly OrderInput[] | undefined;
  /** The earlier questions of the caller, oldest first. */
  readonly history: readonly string[] | undefined;
  /** Something to bring back: then no planner is asked either. */
  readonly revert: RevertTarget | undefined;
}

/** Orders, from which code writes the changes. Without an intent their own words stand for it. */
export interface OrderRequest extends Pick<PlanRequest, 'dryRun' | 'expectations'>, OrderedInput {
  readonly intent: string | undefined;
}

export interface ProposedPlan {
  readonly id: string;
  readonly spec: PlanSpec;
  readonly assessment: Assessment;
  /** Policies that make so what was ordered; undefined unless it is so already. */
  readonly already?: readonly string[];
  /** Orders that bring back who could reach whom. */
  readonly undo?: readonly OrderInput[];
  /** True where it is kept, so that it can be applied. */
  readonly isKept: boolean;
  /** True where it was to be kept, and the store does not take a record of its size. */
  readonly isTooLarge?: true;
}

/**
 * Turns an intent into a plan whose effect has been computed. Nothing is executed; a dry run is not even stored.
 *
 * @throws MeshError `intent_not_understood` with questions, or `invalid_input` for changes that cannot be made.
 */
export async function planNetworkChange(
  context: CallContext<ComputeServices>,
  request: PlanRequest,
): Promise<ProposedPlan> {
  const { services, workspace } = context;
  const { changes, intent, history, revert } = request;
  const planned = async (proposal: Proposal) =>
    planProposal(context, request, await withHold(services, workspace, proposal, request.hold));
  if (revert) return planned(await reverted(context, revert, writerOf(context)));
  if (changes) return planned(await given(context, request, changes));
  const requester = await requesterOf(context);
  const { expectations: expected, hold } = request;
  const found = await proposeAndProve(context, requester, { intent, history, expected, hold });
  if (found.outcome === 'revert') return planned(await reverted(context, found.target, 'language'));
  const { answer, proposal, written, assessment } = found;
  // A preview that cannot be applied is not worth the wait.
  const wording = request.dryRun || written.already ? undefined : await wordingOf(context, intent, assessment);
  const { questions = [] } = answer;
  const words = openQuestions(questions) + plannerWords(reasonsOf(answer, assessment), wording, assessment.view);
  const { reasoning, risk } = answer;
  return planWritten(context, request, proposal, written, assessment, {
    ...(words !== '' && { words }),
    ...(reasoning !== undefined && reasoning !== '' && { reasoning }),
    ...(risk && { risk }),
  });
}

/**
 * Plans what orders say. A plan without changes is not kept: there is nothing to apply.
 *
 * @throws MeshError `invalid_input` for orders that are faulty, contradict each other, or of which nothing can be done
 */
export async function planOrders(context: CallContext<ComputeServices>, request: OrderRequest): Promise<ProposedPlan> {
  const { services, workspace } = context;
  const { intent, dryRun, expectations } = request;
  const written = await writtenOrders(services, workspace, request, await requesterOf(context));
  const proposal = await given(context, { intent, expectations }, written.changes);
  return planWritten(
    context,
    { intent: intent ?? written.sentence, dryRun },
    { ...proposal, ...proposalOfOrders(written) },
    written,
  );
}

async function planWritten(
  context: CallContext<ComputeServices>,
  { intent, dryRun }: Pick<PlanRequest, 'intent' | 'dryRun'>,
  proposal: Proposal,
  { already, undo }: Pick<WrittenOrders, 'already' | 'undo'>,
  assessed?: Assessment,
  words?: PlannerWords,
): Promise<ProposedPlan> {
  const request = { intent, dryRun: dryRun || already !== undefined || proposal.changes.length === 0 };
  const plan = await planProposal(context, request, proposal, assessed, words);
  return { ...plan, ...(already && { already }), ...(undo && { undo }) };
}

/** A planner that fears more than was computed is heard; it decides nothing. */
function reasonsOf({ reasoning, risk }: ProposedAnswer, assessment: Assessment): string | undefined {
  if (risk === undefined || isAtMost(risk, assessment.risk.level)) return reasoning;
  return [reasoning, `It takes the risk to be ${risk}.`].filter(Boolean).join('\n');
}

/** Words are a service to readers: a planner that fails at them has still planned. */
async function wordingOf(
  context: CallContext<ComputeServices>,
  intent: string,
  { view }: Assessment,
): Promise<string | undefined> {
  const { planner, log } = context.services;
  const say = planner.wording?.bind(planner);
  if (!say) return undefined;
  context.onStage?.('Asking a model for words');
  try {
    return await recordingCalls(context, (onCall) => say(wordingViewOf(intent, view), context.signal, onCall));
  } catch (error) {
    log.warn(
      { planner: planner.name, error: error instanceof Error ? error.name : 'unknown' },
      'no wording of the plan',
    );
    return undefined;
  }
}

async function reverted(
  { services, workspace }: CallContext<ComputeServices>,
  target: RevertTarget,
  readBy: ReadBy,
): Promise<Proposal> {
  return { ...(await revertProposal(services, workspace, target)), readBy };
}

type PlannerWords = Pick<PlanSpec, 'words' | 'reasoning' | 'risk'>;

/** Keeps a proposal as a plan once its effect is computed; a dry run is not kept. */
export async function planProposal(
  context: CallContext<ComputeServices>,
  { intent, dryRun }: Pick<PlanRequest, 'intent' | 'dryRun'>,
  given: Proposal,
  assessed?: Assessment,
  words: PlannerWords = {},
): Promise<ProposedPlan> {
  const { services, workspace, caller } = context;
  const requester = await requesterOf(context);
  const proposal: Proposal = { ...given, intent, askedBy: writerOf(context) };
  const assessment = assessed ?? (await assess(services, workspace, proposal, requester));
  const id = newId('plan');
  const apiToken = apiTokenOf(caller);
  const spec: PlanSpec = {
    ...proposal,
    changes: assessment.changes,
    ...words,
    summary: assessment.title,
    intent,
    digest: assessment.digest,
    baseRevision: assessment.state.revision,
    requestedBy: caller.subject,
    requesterId: requester.id,
    ...(apiToken !== undefined && { requesterToken: apiToken }),
    ...(caller.person !== undefined && { person: caller.person }),
    ...(requester.peer !== undefined && { requesterPeer: requester.peer }),
    ...(assessment.begins !== undefined && { begins: assessment.begins }),
    expiresAt: deadlineOf(services.clock.now() + services.settings.planTtlMs, assessment),
  };
  if (dryRun) return { id: newId('plan_dry'), spec, assessment, isKept: false };
  try {
    const record = planDraft(id, spec);
    await services.store.commit(
      workspace,
      [{ op: 'create', record }],
      commitContext(context, `plan: ${assessment.title}`),
    );
    return { id, spec, assessment, isKept: true };
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'too_large') throw error;
    return { id: newId('plan_dry'), spec, assessment, isKept: false, isTooLarge: true };
  }
}

/** A call that comes from an overlay address comes from the peer that has it. */
export async function requesterOf({
  services,
  workspace,
  caller,
  origin,
}: Pick<
  CallContext<Pick<PlanServices, 'states'>>,
  'services' | 'workspace' | 'caller' | 'origin'
>): Promise<Requester> {
  const peer = peerAt(await services.states.current(workspace), origin);
  return { id: caller.id, peer };
}

/** Changes that the caller wrote are compared with the intent where the built-in reader reads it, and with what the caller expects. */
async function given(
  context: CallContext<ComputeServices>,
  { intent, expectations }: Pick<OrderRequest, 'intent' | 'expectations'>,
  changes: readonly NetworkChange[],
): Promise<Proposal> {
  const listed = changes.map(({ action, resource, name }) => `${action} ${resource} ${name}`);
  const more = listed.length > 3 ? ` and ${listed.length - 3} more` : '';
  return {
    changes,
    expectations: [],
    records: [],
    ...(intent !== undefined && (await intentOf(context, intent))),
    ...(expectations?.length && { callerExpectations: expectations }),
    plannedBy: 'caller',
    readBy: writerOf(context),
    sentence: `${listed.slice(0, 3).join(', ')}${more}.`,
  };
}

/** Returns what an intent says has to hold, where the built-in reader reads it. */
async function intentOf(
  { services, workspace }: CallContext<ComputeServices>,
  intent: string,
): Promise<Partial<Proposal>> {
  const [state, { spec }] = await Promise.all([services.states.current(workspace), workspaceById(services, workspace)]);
  const { timeZone = 'UTC' } = spec.settings;
  const now = services.clock.now();
  const answer = await services.planner.certain?.({ intent, state, now, timeZone });
  if (answer?.outcome !== 'orders') return {};
  try {
    const edits = changesOfEdits(answer, state, spec.namespace);
    return {
      intended: {
        orders: readOrders(answer.orders, withChanges(state, edits, now) ?? state, { now, timeZone }),
        edits,
      },
    };
  } catch (error) {
    // An intent that names what is not there says nothing to compare with.
    if (error instanceof MeshError) return {};
    throw error;
  }
}
