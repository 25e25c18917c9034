import { PEER_NOUNS } from './nouns.ts';

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
