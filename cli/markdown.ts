import { styleText } from 'node:util';
import { terminalWidth, wrapped } from './fit.ts';

const INDENT = '  ';
/** Cells of a table in Markdown, which may hold an escaped bar. */
const CELLS = /((?:[^|\\]|\\.)*)\|/g;

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
  const [, title] = /^#{1,6} +(.*)$/.exec(line) ?? [];
  if (title !== undefined) return wrapped(plain(title), room()).map((part) => styleText('bold', part));
  const [, mark = '', text = line] = /^(\s*(?:[-*]|\d+\.) +)(.*)$/.exec(line) ?? [];
  return wrapped(plain(text), room() - mark.length).map(
    (part, at) => `${at === 0 ? mark : ' '.repeat(mark.length)}${part}`,
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
  return [...line.slice(1).matchAll(CELLS)].map(([, cell = '']) => plain(cell.trim()));
}

/** Returns a text without emphasis, marks of code, and the escapes that keep Markdown from reading it as either. */
function plain(text: string): string {
  return text.replaceAll(/\\([!-/:-@[-`{-~])|`+|\*\*/g, (_, escaped?: string) => escaped ?? '');
}
