import { joinGrantsOf } from '../../authority/join-grants.ts';
import { apiTokenOf } from '../../base/caller.ts';
import { commitContext } from '../../base/commit-context.ts';
import { isAgentId, newId } from '../../base/ids.ts';
import type { CallContext } from '../../base/operation.ts';
import { TEXT_LIMITS } from '../../base/text.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import { workspaceById } from '../../model/workspaces.ts';
import type { NetworkState } from '../../state/state.ts';
import { compileOrders } from '../orders/compile-orders.ts';
import type { OrderInput } from '../orders/order.ts';
import { readOrders } from '../orders/read-orders.ts';
import { undoOf } from '../orders/undo.ts';
import { meansOutside } from '../orders/who.ts';
import type { Expectation } from '../verify/expectation.ts';
import type { Requester } from '../verify/findings.ts';
import { peerAt } from '../verify/lock-out.ts';
import { isAtMost } from '../verify/risk.ts';
import { assess } from './assess.ts';
import type { Assessment, Proposal } from './assessment.ts';
import { type ReadBy, writerOf } from './check.ts';
import { openQuestions, plannerWords, wordingViewOf } from './diff-markdown.ts';
import { type ProposedChanges, proposalOf, proposeAndProve } from './loop.ts';
import { recordingCalls } from './model-calls.ts';
import { type PlanSpec, planDraft } from './plan-record.ts';
import type { RevertTarget } from './planner.ts';
import { revertProposal } from './revert-target.ts';
import type { ComputeServices, PlanServices } from './services.ts';

export interface PlanRequest {
  readonly intent: string;
  readonly dryRun: boolean;
  /** Filled by the caller: then no planner is asked. */
  readonly changes: readonly NetworkChange[] | undefined;
  /** The expectations that the plan must fulfill, beside or instead of those read from the intent. */
  readonly expectations: readonly Expectation[] | undefined;
  /** The earlier questions of the caller, oldest first. */
  readonly history: readonly string[] | undefined;
  /** Something to bring back: then no planner is asked either. */
  readonly revert: RevertTarget | undefined;
}

/** Orders, from which code writes the changes. Without an intent their own words stand for it. */
export interface OrderRequest extends Pick<PlanRequest, 'dryRun' | 'expectations'> {
  readonly intent: string | undefined;
  readonly orders: readonly OrderInput[];
}

export interface ProposedPlan {
  readonly id: string;
  readonly spec: PlanSpec;
  readonly assessment: Assessment;
  /** Policies that make so what was ordered; undefined unless it is so already. */
  readonly already?: readonly string[];
  /** Orders that bring back who could reach whom. */
  readonly undo?: readonly OrderInput[];
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
  const { changes, intent, history, revert } = request;
  if (revert) return planProposal(context, request, await reverted(context, revert, writerOf(context)));
  if (changes) return planProposal(context, request, await given(context, request, changes));
  const found = await proposeAndProve(context, await requesterOf(context), {
    intent,
    history,
    expected: request.expectations,
  });
  if (found.outcome === 'revert')
    return planProposal(context, request, await reverted(context, found.target, 'language'));
  const { answer, assessment } = found;
  // A preview that cannot be applied is not worth the wait.
  const wording = request.dryRun ? undefined : await wordingOf(context, intent, assessment);
  const { questions = [] } = answer;
  const words = openQuestions(questions) + plannerWords(reasonsOf(answer, assessment), wording, assessment.view);
  const proposal = proposalOf(answer, request.expectations);
  return planProposal(context, request, proposal, assessment, words === '' ? {} : { words });
}

/**
 * Plans what orders say. A plan of orders that hold already is not kept: there is nothing to apply.
 *
 * @throws MeshError `invalid_input` for orders that are faulty, contradict each other, or of which nothing can be done
 */
export async function planOrders(
  context: CallContext<ComputeServices>,
  { intent, orders: inputs, dryRun, expectations }: OrderRequest,
): Promise<ProposedPlan> {
  const { services, workspace } = context;
  const [before, { spec }, joins, requester] = await Promise.all([
    services.states.current(workspace),
    workspaceById(services, workspace),
    joinGrantsOf(services, workspace),
    requesterOf(context),
  ]);
  const now = services.clock.now();
  const orders = readOrders(inputs, before, { now, timeZone: spec.settings.timeZone ?? 'UTC' });
  const reachOf = (state: NetworkState) => services.states.reachability(state, now);
  const compile = { now, joins, isPersons: !isAgentId(requester.id), reachOf };
  const { changes, after, already, idle } = compileOrders(orders, before, compile);
  const sentence = orders
    .map(({ text }) => text)
    .join('; ')
    .slice(0, TEXT_LIMITS.intent);
  const proposal = await given(context, { intent, expectations }, changes);
  const isAboutOutside = orders.some((order) => [order.from, order.to].flat().some(meansOutside));
  const notes = [
    ...(already ? [] : idle.map((text) => `it is so already, so this order changes nothing: ${text}`)),
    ...(isAboutOutside ? [OUTSIDE_NOTE] : []),
  ];
  const plan = await planProposal(
    context,
    { intent: intent ?? sentence, dryRun: dryRun || already !== undefined },
    { ...proposal, orders, sentence: `${sentence}.`, ...(notes.length > 0 && { notes }) },
  );
  const undo = already ? undefined : undoOf(inputs, { before, after }, compile);
  return { ...plan, ...(already && { already }), ...(undo && { undo }) };
}

const OUTSIDE_NOTE =
  'nodes enforce nothing about addresses outside: the order counts in plans, assertions and compliance';

/** A planner that fears more than was computed is heard; it decides nothing. */
function reasonsOf({ reasoning, risk }: ProposedChanges, assessment: Assessment): string | undefined {
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
  context.onStage?.('A model is asked for words.');
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

/** Keeps a proposal as a plan once its effect is computed; a dry run is not kept. */
export async function planProposal(
  context: CallContext<ComputeServices>,
  { intent, dryRun }: Pick<PlanRequest, 'intent' | 'dryRun'>,
  proposal: Proposal,
  assessed?: Assessment,
  words: Pick<PlanSpec, 'words'> = {},
): Promise<ProposedPlan> {
  const { services, workspace, caller } = context;
  const requester = await requesterOf(context);
  const assessment = assessed ?? (await assess(services, workspace, proposal, requester));
  const id = newId(dryRun ? 'plan_dry' : 'plan');
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
    expiresAt: services.clock.now() + services.settings.planTtlMs,
  };
  if (!dryRun) {
    const reason = `plan: ${assessment.title}`;
    await services.store.commit(
      workspace,
      [{ op: 'create', record: planDraft(id, spec) }],
      commitContext(context, reason),
    );
  }
  return { id, spec, assessment };
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

/** Changes that the caller wrote are held to what the caller expects, else to the intent where that is understood with certainty. */
async function given(
  context: CallContext<ComputeServices>,
  { intent, expectations }: Pick<OrderRequest, 'intent' | 'expectations'>,
  changes: readonly NetworkChange[],
): Promise<Proposal> {
  const { services, workspace } = context;
  const [state, { spec }] = await Promise.all([services.states.current(workspace), workspaceById(services, workspace)]);
  const { timeZone } = spec.settings;
  const understood =
    intent === undefined
      ? undefined
      : await services.planner.certain?.({ intent, state, now: services.clock.now(), timeZone });
  const meant = understood?.outcome === 'changes' ? understood : { expectations: [], records: [] };
  const listed = changes.map(({ action, resource, name }) => `${action} ${resource} ${name}`);
  const more = listed.length > 3 ? ` and ${listed.length - 3} more` : '';
  return {
    changes,
    expectations: meant.expectations,
    records: meant.records ?? [],
    ...(understood?.outcome === 'changes' && { said: understood.changes, expectedBy: 'language' as const }),
    ...(expectations?.length && { callerExpectations: expectations }),
    plannedBy: 'caller',
    readBy: writerOf(context),
    sentence: `${listed.slice(0, 3).join(', ')}${more}.`,
  };
}
