/** Acts on a terminal, or hides or turns round what is written beside it. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** Matches hidden characters in a text of several lines, whose titles are bold and whose results are red, green or yellow. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes that bold and these colours begin and end with
const HIDDEN_IN_LINES = /(\n|\t|\u001B\[(?:1|22|3[1-3]|39)m)|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const IN_PLACE = '\uFFFD';

/** Returns a text as one line for a terminal, whatever others wrote into it. */
export const visibleLine = (text: string) => text.replaceAll(HIDDEN, IN_PLACE);

/** Returns a value in which each text is one line for a terminal: what a text in several lines is made of. */
export function visibleTexts<T>(value: T): T {
  if (typeof value === 'string') return visibleLine(value) as T;
  if (Array.isArray(value)) return value.map(visibleTexts) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [name, visibleTexts(held)])) as T;
}

/** Returns a text as one line for a terminal, with its colors. */
export const visibleInLine = (text: string) => visible(text.replaceAll('\n', IN_PLACE));

/** Tells whether a text has anything in it that a terminal would act on, but for ends of lines and tabs. */
export const isHiding = (text: string) => text.replaceAll(/[\n\t]/g, '').search(HIDDEN) >= 0;

/** YAML with escapes for the same, which stands in double quotes there. */
export const withEscapes = (yaml: string) =>
  yaml.replaceAll(HIDDEN, (found) =>
    found === '\n' || found === '\t' ? found : `\\U${found.codePointAt(0)?.toString(16).padStart(8, '0')}`,
  );

/** Lines for a terminal. */
export const visible = (text: string) => text.replaceAll(HIDDEN_IN_LINES, (_, own?: string) => own ?? IN_PLACE);

/** JSON that says the same, with escapes for what a terminal would act on. */
export function visibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(HIDDEN, (found) => (found === '\n' ? found : escaped(found)));
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
