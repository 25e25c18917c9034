import type { Word } from '../grammar/tokens.ts';

/** Words of questions about connections: none of them is meant to be a name that is not known. */
export const COMMON: ReadonlySet<string> = new Set(
  `a about able access accessed accessible after again ago all allow allowed also always am an and another answer any anymore are
  around as at available back be because been before began begin being best between block blocked both break broke broken but by
  can can't cannot cant cause caused causes change changed changes changing clear close closed come communicate computer computers
  connect connected connecting connection connections connectivity contact could couldn't cut day days deny denied did didn't
  different do does doesn't done down drop dropped during each else ever every exactly explain fail failed failing fails find for
  from get gets getting go going gone got had happen happened happens has hasn't have haven't having he hear help her him his host
  hosts hour hours how i if in into inside is isn't it its just know last lately let long longer lose lost machine machines may me
  might minute minutes moment moments month months more much must my need network never new no node nodes nor not now of off ok on
  once one ones only open opened or other our out over peer peers permit permitted please port ports possible prevent prevented
  prevents previously reach reachable reached reaches reaching reason reasons recently refuse refused reject rejected right same
  see seen since server servers service services she should show so some something start started still stop stopped stops such suddenly
  talk talking talks tell than thank thanks that the their them then there these they thing things this those through till time
  times to today too traffic try trying unable unavailable under unreachable until up us use used using very via was wasn't way we
  week weeks went were weren't what what's when where whether which while who whom why will with within without won't work worked
  working works would year years yes yesterday yet you`.split(/\s+/),
);

/** Said right before who is reached, and right before who reaches. */
export const TOWARDS: ReadonlySet<string> = new Set([
  ...[
    'to',
    'into',
    'towards',
    'toward',
    'with',
    'reach',
    'reached',
    'reaches',
    'reaching',
    'access',
    'see',
    'contact',
    'onto',
  ],
]);
export const FROM: ReadonlySet<string> = new Set(['from', 'by']);

/** Verbs of who connects: "what could reach db-1?" */
export const REACHING: ReadonlySet<string> = new Set([
  ...[
    'reach',
    'reached',
    'reaches',
    'reachable',
    'reaching',
    'access',
    'accessed',
    'accessible',
    'connect',
    'connected',
  ],
  ...['talk', 'communicate', 'contact', 'see', 'open', 'get'],
]);

export const ARTICLES: ReadonlySet<string> = new Set(['the', 'a', 'an', 'our', 'my', 'your', 'their', 'its', 'this']);

/** Counts of what is named: "the two audits". */
export const COUNTS: ReadonlySet<string> = new Set(['one', 'two', 'three', 'four', 'five', 'last', 'other']);

/** Between two words for one end: "anything in prod", "servers labelled role=db". */
export const LINKS: ReadonlySet<string> = new Set([
  ...[
    'in',
    'of',
    'inside',
    'within',
    'labelled',
    'labeled',
    'tagged',
    'having',
    'label',
    'labels',
    'whose',
    'where',
    'is',
  ],
  ...['environment', 'env', 'zone', 'site', 'network', 'team'],
]);

export const ALL: ReadonlySet<string> = new Set(['all', 'every', 'each', 'any', 'both', 'no', 'none', 'other']);
/** Everyone, in one word. */
export const EVERYONE: ReadonlySet<string> = new Set([
  ...['everyone', 'everybody', 'anyone', 'anybody', 'everything', 'anything', 'nothing', 'nobody'],
]);

/** Text in quotes, `role=web,env=prod` in one piece, a comma, a word. */
const PIECE =
  /"[^"]{1,128}"|[\w.:/%'@-]{1,128}=[\w.:/%'@-]{1,128}(?:,[\w.:/%'@-]{1,128}=[\w.:/%'@-]{1,128})*|,|[\p{L}\p{N}_.:/=%'@-]+/gu;

/** The words of a question, in lower case; what stands in quotes is one name, letter by letter. */
export function wordsOf(question: string): Word[] {
  const plain = question
    .normalize('NFKC')
    .replaceAll(/[‘’´]/g, "'")
    .replaceAll(/[“”„«»`]/g, '"')
    .toLowerCase();
  return (plain.match(PIECE) ?? [])
    .flatMap((piece): Word[] => {
      if (piece.startsWith('"')) return [{ text: piece.slice(1, -1).trim(), quoted: true }];
      if (piece === ',') return [{ text: ',', quoted: false }];
      return withPortApart(bare(piece)).map((text) => ({ text, quoted: false }));
    })
    .filter(({ text }) => text !== '');
}

/** Without the signs around it, and without `'s`. */
function bare(word: string): string {
  const SIGNS = ".:'/-";
  let [begin, end] = [0, word.length];
  while (begin < end && SIGNS.includes(word[begin] ?? '')) begin += 1;
  while (end > begin && SIGNS.includes(word[end - 1] ?? '')) end -= 1;
  const text = word.slice(begin, end);
  return text.endsWith("'s") && !COMMON.has(text) ? text.slice(0, -2) : text;
}

/** `db-1:5432` is a peer and a port. */
function withPortApart(word: string): string[] {
  const at = word.indexOf(':');
  const [name, port] = [word.slice(0, at), word.slice(at + 1)];
  return at > 0 && /^\d{1,5}$/.test(port) && /[a-z]/.test(name) ? [name, port] : [word];
}

/** Words from a place up to another, as they were said. */
export function textOf(words: readonly Word[], begin: number, end: number): string {
  return words
    .slice(begin, end)
    .map(({ text }) => text)
    .join(' ');
}
