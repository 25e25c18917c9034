import { MeshError } from '../../base/errors.ts';
import type { CallContext } from '../../base/operation.ts';
import { workspaceById } from '../../model/workspaces.ts';
import type { OrderInput } from '../orders/order.ts';
import { readHold } from '../orders/read-orders.ts';
import type { Expectation } from '../verify/expectation.ts';
import type { Requester } from '../verify/findings.ts';
import { assess } from './assess.ts';
import type { Assessment, Proposal } from './assessment.ts';
import { writerOf } from './check.ts';
import { recordingCalls } from './model-calls.ts';
import { intentNotUnderstood } from './not-understood.ts';
import type { Counterexample, PlanAnswer, Planner, PlanQuestion, RevertTarget } from './planner.ts';
import type { ComputeServices } from './services.ts';
import { vocabularyOf } from './vocabulary.ts';
import { type WrittenOrders, writtenOrders } from './written-orders.ts';

/** Answers after the first, each with what was wrong with the last. */
const MAX_COUNTEREXAMPLES = 1;

/** An answer that proposes a change. */
export type ProposedAnswer = Extract<PlanAnswer, { outcome: 'orders' }>;

/** An answer as it is judged, with what its orders were written as. */
interface JudgedAnswer {
  readonly answer: ProposedAnswer;
  readonly proposal: Proposal;
  readonly written: WrittenOrders;
  readonly assessment: Assessment;
}

/** The result of the planner: a judged answer, or a request to revert something. */
export type PlannedIntent =
  | ({ readonly outcome: 'proposed' } & JudgedAnswer)
  | { readonly outcome: 'revert'; readonly target: RevertTarget };

export interface IntentQuestion {
  readonly intent: string;
  /** The earlier questions, oldest first. */
  readonly history?: readonly string[] | undefined;
  /** The expectations of the caller, which the plan must fulfill. */
  readonly expected?: readonly Expectation[] | undefined;
  /** Orders of the caller that must hold afterwards, among other things. */
  readonly hold?: readonly OrderInput[] | undefined;
}

/**
 * Asks the planner, judges what it answers, and asks it again with the counterexample where that does not hold. The best
 * answer is kept, be it checked or not: its assessment says.
 *
 * @throws MeshError `intent_not_understood` when it has no answer that can be made at all.
 */
export async function proposeAndProve(
  context: CallContext<ComputeServices>,
  requester: Requester,
  { intent, history = [], expected = [], hold = [] }: IntentQuestion,
): Promise<PlannedIntent> {
  const { services, workspace, signal, onStage } = context;
  const [state, { spec }] = await Promise.all([services.states.current(workspace), workspaceById(services, workspace)]);
  const question: PlanQuestion = {
    intent,
    state,
    now: services.clock.now(),
    timeZone: spec.settings.timeZone,
    signal,
    ...(history.length > 0 && { history }),
    ...(expected.length > 0 && { expected }),
    ...(hold.length > 0 && { hold }),
    ...(onStage && { onStage }),
  };
  const facts: RequestFacts = { intent, askedBy: writerOf(context) };
  return recordingCalls(context, (onCall) => search(context, requester, { ...question, onCall }, facts));
}

async function search(
  { services, workspace }: CallContext<ComputeServices>,
  requester: Requester,
  question: PlanQuestion,
  facts: RequestFacts,
): Promise<PlannedIntent> {
  let best: JudgedAnswer | undefined;
  let counterexample: Counterexample | undefined;
  for (let round = 0; round <= MAX_COUNTEREXAMPLES; round++) {
    question.onStage?.(round === 0 ? 'Reading the sentence' : 'Planning again what does not hold');
    const answer = await nextAnswer(services.planner, { ...question, ...(counterexample && { counterexample }) }, best);
    if (answer.outcome === 'revert') return answer;
    if (answer.outcome === 'refused') {
      if (best) break;
      throw notUnderstood(answer, counterexample, question);
    }
    question.onStage?.('Computing the effect and comparing it with the orders');
    const judgment = await judge(services, workspace, answer, requester, { ...question, ...facts });
    const { judged } = judgment;
    if (judged && (!best || flawsOf(judged.assessment) < flawsOf(best.assessment))) best = judged;
    if (best && flawsOf(best.assessment) === 0) break;
    counterexample = judgment.counterexample;
  }
  if (best) return { outcome: 'proposed', ...best };
  throw notUnderstood(
    { reason: 'No change was found that can be made.', questions: ['Can it be said in other words?'], choices: [] },
    counterexample,
    question,
  );
}

/** A planner that fails when it is asked again takes nothing from what it answered before. */
async function nextAnswer(
  planner: Planner,
  question: PlanQuestion,
  best: JudgedAnswer | undefined,
): Promise<PlanAnswer> {
  try {
    return await planner.plan(question);
  } catch (error) {
    if (!best || !(error instanceof MeshError) || error.code !== 'unavailable' || question.signal.aborted) throw error;
    return { outcome: 'refused', reason: error.message, questions: [], choices: [] };
  }
}

type RequestFacts = Required<Pick<Proposal, 'intent' | 'askedBy'>>;
type CallerRequest = Pick<PlanQuestion, 'expected' | 'hold'> & RequestFacts;

/** A plan of the built-in reader or of a model passes the same checks. */
async function proposed(
  services: ComputeServices,
  workspace: string,
  answer: ProposedAnswer,
  requester: Requester,
  { expected = [], hold = [], intent, askedBy }: CallerRequest,
): Promise<Omit<JudgedAnswer, 'assessment' | 'answer'>> {
  const { selfAsserted, questions, notes = [] } = answer;
  const input = { ...answer, hold: [...(answer.hold ?? []), ...hold] };
  const written = await writtenOrders(services, workspace, input, requester);
  const proposal: Proposal = {
    ...proposalOfOrders({ ...written, notes: [...notes, ...written.notes] }),
    intent,
    askedBy,
    expectations: [],
    records: [],
    ...(expected.length > 0 && { callerExpectations: expected }),
    plannedBy: selfAsserted ? 'model' : 'grammar',
    readBy: selfAsserted ? 'model' : 'language',
    ...(questions?.length && { questions }),
  };
  return { proposal, written };
}

/** Returns a proposal that must fulfill what its caller holds it to. */
export async function withHold(
  services: Pick<ComputeServices, 'store' | 'states' | 'clock'>,
  workspace: string,
  proposal: Proposal,
  hold: readonly OrderInput[] = [],
): Promise<Proposal> {
  if (hold.length === 0) return proposal;
  const [state, { spec }] = await Promise.all([services.states.current(workspace), workspaceById(services, workspace)]);
  const clocks = { now: services.clock.now(), timeZone: spec.settings.timeZone ?? 'UTC' };
  return { ...proposal, hold: readHold(hold, state, clocks) };
}

/** Returns the parts of a proposal that written orders give, whoever gave them. */
export function proposalOfOrders({ changes, orders, edits, hold, sentence, notes }: WrittenOrders) {
  return {
    changes,
    orders,
    ...(edits.length > 0 && { edits }),
    ...(hold.length > 0 && { hold }),
    sentence: `${sentence}.`,
    ...(notes.length > 0 && { notes }),
  };
}

interface Judgment {
  readonly judged?: JudgedAnswer;
  readonly counterexample: Counterexample;
}

async function judge(
  services: ComputeServices,
  workspace: string,
  answer: ProposedAnswer,
  requester: Requester,
  caller: CallerRequest,
): Promise<Judgment> {
  const { orders } = answer;
  try {
    const { proposal, written } = await proposed(services, workspace, answer, requester, caller);
    const assessment = await assess(services, workspace, proposal, requester);
    const { objections, findings } = assessment;
    const warnings = findings.flatMap(({ blocks, message }) => (blocks ? [] : [message]));
    return {
      judged: { answer, proposal, written, assessment },
      counterexample: { orders, objections, warnings },
    };
  } catch (error) {
    if (!(error instanceof MeshError) || error.code === 'unavailable') throw error;
    return { counterexample: { orders, impossible: error.message, objections: [], warnings: [] } };
  }
}

/**
 * Counts flaws so that an objection outweighs all warnings. A missing check does not count, because a planner cannot add one.
 */
function flawsOf({ objections, findings }: Assessment): number {
  return objections.length * 1_000 + findings.length;
}

function notUnderstood(
  answer: Omit<Extract<PlanAnswer, { outcome: 'refused' }>, 'outcome'>,
  counterexample: Counterexample | undefined,
  { intent, state }: PlanQuestion,
): MeshError {
  const { impossible, orders } = counterexample ?? {};
  const reason = impossible === undefined ? answer.reason : `The change that was found cannot be made: ${impossible}`;
  const refused = { ...answer, reason, ...(orders && { draft: { orders } }) };
  return intentNotUnderstood(refused, vocabularyOf(intent, state));
}
