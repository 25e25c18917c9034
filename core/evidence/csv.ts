/**
 * Comma-separated values as RFC 4180 has them, every cell quoted, lines ended by a line feed.
 *
 * A spreadsheet runs a cell that begins as a formula does. Such a cell, and one that begins with an apostrophe, has one
 * apostrophe put before it: whoever takes one leading apostrophe away reads what was there.
 */

/** Matches characters that begin a formula, also in full width, and white space that spreadsheets skip before one. */
const RUN_OR_MARKED = /^['=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

export function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => `"${defused(cell).replaceAll('"', '""')}"`).join(',')}\n`;
}

function defused(cell: string): string {
  return RUN_OR_MARKED.test(cell.trimStart()) || RUN_OR_MARKED.test(cell) ? `'${cell}` : cell;
}

/** More than any file of an archive has: one that was made to be costly is refused before it is held. */
const MAX_ROW = 2 * 1024 * 1024;
const MAX_CELLS = 256;

/** Reads what `csvLine` wrote, from pieces that may end anywhere. */
export class CsvReader {
  #cell = '';
  #row: string[] = [];
  /** Characters of the row so far. */
  #length = 0;
  #state: 'start' | 'quoted' | 'quote' = 'start';

  /** @returns the rows that end in this piece. @throws SyntaxError where it is not written so, or is too long */
  read(piece: string): string[][] {
    const rows: string[][] = [];
    for (const character of piece) {
      this.#length += character.length;
      if (this.#state === 'quoted') {
        if (character === '"') this.#state = 'quote';
        else this.#cell += character;
      } else if (this.#state === 'quote' && character === '"') {
        this.#cell += character;
        this.#state = 'quoted';
      } else if (this.#state === 'quote' && (character === ',' || character === '\n')) {
        this.#row.push(this.#cell.startsWith("'") ? this.#cell.slice(1) : this.#cell);
        this.#cell = '';
        this.#state = 'start';
        if (this.#row.length > MAX_CELLS) throw new SyntaxError('a row has too many cells');
        if (character === '\n') {
          rows.push(this.#row.splice(0));
          this.#length = 0;
        }
      } else if (this.#state === 'start' && character === '"') {
        this.#state = 'quoted';
      } else {
        throw new SyntaxError('a cell is not quoted');
      }
      if (this.#length > MAX_ROW) throw new SyntaxError('a row is too long');
    }
    return rows;
  }

  /** @throws SyntaxError where the last row has no end */
  end(): void {
    if (this.#state !== 'start' || this.#row.length > 0) throw new SyntaxError('the last row has no end');
  }
}
