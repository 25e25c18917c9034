import type { Token } from './lexicon.ts';

/** Small words of other languages that no English sentence has, for telling that an intent is in none that is known here. */
const FOREIGN: ReadonlySet<string> = new Set(
  [
    'der das den dem ein eine einen nicht und auf für von mit darf dürfen soll sollen kein keine nur zugriff verbinde erlaube sperre blockiere isoliere zwischen lass lasse',
    'le les la une du des et sur pour avec peut doit pas autorise autoriser bloque bloquer interdire seulement vers accès depuis entre laisser',
    'el los las una y en para con puede debe permite permitir bloquea bloquear solo acceso desde hacia entre aislar deja',
    'il lo gli della dei alla può deve permetti consenti blocca solo accesso',
    'os da do das dos não permitir bloquear apenas acesso',
    'het een van naar niet mag moet toegang sta blokkeer alleen',
    'och för från till inte får ska tillåt blockera',
    'zezwól nie dla oraz tylko dostęp zablokuj',
  ].flatMap((words) => words.split(' ')),
);
const LATIN_LETTER = /\p{Script=Latin}/u;
const LETTER = /\p{L}/u;
/** One may be a name by chance. */
const ENOUGH = 2;

/** Whether an intent is written in another language than English. Names of peers and labels, and what is quoted, say nothing. */
export function isOtherLanguage(tokens: readonly Token[], isName: (word: string) => boolean): boolean {
  const words = tokens.filter(({ sym, quoted, text }) => !sym && !quoted && !text.includes('=') && !isName(text));
  const foreign = words.filter(({ text }) => FOREIGN.has(text));
  if (foreign.length >= ENOUGH) return true;
  const other = words.filter(({ text }) => [...text].some((one) => LETTER.test(one) && !LATIN_LETTER.test(one)));
  return other.length >= ENOUGH || (other.length > 0 && other.length === words.length && !hasVerb(tokens));
}

function hasVerb(tokens: readonly Token[]): boolean {
  return tokens.some(({ sym }) => sym !== undefined && sym !== 'COMMA' && sym !== 'STOP');
}
