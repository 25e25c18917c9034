/** Columns of a terminal that does not say how many it has, and of a file or a pipe. */
const DEFAULT_WIDTH = 80;
/** Narrower than that, words do not fit any more. */
const MIN_WIDTH = 40;

/** Returns how many columns a table or a text for people may take. */
export function terminalWidth(): number {
  const { columns = Number(process.env['COLUMNS']) } = process.stdout;
  return Number.isInteger(columns) && columns > 0 ? Math.max(columns, MIN_WIDTH) : DEFAULT_WIDTH;
}

/** Returns the lines that a text takes in so many columns; a word that is longer stays whole, so that it can be copied. */
export function wrapped(text: string, width: number): readonly string[] {
  if (text.length <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const part of partsOf(text)) {
    if (line !== '' && line.length + part.trimEnd().length > width) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += part;
  }
  return [...lines, line.trimEnd()];
}

/** Returns the parts that a text may be broken between: behind spaces, and behind the commas of a list. */
const partsOf = (text: string) => text.match(/[^\s,]*(?:,+\s*|\s+|$)/g)?.filter((part) => part !== '') ?? [];

/** Returns the length of the longest part of a text that stays on one line. */
export const longestPart = (text: string) => Math.max(0, ...partsOf(text).map((part) => part.trimEnd().length));
