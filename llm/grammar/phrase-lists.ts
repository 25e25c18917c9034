/** Lists of phrases apart by `|`. */

/** Every prefix before every phrase. */
export function each(prefixes: string, phrases: string): string {
  return prefixes
    .split('|')
    .flatMap((prefix) => phrases.split('|').map((phrase) => prefix + phrase))
    .join('|');
}

/** A suffix behind every phrase. */
export function suffixed(suffix: string, phrases: string): string {
  return phrases
    .split('|')
    .map((phrase) => phrase + suffix)
    .join('|');
}
