import { diffArrays } from 'diff/lib/diff/array.js';

/** Lines that come and go before two texts are shown whole, one after the other: the time grows with their square, to 0.1 s. */
const MAX_EDITS = 1_000;

/** The lines of two texts: those that stay with a space before them, those that go with `-`, those that come with `+`. */
export function lineDiff(before: string, after: string): string[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const whole = [
    { removed: true, added: false, value: old },
    { removed: false, added: true, value: fresh },
  ];
  const parts = diffArrays(old, fresh, { maxEditLength: MAX_EDITS }) ?? whole;
  return parts.flatMap(({ added, removed, value }) => {
    const mark = added ? '+' : removed ? '-' : ' ';
    return value.map((line) => mark + line);
  });
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
