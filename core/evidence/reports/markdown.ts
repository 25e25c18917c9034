import { visibleText } from '../../base/as-data.ts';
import * as markdown from '../../effect/markdown.ts';

/** Characters of one text: the evidence of a control is the longest. */
const MAX_TEXT = 4_000;
/** Matches the beginning of a line that Markdown would read as a list or a heading. */
const LINE_START = /^(\d{0,9})([-+=.)])/;

/** Words of others as one line of text: no markup, no link, and what is not seen is spelled out. */
export function text(words: string, limit = MAX_TEXT): string {
  return markdown.plain(visibleText(words), limit).replace(LINE_START, '$1\\$2');
}

/** An id or a name of others inside backticks; a dash where there is none. */
export function code(name: string | null): string {
  return name === null || name.trim() === '' ? '—' : markdown.code(visibleText(name));
}

/** A table; cells are Markdown already. A bar in a code span ends its cell, unless it is escaped. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)];
}

/** As `code`, in a cell of a table. */
export function codeCell(name: string | null): string {
  return code(name).replaceAll('|', '\\|');
}

/** A value as JSON in a block that nothing in it can end. */
export function jsonBlock(value: unknown): string[] {
  return markdown.fenced('json', visibleText(JSON.stringify(value, null, 2)).split('\n'));
}

/** Blocks apart from one another, as a file. */
export function page(blocks: readonly (readonly string[])[]): string {
  const texts = blocks.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'));
  return `${texts.join('\n\n')}\n`;
}
