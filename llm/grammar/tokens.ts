import { Refusal } from './refusal.ts';

/** A word of an intent, lower case. A quoted one is a name letter by letter, never a word of the grammar. */
export interface Word {
  readonly text: string;
  readonly quoted: boolean;
}

/** A word at a place; nothing where none is, or a name in quotes. */
export function textAt(words: readonly Word[], at: number): string {
  const word = words[at];
  return word === undefined || word.quoted ? '' : word.text;
}

/** The operation accepts as much; longer text is refused here too, so that everything below is bounded. */
const MAX_INTENT = 2_000;
/** More is a list, which orders say better; what a sentence costs grows with the square of its words. */
const MAX_WORDS = 250;
const PIECE = /"[^"]*"|,|;|\n|[^\s",;]+/g;
/** Text that came in one piece, such as `role=web,env=prod`. */
const SELECTOR = /(?:^|\s)[^\s",;=]+=[^\s",;=]+(?:,[^\s",;=]+=[^\s",;=]+)+/g;
/** `Three things:` before a list. */
const LIST_HEAD =
  /^\s*(?:(?:the|these|the following)\s)?(?:two|three|four|five|six|\d{1,2}|following)\s(?:things|changes|orders|requests|points)(?:\splease)?:/i;
/** `1)`, `2.`, `- ` and the like before a new order; "18:00. Then …" ends with a time. */
const LIST_ITEM = /(^|[\n,;]|(?<!\d):)[ \t]*(?:(?:and|then)[ \t]+)?(?:\(?\d{1,2}[.)]|[-*•])[ \t]+(?=[a-z])/gi;
const CONTRACTIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    cannot: 'can not',
    "can't": 'can not',
    "won't": 'will not',
    "i'd": 'i would',
    "we'd": 'we would',
    "let's": 'lets',
    '&': 'and',
    '+': 'and',
    '=>': '->',
    '→': '->',
    '-->': '->',
  }),
);
/** Words before a colon that are no key of a label: `allow: web -> db`. */
const BEFORE_COLON: ReadonlySet<string> = new Set(
  'allow permit let open deny block close forbid isolate quarantine revoke limit restrict'.split(' '),
);
const JOIN = '\u0001';

/**
 * The words of an intent in any case and punctuation; `,`, `;`, `?` and `.` are words of their own, and a new line is a full stop.
 *
 * @throws Refusal where it is too long or a quote is not closed.
 */
export function tokenize(intent: string): Word[] {
  if (intent.length > MAX_INTENT)
    throw new Refusal(`The intent is longer than ${MAX_INTENT} characters: say less at once.`);
  const text = intent
    .normalize('NFKC')
    .replaceAll(/[‘’´]/g, "'")
    .replaceAll(/[“”„«»`]/g, '"')
    .replaceAll(/(?<=\S)\s[–—-]\s(?=[^\d\s])/g, ' , ')
    .replaceAll(/[‐‑–—−]/g, '-')
    .replace(LIST_HEAD, '')
    .replaceAll(LIST_ITEM, '$1 ; ')
    .replaceAll(/[()]/g, ' $& ')
    .replaceAll(/[[\]{}]/g, ' $& ')
    .replaceAll(/(?<=\S)(?:->|=>|→)(?=\S)/g, ' -> ')
    .replaceAll(/(^|\s)'([^\s']+)'(?=[\s,;.!?]|$)/g, '$1"$2"')
    .toLowerCase()
    .replaceAll(SELECTOR, (found) => found.replaceAll(',', JOIN));
  if (text.split('"').length % 2 === 0)
    throw new Refusal('A quote is opened and not closed.', ['Where does the quoted name end?']);
  const words = joined((text.match(PIECE) ?? []).flatMap(wordsOf));
  if (words.length <= MAX_WORDS) return words;
  throw new Refusal(`The sentence has more than ${MAX_WORDS} words.`, [
    'Can it be said as orders, or in several steps?',
  ]);
}

function wordsOf(piece: string): Word[] {
  if (piece.startsWith('"')) return [{ text: piece.slice(1, -1).trim(), quoted: true }];
  if (piece === '\n') return [bare('.')];
  const bareText = piece.replace(/(?<![.!?])[.!?]+$/, '');
  const stop = bareText.length < piece.length ? [bare(piece.endsWith('?') ? '?' : '.')] : [];
  if (bareText === '') return stop;
  const spoken = CONTRACTIONS.get(bareText) ?? bareText;
  const words = spoken.split(' ').flatMap((word) => {
    if (word.endsWith("n't") && word.length > 3) return [bare(word.slice(0, -3)), bare('not')];
    if (word.endsWith("'s") && word.length > 2) return [bare(word.slice(0, -2)), bare("'s")];
    if (word.endsWith("s'")) return [bare(word.slice(0, -1)), bare("'s")];
    return [bare(word.replaceAll(JOIN, ','))];
  });
  return [...words, ...stop];
}

/** `role = web` becomes one word, as `8000 - 8100` does. */
function joined(words: readonly Word[]): Word[] {
  const found: Word[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    if (word === undefined) break;
    const [last, next] = [found.at(-1), words[index + 1]];
    const glue = word.text === '=' || word.text === '==' || (word.text === '-' && /^\d+$/.test(last?.text ?? ''));
    if (!word.quoted && glue && last && next && !last.quoted) {
      found[found.length - 1] = bare(`${last.text}${word.text.charAt(0)}${next.text}`);
      index++;
    } else if (
      !word.quoted &&
      (word.text === ':' || (word.text.endsWith(':') && BEFORE_COLON.has(word.text.slice(0, -1))))
    ) {
      if (word.text === ':') found.push(bare(','));
      else found.push(bare(word.text.slice(0, -1)));
    } else if (!word.quoted && word.text.length > 1 && word.text.endsWith(':')) {
      found.push(bare(word.text.slice(0, -1)), bare(','));
    } else found.push(word);
  }
  return found;
}

function bare(text: string): Word {
  return { text, quoted: false };
}
