import type { PortEntry } from '../../core/model/policy.ts';
import type { NetworkState } from '../../core/state/state.ts';
import type { Token } from './lexicon.ts';
import type { MomentReader } from './moments.ts';
import { formsOf, isNameIn, namesOf } from './names.ts';
import { isFiller } from './phrases.ts';
import { portsAt } from './ports.ts';
import { Refusal, said } from './refusal.ts';
import { parseSubjects } from './subjects.ts';
import { timeAt } from './times.ts';
import type { Clocks } from './zones.ts';

/** What is known in a sentence, in its order: who, which ports, until when, and every other word by itself. */
export type Atom = { readonly tokens: readonly Token[] } & (
  | {
      readonly kind: 'who';
      readonly says: string;
      readonly everyone: boolean;
      /** What it asks for, as terms of expectations: names and labels. */
      readonly terms: readonly string[];
      readonly peers: readonly string[];
    }
  | { readonly kind: 'ports'; readonly ports: readonly PortEntry[] }
  | { readonly kind: 'time'; readonly says: string; readonly until: number }
  | { readonly kind: 'word'; readonly word: Token }
);

/** A network, and the instant and the zone that a sentence about it is read at. */
export interface At extends Clocks {
  readonly state: NetworkState;
}

/** Words that may belong to one name: "the databases in the staging environment". */
const LONGEST_NAME = 6;
/** Words looked at; a longer intent is a letter, and what stands behind is no order that is certain. */
export const MAX_WORDS = 120;
const FOR: Token = { text: 'for', quoted: false, sym: 'FOR' };

/** Reads what it can, and nothing twice. Every name is one that the grammar knows. */
export function atomsOf(all: readonly Token[], { state, ...clocks }: At): Atom[] {
  const tokens = all.slice(0, MAX_WORDS).flatMap((token) => withoutPort(token, state));
  const reader = { ...clocks, isName: (word: string) => isNameIn(namesOf(state), word) };
  const atoms: Atom[] = [];
  for (let at = 0; at < tokens.length; ) {
    const atom = atomAt(tokens, at, state, reader);
    if (!atom) break;
    const last = atoms.at(-1);
    const joined = last && joinedPlace(last, atoms.at(-2), atom, state);
    if (joined) atoms.splice(-2, 2, joined);
    else atoms.push(atom);
    at += Math.max(1, atom.tokens.length);
  }
  return atoms;
}

function atomAt(tokens: readonly Token[], at: number, state: NetworkState, reader: MomentReader): Atom | undefined {
  const word = tokens[at];
  if (!word) return undefined;
  const time = attempt(() => timeAt(tokens, at, reader)) ?? attempt(() => spanOf(tokens, at, reader));
  if (time) {
    const words = tokens.slice(at, time.end);
    return {
      kind: 'time',
      says: /^\d/.test(word.text) ? `for ${said(words)}` : said(words),
      until: time.until,
      tokens: words,
    };
  }
  if (word.sym !== undefined) return { kind: 'word', word, tokens: [word, ...doubtfulTime(tokens, at, reader)] };
  const ports = attempt(() => portsAt(tokens, at));
  const isName = isNameIn(namesOf(state), word.text) && tokens[at - 1]?.sym !== 'ON';
  if (ports && !(ports.service !== undefined && isName))
    return { kind: 'ports', ports: ports.ports, tokens: tokens.slice(at, ports.end) };
  // "Everything else" is what, not whom.
  if (['else', 'other'].includes(tokens[at + 1]?.text ?? '')) return { kind: 'word', word, tokens: [word] };
  return whoAt(tokens, at, state) ?? { kind: 'word', word, tokens: [word] };
}

/** "Until 25 october 02:30", which comes twice: what is asked about as a time names no ports. */
function doubtfulTime(tokens: readonly Token[], at: number, reader: MomentReader): readonly Token[] {
  if (tokens[at]?.sym !== 'UNTIL') return [];
  try {
    timeAt(tokens, at, reader);
    return [];
  } catch (error) {
    const length = error instanceof Refusal ? (error.offers.replace?.length ?? 0) : 0;
    return tokens.slice(at + 1, at + 1 + length);
  }
}

/** "Temporarily (45 minutes)" and "2h": a length of time without "for". */
function spanOf(tokens: readonly Token[], at: number, reader: MomentReader) {
  if (!/^\d/.test(tokens[at]?.text ?? '')) return undefined;
  const found = timeAt([FOR, ...tokens.slice(at, at + LONGEST_NAME)], 0, reader);
  return found && { ...found, end: at + found.end - 1 };
}

/** The longest run of words from a place on that names somebody. */
function whoAt(tokens: readonly Token[], at: number, state: NetworkState): Atom | undefined {
  let limit = at;
  while (limit < tokens.length && limit - at < LONGEST_NAME && tokens[limit]?.sym === undefined) limit++;
  for (let end = limit; end > at; end--) {
    const words = tokens.slice(at, end);
    const last = words.at(-1);
    const loose =
      last && !last.quoted && end < limit && words.length > 1 && /^(?:in|from|with|that|which|is|are)$/.test(last.text);
    const who = loose ? undefined : whoOf(words, state);
    if (who) return who;
  }
  return undefined;
}

function whoOf(words: readonly Token[], state: NetworkState): Atom | undefined {
  const subjects = attempt(() => parseSubjects(words, state));
  const [subject] = subjects ?? [];
  if (!subject || subjects?.length !== 1) return undefined;
  const { everyone, noun, selector } = subject;
  const outside = selector === undefined && noun.includes(' ');
  const says = everyone ? 'everyone' : outside ? 'the internet' : noun.includes('=') ? noun : said(words);
  return {
    kind: 'who',
    says: noun.includes('=') || everyone || outside ? says : plain(words),
    everyone,
    terms: outside ? [says] : subject.terms,
    peers: subject.peers.map(({ name }) => name),
    tokens: words,
  };
}

function plain(words: readonly Token[]): string {
  return said(words.filter(({ text, quoted }) => quoted || text !== 'the'));
}

/** "The controllers at the north site", "carol's laptop": the second name is one more label. */
function joinedPlace(on: Atom, who: Atom | undefined, place: Atom, state: NetworkState): Atom | undefined {
  const owns = on.kind === 'word' && on.word.sym === 'POSS';
  if (!owns && (on.kind !== 'word' || on.word.text !== 'at')) return undefined;
  const label = place.kind === 'who' ? place.says : owns && place.kind === 'word' ? labelNamed(place.word, state) : '';
  if (who?.kind !== 'who' || !who.says.includes('=') || !label?.includes('=')) return undefined;
  const both = whoOf([{ text: `${who.says},${label}`, quoted: false }], state);
  return both && { ...both, tokens: [...who.tokens, ...on.tokens, ...place.tokens] };
}

/** "Laptop", which may be one of several alone. */
function labelNamed({ text, quoted }: Token, state: NetworkState): string | undefined {
  const pairs = quoted ? [] : formsOf(text).flatMap((form) => namesOf(state).byValue.get(form) ?? []);
  const [only] = pairs;
  return only && pairs.length === 1 ? `${only.key}=${only.value}` : undefined;
}

/** `cache-1:6379`. */
function withoutPort(token: Token, state: NetworkState): Token[] {
  const [, name, port] = /^(.+):(\d{1,5})$/.exec(token.text) ?? [];
  if (token.quoted || name === undefined || port === undefined || !isNameIn(namesOf(state), name)) return [token];
  return [
    { text: name, quoted: false },
    { text: 'on', quoted: false, sym: 'ON' },
    { text: port, quoted: false },
  ];
}

/** Whether a word says nothing about who reaches what. */
export function isIdle({ sym, text, quoted }: Token): boolean {
  return !quoted && sym === undefined && isFiller(text);
}

export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
