import { recognise, type Sym, type Token } from './lexicon.ts';
import { tokenise } from './tokens.ts';

/** Words that make an order smaller or shorter, by what may stand for each of them in another wording. */
const RESTRICTIONS: readonly (readonly Sym[])[] = [
  ['ONLY', 'NOBODY', 'NOBODY_ELSE', 'EXCEPT', 'LIMIT'],
  ['UNTIL', 'VAGUE_TIME'],
  ['CONDITION'],
];
const STANDS_FOR: ReadonlySet<Sym> = new Set(['DENY', 'ISOLATE', 'CLOSE', 'REVOKE']);

/** Whether a choice leaves out a restriction of the intent that the answer does not quote. */
export function losesRestriction(intent: readonly Token[], choice: string, told: readonly string[]): boolean {
  const offered = recognise(tokenise(choice));
  return RESTRICTIONS.some((kind) => {
    const said = intent.filter(({ sym }) => sym !== undefined && kind.includes(sym));
    if (said.length === 0 || offered.some(({ sym }) => sym !== undefined && kind.includes(sym))) return false;
    if (kind.includes('UNTIL') && offered.some(({ sym }) => sym === 'FOR')) return false;
    const limits = kind.includes('ONLY') && said.every(({ sym }) => sym !== 'EXCEPT');
    if (limits && offered.some(({ sym }) => sym !== undefined && STANDS_FOR.has(sym))) return false;
    return said.some(({ text }) => !told.some((one) => one.includes(`"${text}`)));
  });
}

/** Whether a choice closes, or isolates, all of what an intent leaves something out of. */
export function widens(intent: readonly Token[], choice: string): boolean {
  const offered = recognise(tokenise(choice));
  const has = (words: readonly Token[], ...syms: readonly Sym[]) =>
    words.some(({ sym }) => sym !== undefined && syms.includes(sym));
  const narrowed = has(offered, 'EXCEPT', 'ONLY', 'NOBODY', 'NOBODY_ELSE', 'LIMIT');
  return !narrowed && (has(intent, 'EXCEPT') || (has(offered, 'ISOLATE') && has(intent, 'ONLY', 'KEEP')));
}
