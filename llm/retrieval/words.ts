/** Joined words that may be one name: "web server 1" as `web-server-1`. */
const MAX_JOINED = 5;
const MIN_STEM = 3;

/** Small words of an intent and its verbs: they hint at no name by resembling one. A name that is one is found all the same. */
const COMMON: ReadonlySet<string> = new Set(
  `a about access address after again all allow allowed also an and another any anybody anyone are as at be because been
  before between block blocked both but by call can cannot change close closed connect connection connections could
  create cut day days delete deny device devices do does each egress else every everybody everyone everything except
  expose first for forbid from get give go group groups has have hello host hosts hour hours how i if in ingress instead
  into is isolate it its just keep know label labels lets let like limit lock machine machines make may me minute
  minutes must my name named need needs network networks never new next no nobody node nodes not nothing now of off on
  once one only open or other our out over peer peers permit please policies policy port ports private public reach
  reachable remove restrict revoke rule rules same secure see server servers service services should so some somebody
  someone start still stop talk tcp than that the their them then there these they this those through time to traffic
  udp undo until up use using via want was we week weeks were what when where which while who will with within without
  would you your`.split(/\s+/),
);

const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  admin: ['administrator', 'ops'],
  auth: ['authentication', 'login', 'identity'],
  backend: ['api', 'be'],
  cache: ['redis', 'memcached'],
  database: ['db', 'postgres', 'mysql', 'sql'],
  db: ['database', 'postgres', 'mysql', 'sql'],
  dev: ['development'],
  development: ['dev'],
  frontend: ['web', 'fe', 'www'],
  kubernetes: ['k8s'],
  k8s: ['kubernetes'],
  metrics: ['prometheus', 'monitoring'],
  monitoring: ['prometheus', 'grafana', 'mon', 'metrics'],
  postgres: ['db', 'database'],
  prod: ['production'],
  production: ['prod'],
  redis: ['cache'],
  stage: ['staging'],
  staging: ['stage'],
  web: ['www', 'frontend', 'nginx'],
  website: ['web', 'www'],
};

/** A name or phrase by its letters and digits alone, so that case, accents, hyphens and spaces do not matter. */
export function squash(text: string): string {
  return plain(text).replaceAll(/[^a-z0-9]+/g, '');
}

/** The words in a name: `webServer-01` is `web`, `server` and `webserver`; numbers alone are left out unless long. */
export function wordsOfName(name: string): Set<string> {
  const parts = plain(name.replaceAll(/([a-z])([A-Z])/g, '$1 $2')).match(/[a-z]+|[0-9]{3,}/g) ?? [];
  const runs = plain(name).match(/[a-z0-9]{2,}/g) ?? [];
  return new Set([...parts, ...runs.filter((run) => !/^\d{1,2}$/.test(run))]);
}

export interface Phrases {
  /** Single words that may hint at a name, with how far back they were said: 0 is the intent itself. */
  readonly hints: ReadonlyMap<string, number>;
  /** Runs of one to {@link MAX_JOINED} words joined as a name would be, with their number of words and how far back they were said. */
  readonly joined: ReadonlyMap<string, { readonly words: number; readonly back: number }>;
}

/** Returns the names that the texts of a conversation may contain, the newest text first. */
export function phrasesOf(texts: readonly string[]): Phrases {
  const hints = new Map<string, number>();
  const joined = new Map<string, { words: number; back: number }>();
  for (const [back, text] of texts.entries()) {
    const atoms = plain(text).match(/[a-z0-9]+/g) ?? [];
    for (const [at, atom] of atoms.entries()) {
      if (!COMMON.has(atom) && !hints.has(atom)) hints.set(atom, back);
      let phrase = '';
      for (let words = 1; words <= MAX_JOINED && at + words <= atoms.length; words++) {
        phrase += atoms[at + words - 1];
        if (!joined.has(phrase)) joined.set(phrase, { words, back });
      }
    }
    for (const chunk of text.split(/\s+/)) {
      const whole = squash(chunk);
      if (whole !== '' && !joined.has(whole)) joined.set(whole, { words: 1, back });
    }
  }
  return { hints, joined };
}

/** A word in its other number and its synonyms; never the word itself. */
export function formsOf(word: string): string[] {
  const numbers = otherNumber(word);
  return [
    ...numbers,
    ...[word, ...numbers].flatMap((form) => (Object.hasOwn(SYNONYMS, form) ? (SYNONYMS[form] ?? []) : [])),
  ];
}

function otherNumber(word: string): string[] {
  if (word.length < MIN_STEM) return [];
  if (word.endsWith('ies')) return [`${word.slice(0, -3)}y`];
  if (/(?:s|x|ch|sh)es$/.test(word)) return [word.slice(0, -2), word.slice(0, -1)];
  if (word.endsWith('s') && !word.endsWith('ss')) return [word.slice(0, -1)];
  return [`${word}s`];
}

/** Tells whether two words differ by one letter added, removed, changed or swapped with its neighbor. */
export function isNear(a: string, b: string): boolean {
  if (a === b || Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
  }
  const [left, right] = [a.slice(start, endA), b.slice(start, endB)];
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}

function plain(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}
