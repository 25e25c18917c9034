/**
 * The text forms of what users, nodes and models wrote. Every text that an MCP answer or an event stream holds is made here,
 * so that nothing in it can look like a part of the answer: it is one plain word, or stands inside of JSON or a fence, and
 * what is not seen is spelled out.
 */

/** Characters that are not seen or that turn, end or hide a line: JSON leaves them as they are. */
const INVISIBLE = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{Cn}\p{Co}]/gu;
const MAX_LINE = 2_000;

/** Returns one line of JSON with the same value, in visible characters only. */
export function jsonText(value: unknown): string {
  return visibleText(JSON.stringify(value));
}

/** A sentence with words of others in it, as one bounded line. */
export function lineText(text: string): string {
  const line = text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll(INVISIBLE, '')
    .trim();
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
}

/** With what is not seen spelled out. */
export function visibleText(text: string): string {
  return text.replaceAll(INVISIBLE, escaped);
}

function escaped(characters: string): string {
  return Array.from({ length: characters.length }, (_, index) => {
    return `\\u${characters.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}
