import { MeshError } from '../../base/errors.ts';
import type { CallContext } from '../../base/operation.ts';
import { workspaceById } from '../../model/workspaces.ts';
import type { Expectation } from '../verify/expectation.ts';
import type { Requester } from '../verify/findings.ts';
import { assess } from './assess.ts';
import type { Assessment, Proposal } from './assessment.ts';
import { recordingCalls } from './model-calls.ts';
import { intentNotUnderstood } from './not-understood.ts';
import type { Counterexample, PlanAnswer, Planner, PlanQuestion, RevertTarget } from './planner.ts';
import type { ComputeServices } from './services.ts';

/** How often a planner is asked again with what was wrong. */
const MAX_COUNTEREXAMPLES = 2;

/** Changes as a planner answers them. */
export type ProposedChanges = Extract<PlanAnswer, { outcome: 'changes' }>;

/** The result of the planner: judged changes, or a request to revert something. */
export type Found =
  | { readonly outcome: 'changes'; readonly answer: ProposedChanges; readonly assessment: Assessment }
  | { readonly outcome: 'revert'; readonly target: RevertTarget };

export interface Asked {
  readonly intent: string;
  /** The earlier questions, oldest first. */
  readonly history?: readonly string[] | undefined;
  /** The expectations of the caller, which the plan must fulfill. */
  readonly expected?: readonly Expectation[] | undefined;
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
  { intent, history = [], expected = [] }: Asked,
): Promise<Found> {
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
    ...(onStage && { onStage }),
  };
  return recordingCalls(context, (onCall) => search(context, requester, { ...question, onCall }));
}

async function search(
  { services, workspace }: CallContext<ComputeServices>,
  requester: Requester,
  question: PlanQuestion,
): Promise<Found> {
  let best: Extract<Found, { outcome: 'changes' }> | undefined;
  let counterexample: Counterexample | undefined;
  for (let round = 0; round <= MAX_COUNTEREXAMPLES; round++) {
    question.onStage?.(round === 0 ? 'The sentence is read.' : 'What does not hold is planned again.');
    const answer = await nextAnswer(services.planner, { ...question, ...(counterexample && { counterexample }) }, best);
    if (answer.outcome === 'revert') return answer;
    if (answer.outcome === 'refused') {
      if (best) break;
      throw notUnderstood(answer, counterexample);
    }
    question.onStage?.('The effect is computed and held against what was asked.');
    const judged = await judge(services, workspace, answer, requester, question.expected);
    if (judged.assessment) {
      const found = { outcome: 'changes', answer, assessment: judged.assessment } as const;
      if (!best || flawsOf(found.assessment) < flawsOf(best.assessment)) best = found;
      if (flawsOf(best.assessment) === 0) break;
    }
    counterexample = judged.counterexample;
  }
  if (best) return best;
  throw notUnderstood(
    { reason: 'No change was found that can be made.', questions: ['Can it be said in other words?'], choices: [] },
    counterexample,
  );
}

/** A planner that fails when it is asked again takes nothing from what it answered before. */
async function nextAnswer(planner: Planner, question: PlanQuestion, best: Found | undefined): Promise<PlanAnswer> {
  try {
    return await planner.plan(question);
  } catch (error) {
    if (!best || !(error instanceof MeshError) || error.code !== 'unavailable' || question.signal.aborted) throw error;
    return { outcome: 'refused', reason: error.message, questions: [], choices: [] };
  }
}

/**
 * As judged; a plan of the built-in planner or of a model has the same proof to pass. What the caller expects stands in
 * for what a planner merely asserts.
 */
export function proposalOf(
  { changes, expectations, records = [], selfAsserted, summary, questions }: ProposedChanges,
  expected: readonly Expectation[] = [],
): Proposal {
  const reading = {
    plannedBy: selfAsserted ? 'model' : 'grammar',
    readBy: selfAsserted ? 'model' : 'language',
    expectedBy: selfAsserted ? 'planner' : 'language',
    sentence: summary,
    ...(questions?.length && { questions }),
  } as const;
  if (expected.length === 0) return { changes, expectations, records, ...reading };
  const stated = selfAsserted ? [] : expectations;
  return { changes, expectations: stated, records, callerExpectations: expected, ...reading };
}

interface Judgement {
  readonly assessment?: Assessment;
  readonly counterexample: Counterexample;
}

async function judge(
  services: ComputeServices,
  workspace: string,
  answer: ProposedChanges,
  requester: Requester,
  expected: readonly Expectation[] | undefined,
): Promise<Judgement> {
  const { changes, expectations } = answer;
  const nothing = { changes, expectations, unmet: [], unmetRecords: [], broken: [], findings: [] };
  try {
    const assessment = await assess(services, workspace, proposalOf(answer, expected), requester);
    const { unmet, unmetRecords, broken, findings } = assessment;
    return { assessment, counterexample: { changes, expectations, unmet, unmetRecords, broken, findings } };
  } catch (error) {
    if (!(error instanceof MeshError) || error.code === 'unavailable') throw error;
    return { counterexample: { ...nothing, impossible: error.message } };
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
): MeshError {
  const impossible = counterexample?.impossible;
  const reason = impossible === undefined ? answer.reason : `The change that was found cannot be made: ${impossible}`;
  return intentNotUnderstood({ ...answer, reason });
}
