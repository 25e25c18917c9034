import type { NetworkState } from '../../core/state/state.ts';
import type { Token } from './lexicon.ts';
import { ARTICLES } from './phrases.ts';
import { attempt } from './refusal.ts';
import { parseSubjects } from './subjects.ts';

/** Whether a third name goes on from the one or from the other of two; undefined where that is not certain. */
export type Likeness = (
  who: readonly Token[],
  one: readonly Token[],
  other: readonly Token[],
) => 'one' | 'other' | undefined;

/** By how they are named and the labels that all of them carry: "the databases … and the caches" are two of a kind. */
export function likenessIn(state: NetworkState): Likeness {
  return (who, one, other) => {
    const [own, first, second] = [traitsOf(who, state), traitsOf(one, state), traitsOf(other, state)];
    const asOne = [...own].some((trait) => first.has(trait) && !second.has(trait));
    const asOther = [...own].some((trait) => second.has(trait) && !first.has(trait));
    return asOne === asOther ? undefined : asOne ? 'one' : 'other';
  };
}

function traitsOf(words: readonly Token[], state: NetworkState): ReadonlySet<string> {
  const subjects = attempt(() => parseSubjects(words, state)) ?? [];
  const [first, ...others] = subjects.flatMap(({ peers }) => peers);
  const shared = Object.entries(first?.labels ?? {}).flatMap(([key, value]) => [
    ...(others.every(({ labels }) => key in labels) ? [`has ${key}`] : []),
    ...(others.every(({ labels }) => labels[key] === value) ? [`${key}=${value}`] : []),
  ]);
  const byName = subjects.length > 0 && subjects.every(({ selector }) => selector?.peers);
  const named = byName ? 'by name' : 'by label';
  const article = ARTICLES.has(words[0]?.text ?? '') ? ['with an article'] : [];
  return new Set([...shared, named, ...article, ...(/\d$/.test(words.at(-1)?.text ?? '') ? ['numbered'] : [])]);
}
