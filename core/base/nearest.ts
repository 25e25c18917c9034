/** Slips of one word, however long. */
const MAX_FAULTS = 2;
/** Letters per accepted typing fault: a word of fewer letters, such as `db`, must match exactly. */
const LETTERS_PER_FAULT = 3;

/** Names that differ from a word by a slip or two, nearest first. */
export function nearest(word: string, candidates: Iterable<string> | NameIndex, count = 3): string[] {
  const index = candidates instanceof NameIndex ? candidates : new NameIndex(new Set(candidates));
  return index
    .near(word)
    .sort((a, b) => a.faults - b.faults || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map(({ name }) => name);
}

interface IndexedName {
  readonly name: string;
  /** In lower case. */
  readonly folded: string;
  /** Without the signs between its parts. */
  readonly letters: string;
  /** A bit for each letter and digit in the name. */
  readonly signature: number;
}

/** Names prepared for many lookups: most that are not near are told from a word by a few bits. */
export class NameIndex {
  readonly #names: readonly IndexedName[];

  constructor(names: Iterable<string>) {
    this.#names = Array.from(names, indexed);
  }

  /** The names that may be meant by a word, each with its slips. */
  near(word: string): { readonly name: string; readonly faults: number }[] {
    const given = indexed(word);
    const most = mostFaultsIn(given.letters);
    return this.#names.flatMap((one) => {
      if (Math.abs(one.letters.length - given.letters.length) > most) return [];
      // Each fault takes one letter for another: two bits.
      if (bitsOf(one.signature ^ given.signature) > 2 * most) return [];
      const faults = typosBetween(word, one.folded);
      return faults === undefined ? [] : [{ name: one.name, faults }];
    });
  }

  /** The names that begin with the letters of a word. */
  beginningWith(word: string): string[] {
    const begin = lettersOf(word.toLowerCase());
    return this.#names.flatMap(({ name, letters }) => (letters.startsWith(begin) ? [name] : []));
  }
}

function indexed(name: string): IndexedName {
  const folded = name.toLowerCase();
  const letters = lettersOf(folded);
  let signature = 0;
  for (let at = 0; at < letters.length; at += 1) signature |= 1 << (letters.charCodeAt(at) & 31);
  return { name, folded, letters, signature };
}

function bitsOf(number: number): number {
  let count = 0;
  for (let left = number; left !== 0; left &= left - 1) count += 1;
  return count;
}

/** Returns the letters that tell names apart when they are typed from memory. */
export function lettersOf(name: string): string {
  return name.replaceAll(SIGNS, '');
}

const SEPARATORS = /[-_.=/\s]+/;
const SIGNS = /[-_.\s]/g;

/**
 * How many letters somebody would have got wrong who meant one name by the other; undefined where that is too many to be
 * meant. Where both have parts, each is near by its own length: `user=dave` is not `user=eve`, nor `bob-laptop`
 * `ana-laptop`. Signs between parts are not counted: `web1` is `web-1`.
 */
function typosBetween(word: string, name: string): number | undefined {
  const letters = lettersOf(word);
  const faults = faultsBetween(letters, lettersOf(name), mostFaultsIn(letters));
  if (faults === undefined) return undefined;
  const [parts, otherParts] = [word.split(SEPARATORS), name.split(SEPARATORS)];
  const isNear = (part: string, at: number) => {
    const most = Math.max(1, faultsIn(part));
    return faultsBetween(part, otherParts[at] ?? '', most) !== undefined;
  };
  return parts.length === otherParts.length && parts.length > 1 && !parts.every(isNear) ? undefined : faults;
}

const mostFaultsIn = (letters: string) => Math.min(MAX_FAULTS, faultsIn(letters));
const faultsIn = ({ length }: string) => Math.floor(length / LETTERS_PER_FAULT);

/**
 * Letters that are wrong, missing, too many, or swapped with the next; undefined beyond `most`. The distance of optimal
 * string alignment, by rows: of `wbe` and `web` it is 1.
 */
function faultsBetween(a: string, b: string, most: number): number | undefined {
  if (Math.abs(a.length - b.length) > most) return undefined;
  let [older, old] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((old[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (old[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (older[j - 2] ?? 0) + 1);
      row.push(cost);
      least = Math.min(least, cost);
    }
    if (least > most) return undefined;
    [older, old] = [old, row];
  }
  const faults = old[b.length] ?? most + 1;
  return faults <= most ? faults : undefined;
}
