import { styleText } from 'node:util';
import { terminalWidth, wrapped } from './fit.ts';

const INDENT = '  ';
/** Ends a cell of a table in Markdown, which may hold an escaped one. */
const BAR = /(?<!\\)\|/;

/**
 * Returns a Markdown document of a control plane as lines for a terminal: without marks and escapes, no wider than it, and
 * all of them indented, so that none can be taken for a line of the command's own.
 */
export function renderedMarkdown(document: string): readonly string[] {
  const lines: string[] = [];
  let rows: string[][] = [];
  let fence: string | undefined;
  const endTable = () => {
    lines.push(...tableLines(rows));
    rows = [];
  };
  for (const line of document.trimEnd().split(/\r?\n/)) {
    const [mark] = /^`{3,}/.exec(line) ?? [];
    if (fence !== undefined) {
      if (line.trimEnd() === fence) fence = undefined;
      else lines.push(line);
    } else if (mark !== undefined) {
      endTable();
      fence = mark;
    } else if (line.startsWith('|')) rows.push(cellsOf(line));
    else {
      endTable();
      lines.push(...proseLines(line));
    }
  }
  endTable();
  return lines.map((line) => (line === '' ? '' : `${INDENT}${line}`));
}

function proseLines(line: string): readonly string[] {
  const title = line.replace(/^#{1,6} /, '');
  if (title !== line) return wrapped(plain(title), room()).map((part) => styleText('bold', part));
  const text = line.trimStart();
  const mark = line.length - text.length + (/^[-*] /.test(text) ? 2 : 0);
  return wrapped(plain(line.slice(mark)), room() - mark).map(
    (part, at) => `${at === 0 ? line.slice(0, mark) : ' '.repeat(mark)}${part}`,
  );
}

const room = () => terminalWidth() - INDENT.length;

function tableLines(rows: readonly string[][]): readonly string[] {
  const shown = rows.filter((row) => !row.every((cell) => /^:?-+:?$/.test(cell)));
  const widths = (shown[0] ?? []).map((_, at) => Math.max(...shown.map((row) => row[at]?.length ?? 0)));
  return shown.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function cellsOf(line: string): string[] {
  const [, ...cells] = line.trimEnd().split(BAR);
  return cells.slice(0, -1).map((cell) => plain(cell.trim()));
}

/** Returns a text without emphasis, marks of code, and the escapes that keep Markdown from reading it as either. */
function plain(text: string): string {
  return text.replaceAll(/\\([!-/:-@[-`{-~])|`+|\*\*/g, (_, escaped?: string) => escaped ?? '');
}
