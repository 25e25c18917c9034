import { containsRange, parseAddress, parseCidr } from '../../core/model/cidr.ts';
import { normalizeName } from '../../core/model/resources.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { conjoined } from './conjunctions.ts';
import type { Sym, Token } from './lexicon.ts';
import { formsOf, namesOf } from './names.ts';
import { PEER_NOUNS } from './nouns.ts';
import { refuseOneOfMany } from './one-of-many.ts';
import { addresses, outside } from './outside.ts';
import { withOwners } from './owners.ts';
import { ARTICLES, constrained, EVERYONE, quotedSubject, unclearText } from './phrases.ts';
import { isRange, withoutRanges } from './ranges.ts';
import { attempt, enumerated, quoted, Refusal } from './refusal.ts';
import { everyone, onePeer, type Subject, without } from './subject.ts';

const MAX_SUBJECTS = 30;
const NOBODY_NAMED = 'It is not said who is meant.';
const ALL: ReadonlySet<string> = new Set(['all', 'every', 'each', 'any', 'both']);
const WHOLE: ReadonlySet<string> = new Set(['entire', 'whole', 'complete']);
const OUTSIDE: ReadonlySet<string> = new Set([
  'internet',
  'outside',
  'outside world',
  'world',
  'public internet',
  'external addresses',
  'outsiders',
]);

/**
 * The subjects of a phrase such as `the web servers, role=db and peer api-1` or `everyone except ci`. Every word must be
 * understood.
 *
 * @throws Refusal naming what is unknown or has more than one meaning.
 */
export function parseSubjects(tokens: readonly Token[], state: NetworkState): Subject[] {
  const [base = [], ...exceptions] = split(tokens, ['EXCEPT']);
  if (exceptions.length > 1) throw unclear(tokens);
  const subjects = itemsOf(base, state);
  const [exception] = exceptions;
  return exception === undefined ? subjects : exclude(subjects, itemsOf(exception, state), state);
}

/** Takes some out of whichever subjects they belong to. */
export function exclude(subjects: readonly Subject[], excepted: readonly Subject[], state: NetworkState): Subject[] {
  const isIn = (one: Subject, group: Subject) =>
    (isRange(one) && (group.everyone || group.outsiders.length > 0)) ||
    (one.peers.length > 0 && one.peers.every((peer) => group.peers.includes(peer)));
  if (excepted.every(isRange) && subjects.every(({ selector }) => selector === undefined))
    return subjects.map((group) => withoutRanges(group, excepted));
  const stray = excepted.find((one) => !subjects.some((group) => isIn(one, group)));
  if (stray) {
    throw new Refusal(`${quoted(stray.noun)} is no part of ${enumerated(subjects.map(({ noun }) => quoted(noun)))}.`, [
      `What should hold for ${quoted(stray.noun)}?`,
    ]);
  }
  return subjects.flatMap((group) => {
    const mine = excepted.filter((one) => isIn(one, group));
    if (mine.length === 0) return [group];
    const left = without(group, mine, state);
    if (left.every(({ peers }) => peers.length === 0))
      throw new Refusal(`Nobody is left of ${quoted(left[0]?.noun ?? group.noun)}.`, ['Who is meant?']);
    return left;
  });
}

function itemsOf(words: readonly Token[], state: NetworkState): Subject[] {
  const tokens = withOwners(words, state, (some) =>
    attempt(() => constrained(wordsIn(some), textOf(some), state).noun),
  );
  refuseJoinedLabels(tokens);
  const items = split(tokens, ['AND', 'OR', 'COMMA']).filter((item) => item.length > 0);
  if (items.length === 0) throw new Refusal(NOBODY_NAMED, ['Who is meant?']);
  if (items.length > MAX_SUBJECTS)
    throw new Refusal(`More than ${MAX_SUBJECTS} are named at once: use a label, or fewer steps.`);
  const parsed = items.map((item) => parseItem(item, state));
  refuseJoinedPlaces(items, parsed);
  const subjects = conjoined(items, parsed, tokens, state);
  const all = subjects.find((subject) => subject.everyone);
  if (all && subjects.length > 1)
    throw new Refusal(`${quoted(textOf(tokens))} names everyone and someone: say one of them.`, ['Who is meant?']);
  return subjects.filter((subject, index) => subjects.findIndex(({ noun }) => noun === subject.noun) === index);
}

/** "role=web and env=prod": those who are both, or all who are either. */
function refuseJoinedLabels(tokens: readonly Token[]): void {
  const labels = tokens.filter(({ sym, quoted: named, text }) => !sym && !named && /^[^=,]+=[^=,]+$/.test(text));
  const keys = new Set(labels.map(({ text }) => text.split('=')[0]));
  const joined = tokens.some(({ sym }) => sym === 'AND') && tokens.length === labels.length * 2 - 1;
  if (!joined || keys.size < labels.length || labels.length < 2) return;
  const text = textOf(tokens);
  throw new Refusal(
    `${quoted(text)} can mean peers that carry all of these labels, or any of them.`,
    ['Which of the two is meant?'],
    {
      replace: tokens,
      by: [labels.map((label) => label.text).join(','), labels.map((label) => label.text).join(' or ')],
    },
  );
}

/** "The controllers in the north and south": those in the south, or all of the south. */
function refuseJoinedPlaces(items: readonly (readonly Token[])[], subjects: readonly Subject[]): void {
  const labelsOf = (subject: Subject | undefined) => Object.keys(subject?.selector?.matchLabels ?? {});
  const at = items.findIndex((item, index) => {
    const [key, second] = labelsOf(subjects[index]);
    const before = items[index - 1];
    const placed = before?.some(({ text, quoted: named }) => !named && text === 'in');
    const all = labelsOf(subjects[index - 1]);
    return (
      placed && key && !second && item.every(({ text }) => !text.includes('=')) && all.length > 1 && all.at(-1) === key
    );
  });
  const [before, item] = [items[at - 1], items[at]];
  if (!before || !item) return;
  const link = before.findIndex(({ text }) => text === 'in');
  const kind = textOf(before.slice(0, link + 1));
  throw new Refusal(
    `${quoted(textOf(item))} after ${quoted(textOf(before))} can mean all of it, or only those like the ones before.`,
    ['Which of the two is meant?'],
    { replace: item, by: [`${kind} ${textOf(item)}`, `all of ${textOf(item)}`] },
  );
}

function split(tokens: readonly Token[], at: readonly Sym[]): Token[][] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (token.sym && at.includes(token.sym)) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

function parseItem(tokens: readonly Token[], state: NetworkState): Subject {
  try {
    return itemOf(tokens, state);
  } catch (error) {
    if (!(error instanceof Refusal) || !error.offers.by || error.offers.replace) throw error;
    throw new Refusal(error.message, error.questions, { ...error.offers, replace: tokens });
  }
}

function itemOf(tokens: readonly Token[], state: NetworkState): Subject {
  refuseVague(tokens);
  const [only] = tokens;
  if (only?.quoted && tokens.length === 1) return quotedSubject(only.text, state);
  const words = wordsIn(tokens);
  const all = ALL.has(words[0] ?? '') && words.length > 1;
  const said = words.slice(all ? 1 : 0).filter((word, index) => !(word === 'of' && all && index === 0));
  while (said.length > 1 && ARTICLES.has(said[0] ?? '')) said.shift();
  const text = said.join(' ');
  if (isEveryone(said, all)) {
    refuseOthers(said, textOf(tokens));
    refuseNamesake('every peer', 'all peers', [textOf(tokens), ...said], state);
    return everyone(state);
  }
  if (OUTSIDE.has(text)) {
    refuseNamesake('addresses outside of the network', '0.0.0.0/0', [text], state);
    return outside(state);
  }
  const count = words[0] === 'both' ? 2 : said.length > 1 ? countOf(said[0] ?? '') : undefined;
  const named = count === undefined || words[0] === 'both' ? said : said.slice(1);
  const subject = addressSubject(text, state) ?? constrained(named, textOf(tokens), state);
  if (count === undefined) return all ? subject : refuseOneOfMany(subject, words, textOf(tokens), state);
  if (subject.peers.length === count) return subject;
  throw new Refusal(
    `${quoted(textOf(tokens))} are ${subject.peers.length}, not ${count}.`,
    [`Which ones: ${enumerated(subject.peers.map(({ name }) => name).sort())}?`],
    { by: [`all ${named.join(' ')}`] },
  );
}

const COUNTS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** `two` of "the two databases", `3` of "all 3 web servers". */
function countOf(word: string): number | undefined {
  if (/^\d{1,4}$/.test(word)) return Number(word);
  const place = COUNTS.indexOf(word);
  return place < 0 ? undefined : place + 1;
}

/** Words that go back to something said before, or join two lists one by one. */
const REFERRING: ReadonlySet<string> = new Set(['ones', 'respectively', 'resp', 'latter', 'former', 'same']);

function refuseVague(tokens: readonly Token[]): void {
  const back = tokens.find(({ sym, text, quoted: named }) => !sym && !named && REFERRING.has(text));
  if (back) {
    throw new Refusal(`It is not clear who is meant by ${quoted(back.text)} in ${quoted(textOf(tokens))}.`, [
      'Who is meant? Name them, or a label of theirs, and say each order in a sentence of its own.',
    ]);
  }
  const vague = tokens.find(({ sym }) => sym !== undefined && sym !== 'OF');
  if (!vague) return;
  const text = quoted(textOf(tokens));
  if (vague.sym === 'SOME')
    throw new Refusal(`${text} does not say which.`, ['Which ones? Name them, or say "all".'], {
      by: [`all ${textOf(tokens.filter((token) => token !== vague && token.sym !== 'OF'))}`],
    });
  if (vague.sym === 'CONDITION')
    throw new Refusal(`${text} sets a condition, and a policy knows none.`, ['What should hold now?']);
  throw new Refusal(`It is not clear who is meant by ${quoted(vague.text)}.`, [`Who is ${quoted(vague.text)}?`]);
}

/** `everyone`, `all peers`, `the entire network`. */
function isEveryone(words: readonly string[], all: boolean): boolean {
  const rest = words.filter((word) => word !== 'other' && word !== 'else');
  const [first = '', second = ''] = rest;
  if (rest.length === 1 && EVERYONE.has(first)) return true;
  if (rest.length === 2 && WHOLE.has(first) && (second === 'network' || second === 'mesh')) return true;
  const noun = first.replace(/s$/, '');
  return (
    all &&
    rest.length === 1 &&
    (PEER_NOUNS.includes(noun) || first === 'network' || first === 'mesh' || first === 'others')
  );
}

/** "Every other device", where it is not known what it is other than. */
function refuseOthers(words: readonly string[], text: string): void {
  if (!words.some((word) => /^(?:others?|else)$/.test(word))) return;
  throw new Refusal(`It is not clear whom ${quoted(text)} leaves out.`, [
    'Everyone but whom? Say "everyone except <peers>".',
  ]);
}

/** A word for everyone, or for who is outside, that is also a name of the network. */
function refuseNamesake(meaning: string, plain: string, phrases: readonly string[], state: NetworkState): void {
  const { byName, byValue } = namesOf(state);
  const forms = phrases.flatMap((phrase) => formsOf(normalizeName(phrase)));
  const [label] = forms.flatMap((form) => byValue.get(form) ?? []);
  const peer = forms.map((form) => byName.get(form)).find((one) => one !== undefined);
  const name = label ? `${label.key}=${label.value}` : peer && `peer ${peer.name}`;
  if (name === undefined) return;
  const what = label ? `a value of the label ${label.key}` : 'the name of a peer';
  throw new Refusal(
    `${quoted(phrases[0] ?? '')} means ${meaning}, and is also ${what}.`,
    [`Do you mean ${meaning} ("${plain}"), or ${name}?`],
    { by: [plain, name] },
  );
}

function addressSubject(text: string, state: NetworkState): Subject | undefined {
  const bare = text.replace(/^(?:address|ip|subnet|range|cidr|network) /, '');
  const address = parseAddress(bare);
  if (address) {
    const holder = namesOf(state).byAddress.get(bare);
    return holder ? onePeer(holder) : addresses(`${bare}/${address.family === 4 ? 32 : 128}`, state, () => false);
  }
  const range = parseCidr(bare);
  if (!range) return undefined;
  return addresses(bare, state, (one) => {
    const own = parseAddress(one);
    return own !== undefined && containsRange(range, own);
  });
}

function unclear(tokens: readonly Token[]): Refusal {
  return unclearText(textOf(tokens));
}

/** "Owned by" links as "of" does. */
function wordsIn(tokens: readonly Token[]): string[] {
  return tokens.map(({ text, sym }) => (sym === 'OF' ? 'of' : text));
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join(' ');
}
