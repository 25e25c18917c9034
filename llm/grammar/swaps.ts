import type { Token } from './lexicon.ts';
import { parseStatement, type Statement } from './statements.ts';
import type { Vocabulary } from './vocabulary.ts';

/**
 * "Let web reach db-2 instead of db-1" opens the one and takes the other back. Which side the other stands on is told by
 * what stands right before "instead of".
 *
 * @returns undefined where that is not certain.
 */
export function swapOf(tokens: readonly Token[], vocabulary: Vocabulary): [Statement, Statement] | undefined {
  const at = tokens.findIndex(({ sym }) => sym === 'INSTEAD_OF');
  const old = tokens.slice(at + 1);
  const named = old.length > 0 && old.every(({ sym }) => !sym || sym === 'AND' || sym === 'COMMA');
  if (at < 1 || !named || !old.some(({ text, quoted }) => quoted || vocabulary.isName(text) || text.includes('=')))
    return undefined;
  const opening = parseStatement(tokens.slice(0, at), vocabulary);
  const { source, target } = opening.slots;
  const plain = opening.wish === 'allow' && opening.until === undefined && !opening.exclusive && !opening.mutual;
  if (!plain || !source || !target || opening.exceptions.length + opening.spared.length > 0) return undefined;
  const side = sideOf(opening, tokens.slice(0, at), old);
  // Without ports it is not said whether all of the new access is opened, or only what the old one was.
  if (
    !side ||
    opening.ports.length === 0 ||
    [source, target].some((words) => words.some(({ sym }) => sym === 'EXCEPT'))
  )
    return undefined;
  return [opening, { ...opening, wish: 'takeBack', slots: { ...opening.slots, [side]: old } }];
}

/** "By web instead of api" is about who reaches; "db-2 instead of db-1" names two of a kind. */
function sideOf({ slots: { source = [], target = [] } }: Statement, head: readonly Token[], old: readonly Token[]) {
  const last = head.at(-1);
  const link = head[head.length - 1 - source.length]?.sym;
  if (source.at(-1) === last && (link === 'BY' || link === 'FROM')) return 'source';
  const kindOf = (words: readonly Token[]) => stemOf(words.at(-1)?.text ?? '');
  return target.at(-1) === last && kindOf(target) === kindOf(old) && kindOf(source) !== kindOf(old)
    ? 'target'
    : undefined;
}

/** `db` of `db-2`. */
function stemOf(name: string): string {
  const at = name.lastIndexOf('-');
  return at > 0 && /^\d{1,6}$/.test(name.slice(at + 1)) ? name.slice(0, at) : name;
}
