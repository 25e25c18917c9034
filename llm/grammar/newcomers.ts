import type { NetworkState } from '../../core/state/state.ts';
import { isNameIn, namesOf } from './names.ts';
import { PEER_NOUNS } from './nouns.ts';
import { quoted } from './refusal.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const PERSONS = words('everyone everybody anyone anybody whoever');
const QUANTIFIERS = words('any every all each');
const NEW = words('new future');
const MACHINES: ReadonlySet<string> = new Set(PEER_NOUNS.flatMap((noun) => [noun, `${noun}s`]));
const RELATIVES = words('who that which');
const JOINS = words('join joins joining');
const LATER = ['later', 'in future', 'in the future', 'from now on'].map((text) => text.split(' '));
const WITH = words('with as labeled labelled tagged');
const THE = words('the');
const LABEL_WORD = words('label');
const LABEL = /^[^,;=]+=[^,;]+/;

/**
 * The same about everyone with a label, which those who join later with it are among: "everyone who joins with role=ci",
 * "any new device labelled role=web". Undefined where it is about no such.
 */
export function withNewcomers(intent: string): string | undefined {
  const all = intent.split(' ').filter((word) => word !== '');
  for (const at of all.keys()) {
    const end = labelAt(all, at);
    if (end !== undefined) return [...all.slice(0, at), 'everyone', 'with', ...all.slice(end)].join(' ');
  }
  return undefined;
}

/** Where the label stands of those who join, who are named from here on. */
function labelAt(all: readonly string[], start: number): number | undefined {
  let at = start;
  const take = (known: ReadonlySet<string>) => {
    const isKnown = known.has(all[at]?.toLowerCase() ?? '');
    if (isKnown) at += 1;
    return isKnown;
  };
  let isNew = false;
  if (!take(PERSONS)) {
    take(QUANTIFIERS);
    isNew = take(NEW);
    if (!take(MACHINES)) return undefined;
  }
  take(RELATIVES);
  const joins = take(JOINS);
  if (!joins && !isNew) return undefined;
  const later = LATER.find((text) => text.every((word, index) => all[at + index]?.toLowerCase() === word));
  at += joins ? (later?.length ?? 0) : 0;
  if (!take(WITH)) return undefined;
  take(THE);
  take(LABEL_WORD);
  return LABEL.test(all[at] ?? '') ? at : undefined;
}

export const NEWCOMERS =
  'A policy on a label holds for all that carry it, those that join later too, and for those that carry it today: is this what you mean?';

const AFTER_NOUN = words('from to and on in must may can should reach');
const LATER_ONES: ReadonlySet<string> = words('new future upcoming newcomers');

/** "Future laptops": a policy is on labels, and by no label are those that join later told from those of today. */
export function newcomersWithoutLabel(
  intent: string,
  state: NetworkState,
): { readonly reason: string; readonly questions: readonly string[] } | undefined {
  const names = namesOf(state);
  const all = intent.split(/[\s,;.]+/).map((word) => word.toLowerCase());
  const at = all.findIndex(
    (word, index) =>
      (LATER_ONES.has(word) && !isNameIn(names, word)) ||
      (JOINS.has(word) && RELATIVES.has(all[index - 1] ?? '')) ||
      (word === 'joined' && all[index - 1] === 'recently'),
  );
  if (at < 0) return undefined;
  const isVerb = JOINS.has(all[at] ?? '') || all[at] === 'joined';
  const end = AFTER_NOUN.has(all[at + 1] ?? '') ? at + 1 : at + 2;
  const named = all.slice(isVerb ? at - 1 : at, end).join(' ');
  return {
    reason: `${quoted(named)} cannot be told from those of today: policies select peers by labels, and hold for all that carry them, those that join later too.`,
    questions: [
      'What tells them apart? Give those that join a label (in their join token) and say "everyone with <label>=<value>"; for those of today too, leave the word out.',
    ],
  };
}
