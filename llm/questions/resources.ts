import { foldName } from '../../core/base/record.ts';
import type { Aspect, ResourceOverRange } from '../../core/history/pair/question-reader.ts';
import { textAt, type Word } from '../grammar/tokens.ts';
import type { Called } from './called.ts';

/** A policy, network or agent where a question names it. */
export interface NamedResource {
  readonly at: number;
  readonly resource: ResourceOverRange;
}

const NOUNS: Readonly<Record<string, ResourceOverRange['kind']>> = {
  policy: 'MeshPolicy',
  rule: 'MeshPolicy',
  network: 'MeshNetwork',
  agent: 'AgentIdentity',
};

const ASPECTS: readonly (readonly [Aspect, RegExp])[] = [
  ['deleted', /^(?:delet(?:e|es|ed|ion)|remov(?:e|es|ed|al)|disappear(?:ed)?|gone|vanish(?:ed)?)$/],
  ['renamed', /^(?:renam(?:e|es|ed|ing)|name)$/],
  ['labels', /^(?:labels?|relabel(?:s|l?ed)|labell?ed|tags?|tagged)$/],
  ['approved', /^(?:approv(?:e|es|ed|al)|enrol(?:l?ed)?)$/],
  [
    'created',
    /^(?:creat(?:e|es|ed|ion)|made|ma(?:ke|kes)|add(?:s|ed)?|join(?:s|ed)?|regist(?:er|ered)|wrote|written)$/,
  ],
  ['online', /^(?:online|offline|down|connected|disconnected|up)$/],
  [
    'changed',
    /^(?:chang(?:e|es|ed|ing)|updat(?:e|es|ed)|edit(?:s|ed)?|modif(?:y|ied|ies)|happen(?:s|ed)?|touch(?:es|ed)?|force|effect|active|there|exist(?:s|ed)?)$/,
  ],
];

/** Resources that are no peers, by their names; where a peer is called the same, a noun before it says which is meant. */
export function resourcesIn(
  words: readonly Word[],
  taken: ReadonlySet<number>,
  others: readonly ResourceOverRange[],
  { exact }: Called,
): NamedResource[] {
  const byName = Map.groupBy(others, ({ name }) => foldName(name));
  return words.flatMap(({ text, quoted }, at) => {
    const own = taken.has(at) ? undefined : byName.get(foldName(text));
    if (!own) return [];
    const kind = NOUNS[textAt(words, at - 1)];
    const resource = kind ? own.find((one) => one.kind === kind) : exact.has(foldName(text)) ? undefined : own[0];
    const isName = kind !== undefined || quoted || /[-\d]/.test(text);
    return resource && isName ? [{ at, resource }] : [];
  });
}

/** Returns the part of the history of a resource that a question asks for. */
export function aspectIn(words: readonly Word[], taken: ReadonlySet<number>): Aspect | undefined {
  return ASPECTS.find(([, test]) => words.some((_, at) => !taken.has(at) && test.test(textAt(words, at))))?.[0];
}

/** "What was deleted today?", "who joined?": of the whole network. */
export function asksChanges(words: readonly Word[], taken: ReadonlySet<number>): boolean {
  const aspect = aspectIn(words, taken);
  if (aspect !== undefined) return aspect !== 'online';
  return words.some((_, at) => !taken.has(at) && /^(?:new|opened|closed)$/.test(textAt(words, at)));
}

/** The actor whose changes a question asks for, and the indexes of the words that name them. */
export interface NamedActor {
  readonly name: string;
  readonly used: readonly number[];
}

/** `what did planner-bot change today?`, `what was deleted by admin?`, `everything that planner-bot did` */
export function actorIn(words: readonly Word[], taken: ReadonlySet<number>, { exact }: Called): NamedActor | undefined {
  const textOfPlace = (at: number) => (taken.has(at) ? '' : textAt(words, at));
  const isName = (name: string) => /^[a-z][\w.:@-]*$/.test(name) && !ANYBODY.has(name);
  // A device connects, too: what it opened may be connections.
  const isDeed = (verb: string, name: string) => WRITTEN.test(verb) || (OPENED.test(verb) && !exact.has(name));
  for (const [place] of words.entries()) {
    const [word, before] = [textOfPlace(place), textOfPlace(place - 1)];
    const next = textOfPlace(place + 1) === 'the' ? place + 2 : place + 1;
    const name = textOfPlace(next);
    const verbs = [textOfPlace(next + 1), textOfPlace(next + 2)];
    const isAsked = /^(?:what|which|show|list)$/.test(textOfPlace(0));
    const isActive = ['did', 'has'].includes(word) && verbs.some((verb) => isDeed(verb, name));
    const isPassive = word === 'by' && isDeed(before, name);
    if (isAsked && (isActive || isPassive) && isName(name)) return { name, used: [next] };
    const after = textOfPlace(next + 1);
    if (word === 'everything' && isName(name) && /^(?:did|has|changed|created|deleted)$/.test(after)) {
      return { name, used: [place, next] };
    }
  }
  return undefined;
}

const WRITTEN = /^(?:do|done|chang|creat|delet|remov|renam|edit|updat|modif)/;
const OPENED = /^(?:open|clos|block|allow|den[iy])/;
const ANYBODY: ReadonlySet<string> = new Set(
  ['that', 'which', 'it', 'we', 'i', 'they', 'you', 'he', 'she', 'the', 'this', 'not', 'been', 'whom', 'who'].concat(
    'anything',
    'something',
  ),
);
