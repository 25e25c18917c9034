import { MeshError } from '../../core/base/errors.ts';
import type { NetworkChange } from '../../core/changes/changes.ts';
import type { PartialPlan } from '../../core/intent/plan/planner.ts';
import type { Expectation } from '../../core/intent/verify/expectation.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { withoutBrackets } from './brackets.ts';
import { compose } from './compose.ts';
import type { Token } from './lexicon.ts';
import { stepsOf } from './perform.ts';
import { meantPorts } from './port-entries.ts';
import { withoutReason } from './reasons.ts';
import { Refusal, said } from './refusal.ts';
import { sharesBounds } from './scopes.ts';
import { sentencesOf } from './sentences.ts';
import { parseStatement, type Statement } from './statements.ts';
import { parseSubjects } from './subjects.ts';
import { type Closes, understood } from './understand.ts';
import type { Vocabulary } from './vocabulary.ts';

interface At {
  readonly state: NetworkState;
  readonly now: number;
}

/**
 * What of a refused intent is understood: the changes of its sentences that are planned by themselves, and of the others
 * what is meant to hold, with the user's own words where a name is not known. Nothing of it is wider than what was said.
 */
export function partialOf(
  tokens: readonly Token[],
  vocabulary: Vocabulary,
  closes: Closes,
  at: At,
): PartialPlan | undefined {
  const sentences = attempt(() => sentencesOf(withoutBrackets(tokens, vocabulary))) ?? [];
  const changes: NetworkChange[] = [];
  const expectations: Expectation[] = [];
  // One that goes on from another cannot be taken out of its place.
  const apart = sentences.length > 1 && sentences.every(({ but }) => !but);
  if (apart && sharesBounds(sentences, vocabulary)) return undefined;
  for (const sentence of sentences) {
    const words = attempt(() => withoutReason(sentence.tokens).rest);
    if (!words) continue;
    const act = apart && attempt(() => actOf(words, vocabulary, closes, at));
    if (act) {
      changes.push(...act.changes);
      expectations.push(...act.expectations);
      continue;
    }
    // "Nothing in": words that belong to what stands beside them, and may turn it.
    if (apart && words.every(({ sym }) => sym !== undefined)) return undefined;
    const statement = attempt(() => parseStatement(words, vocabulary));
    if (statement) expectations.push(...meantBy(statement, at.state));
  }
  return changes.length + expectations.length > 0 ? { changes, expectations } : undefined;
}

function actOf(tokens: readonly Token[], vocabulary: Vocabulary, closes: Closes, { state, now }: At) {
  const { wishes } = understood(tokens, undefined, vocabulary, closes);
  return compose(
    wishes.flatMap(({ statement }) => stepsOf(statement, state, now)),
    state,
    now,
  );
}

/** Who should reach whom, or not, in terms where they are known and in the user's words where they are not. */
function meantBy(statement: Statement, state: NetworkState): Expectation[] {
  const { wish, slots, exceptions } = statement;
  const { source, target } = slots;
  if ((wish !== 'allow' && wish !== 'deny') || exceptions.length > 0 || !source || !target) return [];
  const [sources, targets] = [termsOf(source, state), termsOf(target, state)];
  const ports = attempt(() => meantPorts(statement));
  if (!sources || !targets || !ports) return [];
  const entries: readonly Partial<(typeof ports)[number]>[] = ports.length > 0 ? ports : [{}];
  return sources.flatMap((src) =>
    targets.flatMap((dst) =>
      entries.map(({ protocol, port, endPort }) => ({
        src,
        dst,
        ...(ports.length > 0 && { protocol: protocol ?? 'TCP' }),
        ...(port !== undefined && { port }),
        ...(endPort !== undefined && { endPort }),
        expect: wish,
      })),
    ),
  );
}

/** Undefined where the words are more than a name that is not known. */
function termsOf(tokens: readonly Token[], state: NetworkState): readonly string[] | undefined {
  const known = attempt(() => parseSubjects(tokens, state));
  if (known) return known.flatMap(({ terms }) => terms);
  return tokens.every(({ sym }) => sym === undefined) ? [said(tokens)] : undefined;
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal || error instanceof MeshError) return undefined;
    throw error;
  }
}
