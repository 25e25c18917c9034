import {
  type Asked,
  type AskedEnd,
  type KnownPeer,
  notUnderstood,
  type QuestionReader,
  type ReadQuestion,
} from '../../core/history/pair/question-reader.ts';
import { textAt, type Word } from '../grammar/tokens.ts';
import { type Called, calledIn, isSameSet } from './called.ts';
import { type Mention, mentionsIn, peersOf, unknownName } from './mentions.ts';
import { portIn } from './ports.ts';
import { isOpenedTo, isReachedBy, isReversed, type Side } from './sides.ts';
import { timeIn, unknownMoment } from './times.ts';
import { ALL, ARTICLES, COMMON, COUNTS, FROM, REACHING, TOWARDS, textOf, wordsOf } from './words.ts';

/**
 * Reads questions about the past of a network. `Since when can't the CI runners reach the database on 5432?` asks about
 * role=ci to db-1 on TCP 5432; what is not understood is asked back, never guessed.
 */
export const questionReader: QuestionReader = {
  read(question, now, timeZone): ReadQuestion {
    const words = wordsOf(question);
    const { time, used } = timeIn(words, { now, timeZone });
    return { ...(time && { time }), about: (peers) => askedIn(words, used, calledIn(peers)) };
  },
};

function askedIn(words: readonly Word[], timeWords: ReadonlySet<number>, called: Called): Asked {
  const mentions = mentionsIn(words, timeWords, called);
  const taken = new Set(timeWords);
  for (const { begin, end } of mentions) for (let at = begin; at < end; at += 1) taken.add(at);
  const { used, ...scope } = portIn(words, taken);
  for (const at of used) taken.add(at);
  const sides = sidesOf(distinct(mentions), words);
  const unused = unusedOf(words, taken, called, sides.length);
  const [one, other, third] = sides;
  const rest = { ...scope, unused };
  if (third) throw notUnderstood(`More than two are named: ${FORM}`);
  if (!one) {
    if (words.some(({ text }) => /^chang(?:e|es|ed|ing)$/.test(text))) return { about: 'changes', ...rest };
    throw notUnderstood(`No peer is named. ${FORM}`);
  }
  if (!other) {
    const end = endOf(one);
    if (!asksWho(words)) throw notUnderstood(`Only ${end.text} is named. ${FORM}`);
    return { about: 'reach', ...(isReachedBy(one, words) ? { dst: end } : { src: end }), ...rest };
  }
  const [src, dst] = isReversed(one, other, words) ? [other, one] : [one, other];
  return { about: 'connection', src: endOf(src), dst: endOf(dst), ...rest };
}

const FORM = `Ask about two: "since when can't web-1 reach db-1 on 5432, and why?"`;

function distinct(mentions: readonly Mention[]): Mention[] {
  const isSame = (a: Mention, b: Mention) => {
    const [own, others] = [a.meanings.flatMap(({ peers }) => peers), b.meanings.flatMap(({ peers }) => peers)];
    return isSameSet(own, others);
  };
  return mentions.filter((mention, at) => mentions.findIndex((other) => isSame(mention, other)) === at);
}

/** Two mentions are two sides; of more, those that a list joins are one. "Between" parts the first from the others. */
function sidesOf(mentions: readonly Mention[], words: readonly Word[]): Side[] {
  const [first, ...others] = mentions;
  if (!first) return [];
  const isJoined = (last: Mention, next: Mention) => {
    const between = words.slice(last.end, next.begin).map(({ text }) => text);
    return between.length > 0 && between.every((word) => ['and', 'or', 'nor', ',', 'either', 'both'].includes(word));
  };
  const isBetween = textAt(words, first.begin - 1) === 'between';
  const isOneList = asksWho(words) && others.every((next, at) => isJoined(mentions[at] ?? first, next));
  if (mentions.length === 2 && !isOneList) return mentions.map((mention) => [mention]);
  const sides: Mention[][] = [[first]];
  for (const [at, next] of others.entries()) {
    const isApart = isBetween && at === 0;
    if (!isApart && isJoined(mentions[at] ?? first, next)) sides.at(-1)?.push(next);
    else sides.push([next]);
  }
  return sides;
}

function endOf(side: Side): AskedEnd {
  const found = side.map((mention) => ({ mention, ...peersOf(mention) }));
  const known = new Map<string, KnownPeer>();
  for (const { peers } of found) for (const one of peers) known.set(one.peer.uid, one);
  const texts = found.map(({ mention, peers, term }) => {
    const [only, more] = peers;
    if (term === '*') return 'every peer';
    return only && !more ? only.peer.name : (term ?? mention.text);
  });
  const [first, second] = found;
  const [only, more] = first?.peers ?? [];
  const term = second ? undefined : only && !more ? only.peer.name : first?.term;
  return {
    text: texts.join(' and '),
    peers: [...known.values()].map(({ peer }) => peer),
    ...(term !== undefined && { term }),
  };
}

/** "What could reach db-1?", "which peers did web-1 talk to?" */
function asksWho(words: readonly Word[]): boolean {
  const at = words.findIndex(({ text }) => ['what', 'who', 'whom', 'which'].includes(text));
  const isCause = words.some(({ text }) => ['why', 'when', 'broke', 'stopped', 'caused', 'changed'].includes(text));
  return at >= 0 && !isCause && (words.some(({ text }) => REACHING.has(text)) || isOpenedTo(words));
}

/** Said right before a name. */
const BEFORE_NAME: ReadonlySet<string> = new Set([
  ...TOWARDS,
  ...FROM,
  ...ALL,
  'in',
  'between',
  'peer',
  'node',
  'named',
  'called',
]);
const BEFORE_MOMENT: ReadonlySet<string> = new Set(['before', 'after', 'during', 'between']);

/** @throws MeshError that asks back, where a word that is not known says who or when */
function unusedOf(words: readonly Word[], taken: ReadonlySet<number>, called: Called, sides: number): string[] {
  const unused: string[] = [];
  for (const [at, { text }] of words.entries()) {
    if (taken.has(at) || text.length < 2 || COMMON.has(text) || ARTICLES.has(text) || COUNTS.has(text)) continue;
    let before = at - 1;
    while (ARTICLES.has(textAt(words, before)) || COUNTS.has(textAt(words, before))) before -= 1;
    const lead = textAt(words, before);
    if (BEFORE_MOMENT.has(lead) && sides !== 1) throw unknownMoment(textOf(words, before + 1, at + 1));
    if (/[\d=]/.test(text) || text.includes('-') || BEFORE_NAME.has(lead)) throw unknownName(text, called);
    unused.push(text);
  }
  const [first] = unused;
  if (first !== undefined && sides < 2) throw unknownName(first, called);
  return unused;
}
