import { MeshError } from '../../core/base/errors.ts';
import type { PartialPlan, PlanAnswer, Planner, PlanQuestion } from '../../core/intent/plan/planner.ts';
import type { Act } from './acts/ask.ts';
import { aloneAlready, withoutElse } from './alone-already.ts';
import { choicesOf } from './choices.ts';
import { closedThoughGranted } from './closed-though-granted.ts';
import type { Offered } from './compared.ts';
import { compose } from './compose.ts';
import { requireElseClosed } from './else-closed.ts';
import { elsewhere } from './elsewhere.ts';
import { endlessIn } from './endless.ts';
import { closesSomeOf } from './excepting.ts';
import { isFaithful } from './faithful.ts';
import { amendedAct, withoutDone } from './follow-up.ts';
import { leadingOn } from './leading-on.ts';
import type { Token } from './lexicon.ts';
import { liftingOf } from './lifted.ts';
import { likenessIn } from './likeness.ts';
import { isNameIn, isPlaceIn, namesOf } from './names.ts';
import { NEWCOMERS, newcomersWithoutLabel, withNewcomers } from './newcomers.ts';
import { withOpenPart } from './open-part.ts';
import { partialOf } from './partial.ts';
import { revertOf, stepsOf } from './perform.ts';
import { attempt, quoted, Refusal, said } from './refusal.ts';
import type { Statement } from './statements.ts';
import { requireStillOpen } from './still-open.ts';
import { plainTokens, type Suggested, suggested } from './suggest.ts';
import { type Closes, understood, wordsOf } from './understand.ts';
import type { Vocabulary } from './vocabulary.ts';

/**
 * The planner that needs no model: a fixed grammar over the peers and labels of the workspace. What it does not understand
 * whole it refuses; a name is never more than a name.
 */
export const builtinPlanner = {
  name: 'builtin',
  plan: (question: PlanQuestion): Promise<PlanAnswer> =>
    Promise.resolve(question.counterexample ? NOTHING_BETTER : planByGrammar(question)),
  certain: planByGrammar,
} satisfies Planner;

/** The grammar answers the same question the same way, so a counterexample changes nothing. */
const NOTHING_BETTER: PlanAnswer = {
  outcome: 'refused',
  reason: 'There is no other way to say it.',
  questions: [],
  choices: [],
};

type Asked = Pick<PlanQuestion, 'intent' | 'state' | 'now' | 'history' | 'timeZone'>;
type Question = Asked & Required<Pick<Asked, 'timeZone'>>;

/** As {@link builtinPlanner}, at once. */
export function planByGrammar({ timeZone = 'UTC', ...asked }: Asked): PlanAnswer {
  const question: Question = { ...asked, timeZone };
  return answered(question, (refused, intent) => {
    const refusal = elsewhere(intent, vocabularyOf(question)) ?? refused;
    const partial = partialOf(intent, vocabularyOf(question), closesIn(question), question);
    const plain = attempt(() => plainTokens(question.intent, question.state, vocabularyOf(question))) ?? intent;
    const faithful = (choices: readonly string[], asked: boolean, told: readonly string[]) =>
      choices.filter((text) => isFaithful(plain, { text, asked, ...outcomeOf(text, question) }, told, question));
    const joining = withNewcomers(question.intent);
    const unlabelled = joining === undefined ? newcomersWithoutLabel(question.intent, question.state) : undefined;
    if (unlabelled) return { choices: [], ...unlabelled, partial };
    if (joining !== undefined && isCertain(joining, question))
      return { choices: [joining], questions: [NEWCOMERS], partial };
    const offered = choicesOf(refusal.offers, intent, (choice) => isPlanned(choice, question));
    const lifting = liftingOf(plain, question).filter((text) => isPlanned(text, question));
    if (refusal.offers.final && lifting.length === 0)
      return { choices: offered, reason: refusal.message, questions: refusal.questions };
    const own = refusal.offers.final ? [] : faithful(offered, true, [refusal.message, ...refusal.questions]);
    if (own.length > 0 || intent.length === 0) return { choices: own, partial };
    if (lifting.length > 0) return { choices: lifting, questions: [LIFTED], partial };
    const found = suggested(question.intent, vocabularyOf(question), question, (choice) => isCertain(choice, question));
    // A reading that leaves words out may name the wrong peers or direction.
    if (!found?.isWhole) return { choices: [], partial };
    const isWhole = () => faithful([found.likeliest], false, [found.question]).length > 0;
    if (found.choices.length === 0) return { partial, ...impossible(found.likeliest, refusal, question, isWhole) };
    const choices = faithful(found.choices, false, [found.question]);
    if (choices.length === 0) return { choices, partial };
    const known = partial && partial.changes.length > 0 ? partial : undefined;
    return { choices, questions: [found.question], partial: known ?? partOf({ ...found, choices }, question) };
  });
}

const LIFTED = 'What forbids just this is named in the choice: should it end? The plan shows all that opens then.';

/** The reading is clear, and what it asks for is refused for a reason of its own. */
function impossible(
  likeliest: string,
  { message }: Refusal,
  { history: _, ...question }: Question,
  isWhole: () => boolean,
): Helped {
  const answer = answered({ ...question, intent: likeliest }, () => ({ choices: [] }));
  const read = `Read as ${JSON.stringify(likeliest)}`;
  if (answer.outcome === 'changes' && answer.changes.length === 0 && isWhole())
    return { choices: [], questions: [`${read}: it is so already, and nothing would change. What else should?`] };
  if (answer.outcome !== 'refused' || answer.reason === message || !isWhole()) return { choices: [] };
  return { choices: [], questions: [`${read}: ${answer.reason}`, ...answer.questions] };
}

/** The likeliest choice as changes where no other is likely, else what is to hold. */
function partOf({ choices, certain }: Suggested, { history: _, ...question }: Question): PartialPlan | undefined {
  const [intent = ''] = choices;
  const answer = answered({ ...question, intent }, () => ({ choices: [] }));
  if (answer.outcome !== 'changes') return undefined;
  return { changes: certain ? answer.changes : [], expectations: answer.expectations };
}

/** What a choice changes, and who and whom its orders name. */
function outcomeOf(intent: string, question: Question): Pick<Offered, 'changes' | 'orders'> {
  const vocabulary = vocabularyOf(question);
  const answer = answered({ ...question, intent }, () => ({ choices: [] }));
  const wishes = attempt(
    () => understood(wordsOf(intent, vocabulary), undefined, vocabulary, closesIn(question)).wishes,
  );
  return {
    changes: answer.outcome === 'changes' ? answer.changes : [],
    orders: (wishes ?? []).map(({ statement }) => statement.slots),
  };
}

/** Planned without a question, and not in vain. */
function isCertain(intent: string, question: Question): boolean {
  const { history: _, ...alone } = question;
  const answer = answered({ ...alone, intent }, () => ({ choices: [] }));
  const whole = answer.outcome === 'changes' && answer.changes.length > 0 && answer.questions === undefined;
  return whole && isPlanned(intent, question);
}

/** A choice is sent with what was said before it, or alone. */
function isPlanned(intent: string, { history, ...question }: Question): boolean {
  const nothing = () => ({ choices: [] });
  const alone = answered({ ...question, intent }, nothing).outcome !== 'refused';
  return alone && (!history?.length || answered({ ...question, intent, history }, nothing).outcome !== 'refused');
}

interface Helped {
  readonly choices: string[];
  /** In place of the refusal's own. */
  readonly reason?: string;
  readonly questions?: readonly string[];
  readonly partial?: PartialPlan | undefined;
}

type Help = (refusal: Refusal, intent: readonly Token[]) => Helped;

function answered(question: Question, help: Help): PlanAnswer {
  let tokens: readonly Token[] = [];
  try {
    tokens = wordsOf(question.intent, vocabularyOf(question));
    return planned(question, tokens);
  } catch (error) {
    if (error instanceof MeshError) return { outcome: 'refused', reason: error.message, questions: [], choices: [] };
    if (!(error instanceof Refusal)) throw error;
    const { choices, reason = error.message, questions = error.questions, partial } = help(error, tokens);
    return {
      outcome: 'refused',
      reason,
      questions: leadingOn(questions, choices),
      choices,
      ...(partial && { partial }),
    };
  }
}

function vocabularyOf({ state, now, timeZone }: Question): Vocabulary {
  const names = namesOf(state);
  return {
    now,
    timeZone,
    isName: (word) => isNameIn(names, word),
    isPlace: (word) => isPlaceIn(names, word),
    likeness: likenessIn(state),
  };
}

function closesIn({ state }: Question): Closes {
  return (closing, opening) => closesSomeOf(closing, opening, state);
}

function planned(question: Question, tokens: readonly Token[]): PlanAnswer {
  try {
    return plannedAsSaid(question, tokens);
  } catch (error) {
    const plain = error instanceof Refusal ? withoutElse(tokens) : undefined;
    const alone = plain && attempt(() => aloneIn(plain, question));
    if (alone) return alone;
    throw error;
  }
}

function aloneIn(plain: readonly Token[], question: Question): PlanAnswer | undefined {
  const { wishes, remarks } = understood(plain, undefined, vocabularyOf(question), closesIn(question));
  const [only, second] = wishes;
  return only && !second && !only.amends && remarks.length === 0 ? aloneAlready(only.statement, question) : undefined;
}

function plannedAsSaid(question: Question, tokens: readonly Token[]): PlanAnswer {
  const { state, now, history = [] } = question;
  const [vocabulary, closes] = [vocabularyOf(question), closesIn(question)];
  const { wishes, remarks } = understood(tokens, lastOf(history, vocabulary, closes), vocabulary, closes);
  const [only] = wishes;
  const target = only && wishes.length === 1 ? revertOf(only.statement) : undefined;
  if (target) return { outcome: 'revert', target };
  for (const { statement } of wishes) {
    requireElseClosed(statement, state, now);
    requireStillOpen(statement, state, now);
  }
  const before = only?.amends && compose(stepsOf(only.amends, state, now), state, now);
  const asked = before ? { ...question, state: withoutDone(before, state, now) } : question;
  const statements = wishes.map(({ statement }) => statement);
  const next = composed(statements, asked);
  const endless = endlessIn(statements, next.changes, asked);
  const questions = [...endless, ...closedThoughGranted(next, asked), ...remarks.map(remarkOf)];
  const notes = questions.length > 0 && { questions };
  if (!before) return { outcome: 'changes', ...next, ...notes };
  return { outcome: 'changes', ...amendedAct(next, before, state, now), ...notes };
}

function composed(statements: readonly Statement[], { state, now, timeZone }: Question): Act {
  const [only, second] = statements;
  try {
    return compose(
      statements.flatMap((statement) => stepsOf(statement, state, now)),
      state,
      now,
    );
  } catch (error) {
    if (!(error instanceof Refusal) || !only || second) throw error;
    throw withOpenPart(error, only, { state, now, timeZone });
  }
}

/** Nothing that was said is dropped in silence. */
function remarkOf(words: readonly Token[]): string {
  return `Taken as a remark, changes nothing: ${quoted(said(words))}. Should it change who reaches whom? Then say so in a sentence of its own.`;
}

/** Intents before this one that are looked at. */
const MAX_HISTORY = 10;

/** The last thing that was said before and understood; what was not, is as if it was not said. */
function lastOf(history: readonly string[], vocabulary: Vocabulary, closes: Closes): Statement | undefined {
  let last: Statement | undefined;
  for (const intent of history.slice(-MAX_HISTORY)) {
    try {
      const { wishes } = understood(wordsOf(intent, vocabulary), last, vocabulary, closes);
      // Of several it is not clear which is meant.
      last = wishes.length === 1 ? wishes[0]?.statement : undefined;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      last = undefined;
    }
  }
  return last;
}
