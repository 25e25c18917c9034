import { besides, closesOthers, othersClosed, withoutOnly } from './besides.ts';
import { withoutBrackets } from './brackets.ts';
import { Coverage } from './coverage.ts';
import { clauseOf } from './exception-clauses.ts';
import { type FollowUp, followUp, withReferents } from './follow-up.ts';
import { isOtherLanguage } from './language.ts';
import { recognise, type Token } from './lexicon.ts';
import { refusePaths } from './network-paths.ts';
import { refuseHiddenNames } from './nouns.ts';
import { withOtherTraffic } from './other-traffic.ts';
import { withElse } from './others.ts';
import { partsOf } from './parts.ts';
import { withPlaces } from './places.ts';
import { withPortConditions } from './port-conditions.ts';
import { eachWithPorts } from './ports-for-each.ts';
import { withoutReason } from './reasons.ts';
import { quoted, Refusal, said } from './refusal.ts';
import { withoutRemarks } from './remarks.ts';
import { refuseSchedules } from './schedules.ts';
import { leadFor, type Order, refuseTrailing, type Scoped, withLeads } from './scopes.ts';
import { type Sentence, sentencesOf } from './sentences.ts';
import { withSpokenLimits } from './spoken-limits.ts';
import { parseStatement, type Statement } from './statements.ts';
import { swapOf } from './swaps.ts';
import { unclearEnd } from './times.ts';
import { tokenise } from './tokens.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Whether the first statement closes some of what the second wants open. */
export type Closes = (closing: Statement, opening: Statement) => boolean;

/** What an intent asks for, and the clauses of it that change nothing. */
export interface Understood {
  readonly wishes: readonly FollowUp[];
  readonly remarks: readonly (readonly Token[])[];
}

/** The words of an intent. @throws Refusal when it is too long or in another language. */
export function wordsOf(intent: string, vocabulary: Vocabulary): Token[] {
  const tokens = withPortConditions(withSpokenLimits(withPlaces(recognise(tokenise(intent)), vocabulary), vocabulary));
  if (isOtherLanguage(tokens, vocabulary.isName)) {
    throw new Refusal('Only English is understood here, unless a model planner is configured.', [
      'Can it be said in English, such as "let web reach db on port 5432"?',
    ]);
  }
  refuseHiddenNames(tokens, vocabulary.isName);
  return tokens;
}

/**
 * What an intent asks for, statement by statement. Every word is used by a statement, or without meaning.
 *
 * @throws Refusal quoting what is not understood, or not accounted for.
 */
export function understood(
  tokens: readonly Token[],
  last: Statement | undefined,
  vocabulary: Vocabulary,
  closes: Closes,
): Understood {
  const coverage = new Coverage();
  const unbracketed = withoutBrackets(tokens, vocabulary);
  const { tokens: orders, remarks } = withoutRemarks(unbracketed, vocabulary);
  coverage.use(remarks.flat());
  const sentences = withLeads(sentencesOf(orders), vocabulary);
  if (sentences.length === 0) throw new Refusal('Nothing is asked for.', ['What should change?']);
  const found: FollowUp[] = [];
  const read: Order[] = [];
  const restricted = new Set<Statement | undefined>();
  for (const [index, sentence] of sentences.entries()) {
    const before = found.at(-1)?.statement;
    const others = withOtherTraffic(sentence.tokens, before);
    if (before && closesOthers(others)) {
      coverage.use([...sentence.tokens, ...(sentence.but ? [sentence.but] : [])]);
      const statement = othersClosed(
        others,
        before,
        found.map((one) => one.statement),
      );
      // What is only kept or restricted is not granted as well.
      if (restricted.has(before) || before.wish === 'keep') found[found.length - 1] = { statement };
      else found.push({ statement });
      continue;
    }
    if (before?.until !== undefined && sentence.tokens.every(({ sym }) => sym === 'FOR_GOOD'))
      throw unclearEnd(before.words, vocabulary, [...before.words, ...sentence.tokens]);
    const { rest, reason } = withoutReason(sentence.tokens);
    coverage.use([...rest, ...reason, ...(sentence.but ? [sentence.but] : [])]);
    refuseSchedules(rest, vocabulary);
    refusePaths(rest, vocabulary);
    const following = sentences[index + 1];
    const words = following && closesOthers(following.tokens) ? withoutOnly(rest, following.tokens) : rest;
    const each = eachWithPorts(words, vocabulary);
    if (each !== undefined) {
      const { wishes } = understood(wordsOf(each, vocabulary), undefined, vocabulary, closes);
      found.push(...wishes);
      read.push({ sentence: { ...sentence, tokens: rest }, statements: wishes.map(({ statement }) => statement) });
      continue;
    }
    const swap = swapOf([...leadFor(sentence.lead, words, vocabulary), ...words], vocabulary);
    // "Everyone instead of ci" would open and close the same.
    if (swap && !closes({ ...swap[1], wish: 'deny' }, swap[0])) {
      found.push(...swap.map((statement) => ({ statement })));
      read.push({ sentence, statements: swap });
      continue;
    }
    const statements: Statement[] = [];
    for (const part of partsOf(words, vocabulary)) {
      const next = nextOf({ ...sentence, tokens: part }, found.at(-1)?.statement ?? last, vocabulary, closes);
      if (next.amends && found.length > 0) found[found.length - 1] = { statement: next.statement };
      else {
        found.push(next);
        statements.push(next.statement);
      }
    }
    read.push({ sentence: { ...sentence, tokens: rest }, statements });
    if (words.length < rest.length) restricted.add(found.at(-1)?.statement);
  }
  coverage.requireAll(unbracketed);
  refuseTrailing(read, vocabulary);
  return { wishes: found, remarks };
}

function nextOf(sentence: Scoped, before: Statement | undefined, vocabulary: Vocabulary, closes: Closes): FollowUp {
  const amended = besides(sentence.tokens, before) ?? keptOpen(sentence, before, vocabulary);
  if (amended && before) return { statement: amended, amends: before };
  const follows = followsUp(sentence, before, vocabulary);
  if (follows) return follows;
  const statement = readAs(sentence.tokens, before, vocabulary);
  const exception = before && statement.wish === 'allow' && exceptionOf(sentence, statement, before, closes);
  if (exception) return exception;
  const lead = leadFor(sentence.lead, sentence.tokens, vocabulary);
  return { statement: lead.length > 0 ? readAs([...lead, ...sentence.tokens], before, vocabulary) : statement };
}

function readAs(tokens: readonly Token[], before: Statement | undefined, vocabulary: Vocabulary): Statement {
  return withElse(withReferents(parseStatement(tokens, vocabulary), before), before);
}

/** A sentence with an exception is asked about as what it is, not as what goes on from another. */
function followsUp({ tokens }: Sentence, before: Statement | undefined, vocabulary: Vocabulary): FollowUp | undefined {
  if (!tokens.some(({ sym }) => sym === 'EXCEPT')) return followUp(tokens, before, vocabulary);
  try {
    return followUp(tokens, before, vocabulary);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

const CLOSING: readonly Statement['wish'][] = ['deny', 'isolate'];

/** "Quarantine web-2 but keep ssh from my-laptop". */
function keptOpen({ tokens }: Sentence, before: Statement | undefined, vocabulary: Vocabulary): Statement | undefined {
  if (tokens[0]?.sym !== 'KEEP' || !before || !CLOSING.includes(before.wish)) return undefined;
  const clause = clauseOf(tokens.slice(1), vocabulary, true);
  if (!clause || clause.until !== undefined || (!clause.source && !clause.target)) {
    if (
      tokens.some(({ sym }) => sym === 'FROM') &&
      tokens.every(({ sym }) => sym !== 'ACCESS') &&
      !clause?.ports.length
    )
      return undefined;
    throw new Refusal(`It is not clear what ${quoted(said(tokens))} should keep open.`, [
      'From whom, or to whom, on which ports? Say "except <ports> from <source>" in the same sentence.',
    ]);
  }
  const { source, target, ports } = clause;
  const resolved = withReferents(
    { ...before, slots: { ...(source && { source }), ...(target && { target }) } },
    before,
  );
  const exception = { source: resolved.slots['source'], target: resolved.slots['target'], ports, kept: true };
  return { ...before, exceptions: [...before.exceptions, exception] };
}

/** "Block ci from db but let ci-1 reach it on 22", and the same said in two sentences. */
function exceptionOf({ but }: Sentence, opening: Statement, before: Statement, closes: Closes): FollowUp | undefined {
  if (!closes(before, opening)) return undefined;
  const { source, target } = opening.slots;
  const plain = CLOSING.includes(before.wish) && opening.until === undefined && !opening.exclusive && !opening.mutual;
  if (!plain || !source || !target || opening.exceptions.length > 0 || opening.spared.length > 0) {
    throw new Refusal(
      `${quoted(before.text)} closes some of what ${quoted(opening.text)} opens, and what is forbidden wins.`,
      ['What should be open in the end? Say it as an exception of the first: "… except 22/tcp from ops".'],
    );
  }
  const exception = { source, target, ports: opening.ports, kept: true };
  if (but) return { statement: { ...before, exceptions: [...before.exceptions, exception] }, amends: before };
  throw new Refusal(
    `${quoted(before.text)} closes some of what ${quoted(opening.text)} opens, and what is forbidden wins.`,
    ['Should the second be an exception of the first?'],
    { choices: [`${said(before.words)}, but ${said(opening.words)}`] },
  );
}
