import {
  notUnderstood,
  type ParsedQuestion,
  type PeerOverRange,
  type Question,
  type QuestionEnd,
  type QuestionReader,
  type ResourceOverRange,
} from '../../core/history/pair/question-reader.ts';
import { quoted } from '../../core/model/find.ts';
import { textAt, type Word } from '../grammar/tokens.ts';
import { type Called, calledIn, isSameSet } from './called.ts';
import { type Mention, mentionsIn, peersOf } from './mentions.ts';
import { portIn } from './ports.ts';
import { actorIn, asksChanges, aspectIn, resourcesIn } from './resources.ts';
import {
  isEitherWay,
  isExposedTo,
  isOpenedTo,
  isOwnLabel,
  isReachedBy,
  isReversed,
  isTarget,
  type Side,
} from './sides.ts';
import { soughtIn } from './sought.ts';
import { timeIn } from './times.ts';
import { unusedOf } from './unused.ts';
import { REACHING, wordsOf } from './words.ts';

/**
 * Reads questions about the past of a network. `Since when can't the CI runners reach the database on 5432?` asks about
 * role=ci to db-1 on TCP 5432; what is not understood is asked back, never guessed.
 */
export const questionReader = {
  read(question: string, now: number, timeZone: string): ParsedQuestion {
    const words = wordsOf(question);
    const { time, used } = timeIn(words, { now, timeZone });
    return { ...(time && { time }), about: (peers, others = []) => askedIn(words, used, calledIn(peers), others) };
  },
} satisfies QuestionReader;

function askedIn(
  words: readonly Word[],
  timeWords: ReadonlySet<number>,
  called: Called,
  known: readonly ResourceOverRange[],
): Question {
  const taken = new Set(timeWords);
  const actor = actorIn(words, timeWords, called);
  for (const at of actor?.used ?? []) taken.add(at);
  const resources = resourcesIn(words, taken, known, called);
  for (const { at } of resources) taken.add(at);
  const mentions = mentionsIn(words, taken, called);
  for (const { begin, end } of mentions) for (let at = begin; at < end; at += 1) taken.add(at);
  const named = new Set(taken);
  const { used, ...scope } = portIn(words, taken);
  for (const at of used) taken.add(at);
  const sides = sidesOf(distinct(mentions), words);
  const unused = unusedOf(words, taken, called, sides.length + resources.length + (actor ? 1 : 0));
  const [resource, ...more] = resources;
  const names = resources.map((one) => one.resource.name);
  if (actor) {
    const beside = [...mentions.map(({ text }) => text), ...names];
    return { about: 'deeds', actor: actor.name, ...withoutScope({ ...scope, unused: [...unused, ...beside] }) };
  }
  if (resource && sides.length === 0) {
    const others = more.map((one) => one.resource.name);
    return ownHistory(resource.resource, words, named, { ...scope, unused: [...unused, ...others] });
  }
  const rest = { ...scope, unused: [...unused, ...names] };
  return askedOf(sides, words, { taken, named }, called, rest);
}

/** Ports say something of connections alone. */
function withoutScope({ protocol, port, unused }: Scope): Scope {
  const said = port === undefined ? protocol : String(port);
  return { unused: said === undefined ? unused : [...unused, said] };
}

type Scope = Pick<Question, 'protocol' | 'port' | 'unused'>;

function askedOf(
  sides: readonly Side[],
  words: readonly Word[],
  { taken, named }: { readonly taken: ReadonlySet<number>; readonly named: ReadonlySet<number> },
  called: Called,
  rest: Scope,
): Question {
  const [one, other, third] = sides;
  if (third) throw notUnderstood(`More than two are named: ${FORM}`);
  const sought = soughtIn(words, taken);
  const ofConnection = { ...(sought && { sought }), ...rest };
  if (!one) {
    if (asksChanges(words, named)) return { about: 'changes', ...withoutScope(rest) };
    throw notUnderstood(`No peer is named. ${FORM}`);
  }
  if (!other) {
    if (isExposedTo(one, words)) return { about: 'reach', src: endOf(one), ...rest };
    if (asksWho(words))
      return { about: 'reach', ...(isReachedBy(one, words) ? { dst: endOf(one) } : { src: endOf(one) }), ...rest };
    if (sought && isTarget(one, words)) {
      return { about: 'connection', src: everyone(called), dst: endOf(one), ...ofConnection };
    }
    return ownHistory(onlyPeer(one), words, named, rest);
  }
  if (isOwnLabel(one, other, words))
    return { about: 'resource', resource: onlyPeer(one), aspect: 'labels', ...withoutScope(rest) };
  if (isEitherWay(one, other, words)) {
    const [first, second] = [endOf(one).text, endOf(other).text];
    const said = quoted(`${first} to ${second}`);
    const ways = `${quoted(`from ${first} to ${second}`)} or ${quoted(`from ${second} to ${first}`)}`;
    throw notUnderstood(`What was closed, ${said}, can be read in both directions: ask what closed the way ${ways}.`);
  }
  const [src, dst] = isReversed(one, other, words) ? [other, one] : [one, other];
  return { about: 'connection', src: endOf(src), dst: endOf(dst), ...ofConnection };
}

const FORM = `Ask about two: "since when can't web-1 reach db-1 on 5432, and why?"`;

function everyone({ all }: Called): QuestionEnd {
  return { text: 'every peer', peers: all.map(({ peer }) => peer), term: '*' };
}

/** @throws MeshError that asks back, for several */
function onlyPeer(side: Side): ResourceOverRange {
  const { text, peers } = endOf(side);
  const [peer, other] = peers;
  if (peer && !other) return { kind: 'MeshPeer', name: peer.name, uid: peer.uid };
  throw notUnderstood(`Only ${text} is named. ${FORM}`);
}

/** @throws MeshError that asks back, where none of its changes is asked for */
function ownHistory(
  resource: ResourceOverRange,
  words: readonly Word[],
  taken: ReadonlySet<number>,
  rest: Scope,
): Question {
  const aspect = aspectIn(words, taken);
  if (aspect) return { about: 'resource', resource, aspect, ...withoutScope(rest) };
  const { name } = resource;
  const [unknown] = rest.unused;
  const not = unknown === undefined ? '' : `, and ${quoted(unknown)} is not known`;
  throw notUnderstood(
    `Only ${name} is named${not}. ${FORM} Or ask what was done to it: "who created, renamed, relabelled or deleted ${name}?"`,
  );
}

function distinct(mentions: readonly Mention[]): Mention[] {
  const isSame = (a: Mention, b: Mention) => {
    const [own, others] = [a.meanings.flatMap(({ peers }) => peers), b.meanings.flatMap(({ peers }) => peers)];
    return a.outside === b.outside && isSameSet(own, others);
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

function endOf(side: Side): QuestionEnd {
  const [only, ...more] = side;
  if (only?.outside !== undefined && more.length === 0)
    return { text: only.outside, peers: [], outside: only.outside, term: only.outside };
  const found = side.map((mention) => ({ mention, ...peersOf(mention) }));
  const known = new Map<string, PeerOverRange>();
  for (const { peers } of found) for (const one of peers) known.set(one.peer.uid, one);
  const texts = found.map(({ mention, peers, term }) => {
    const [only, more] = peers;
    if (term === '*') return 'every peer';
    return only && !more ? only.peer.name : (term ?? mention.text);
  });
  const [first, second] = found;
  const [peer, another] = first?.peers ?? [];
  const term = second ? undefined : peer && !another ? peer.peer.name : first?.term;
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
