import { type PortEntry, protocolSchema } from '../../core/model/policy.ts';
import { PHRASES_SAID } from './lexicon.ts';
import { enumerated, quoted, Refusal } from './refusal.ts';
import { KNOWN_SERVICES } from './services.ts';
import type { Subject } from './subject.ts';
import type { Word } from './tokens.ts';

/** Every single word that the grammar knows, whichever phrase it is a part of, every service and every protocol. */
const OWN: ReadonlySet<string> = new Set([
  ...PHRASES_SAID.flatMap((phrase) => phrase.split(' ')),
  ...Object.keys(KNOWN_SERVICES),
  ...protocolSchema.options.map((protocol) => protocol.toLowerCase()),
  'others',
]);

/** Words that only stand in a place of their own, such as ports and numbers. */
const NUMBER = /^\d+$/;

/** Whether a word is one of the grammar, and so a name only where it is said to be. */
export function isOwnWord(word: string): boolean {
  return OWN.has(word) || NUMBER.test(word);
}

/**
 * Whoever takes a word of the grammar for a name takes no sentence away from its meaning: which of the two is meant is asked.
 *
 * @param called whom the word may name
 * @param plain other words for what the grammar reads, where it has some
 */
export function namesake(
  said: readonly Word[] | string,
  called: readonly Pick<Subject, 'noun'>[],
  plain: readonly string[],
): Refusal {
  const text = typeof said === 'string' ? said : said.map((word) => word.text).join(' ');
  const names = called.map(({ noun }) => (noun.includes('=') ? noun : `"${noun}"`));
  const readings = enumerated([...names, ...plain]);
  const more = plain.length > 0 ? '' : ', or something else: then say it in other words';
  return new Refusal(
    `${quoted(text)} is a word of the grammar, and also names a peer or the value of a label.`,
    [`Which is meant: ${readings}${more}? A name is written in quotes.`],
    { ...(typeof said !== 'string' && { replace: said, final: true }), by: [...names, ...plain] },
  );
}

/** A service by its ports; none for what has no ports. */
export function serviceAsPorts(ports: readonly PortEntry[]): string[] {
  const told = ports.flatMap(({ protocol = 'TCP', port }) =>
    port === undefined ? [] : [`${protocol.toLowerCase()} port ${port}`],
  );
  return told.length === 0 ? [] : [told.join(' and ')];
}
