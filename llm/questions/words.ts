import type { Word } from '../grammar/tokens.ts';

/** Words of questions about connections: none of them is meant to be a name that is not known. */
export const COMMON: ReadonlySet<string> = new Set(
  `a able about accept accepted accepting accepts access accessed accessible active add added after again ago all allow allowed
  also always am an and another answer answering answers any anybody anymore anyone anything approve approved approximately
  are around as at available away back be became because become been before began begin being best between block blocked
  blocking blocks both break broke broken browse but by can can't cannot cant cause caused causes change changed changes
  changing clear close closed come communicate computer computers connect connected connecting connection connections
  connectivity contact could couldn't create created curl cut day days delete deleted denied deny did didn't different
  disappear disappeared disconnect disconnected do does doesn't done down drop dropped during each edited effect else end ends
  ever every everything exactly exist existed exists expire expires explain expose exposed exposes fail failed failing fails
  find first for force formerly from gain gained gave get gets getting give given gives go going gone got grant granted grants
  had happen happened happens has hasn't have haven't having he hear help her him his hit host hosts hour hours how i if
  ignore ignored ignores in initially inside into is isn't isolate isolated it its join joined just know label labels lapse
  lapses last lately let list lets long longer lose loses losing lost machine machines made make makes many may me might minute
  minutes modified moment moments month months more move moved moves much must my name need network never new no nobody node
  nodes nor not nothing now of off offline ok on once one ones online only onwards open opened opening opens or originally
  other our out over peer peers permit permitted please policies policy port ports possible prevent prevented prevents
  previously query reach reachable reached reaches reaching reason reasons recently refuse refused refuses registered reject
  rejected rejecting rejects relabeled relabelled remove removed rename renamed reopened restrict restricted revoke revoked
  right roughly rule rules same scrape see seen server servers service services sharp she should show shut since so some
  somebody someone something start started still stop stopped stops such suddenly talk talking talks tell telnet than thank
  thanks that the their them then there these they thing things this those through till time times to today too took touch touched touches traffic
  try trying unable unavailable unblock unblocked under unreachable until up updated us use used using vanish vanished very
  via was wasn't way we week weeks went were weren't what what's when where whether which while who whom why will with within
  without won't work worked working works would wrote year years yes yesterday yet you`.split(/\s+/),
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
  ...[
    'talk',
    'communicate',
    'contact',
    'see',
    'open',
    'get',
    'ssh',
    'ping',
    'rdp',
    'browse',
    'scrape',
    'query',
    'telnet',
    'curl',
    'hit',
    'rsync',
    'sftp',
  ],
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
  /"[^"]{1,128}"|[\w.:/%'@-]{1,128}=[\w.:/%'@-]{1,128}(?:,[\w.:/%'@-]{1,128}=[\w.:/%'@-]{1,128})*|,|[\p{L}\p{N}_.:/=%'@+-]+/gu;

/** The words of a question, in lower case; what stands in quotes is one name, letter by letter. */
export function wordsOf(question: string): Word[] {
  const plain = question
    .normalize('NFKC')
    .replaceAll(/[‘’´]/g, "'")
    .replaceAll(/[“”„«»`]/g, '"')
    .replaceAll(/[–—]/g, '-')
    .replaceAll(/(?<=\d)\s-\s(?=\d)/g, ' to ')
    .toLowerCase();
  return (plain.match(PIECE) ?? [])
    .flatMap((piece): Word[] => {
      if (piece.startsWith('"')) return [{ text: piece.slice(1, -1).trim(), quoted: true }];
      if (piece === ',') return [{ text: ',', quoted: false }];
      return partsOf(bare(piece)).map((text) => ({ text, quoted: false }));
    })
    .filter(({ text }) => text !== '');
}

/** Without the signs around it, and without `'s`. */
function bare(word: string): string {
  const SIGNS = ".:'/-";
  let [begin, end] = [0, word.length];
  while (begin < end && SIGNS.includes(word[begin] ?? '')) begin += 1;
  while (end > begin && SIGNS.includes(word[end - 1] ?? '')) end -= 1;
  // A zone is behind UTC.
  if (/^-\d\d:?\d\d$/.test(word)) return word;
  const text = word.slice(begin, end);
  return text.endsWith("'s") && !COMMON.has(text) ? text.slice(0, -2) : text;
}

/** `09:10-10:30` is a range, `15:00+02:00` a time with its zone, `db-1:5432` a peer and a port. */
function partsOf(word: string): string[] {
  const [, from, to] = /^(\d{1,2}:\d\d)-(\d{1,2}:\d\d)$/.exec(word) ?? [];
  if (from !== undefined && to !== undefined) return [from, 'to', to];
  const [, clock, zone] = /^(\d{1,2}:\d\d(?::\d\d)?)((?:utc|gmt)?\+\d{1,2}(?::?\d\d)?)$/.exec(word) ?? [];
  if (clock !== undefined && zone !== undefined) return [clock, zone];
  const at = word.indexOf(':');
  const [name, port] = [word.slice(0, at), word.slice(at + 1)];
  const isName = /[a-z]/.test(name) ? !/^\d{4}-\d\d-\d\dt/.test(name) : /^\d+(?:\.\d+){3}$/.test(name);
  return at > 0 && /^\d{1,5}$/.test(port) && isName ? [name, port] : [word];
}

/** Words from a place up to another, as they were said. */
export function textOf(words: readonly Word[], begin: number, end: number): string {
  return words
    .slice(begin, end)
    .map(({ text }) => text)
    .join(' ');
}
