/** Lines of a text that comes in pieces. What one may have is bounded: a file without line ends would be held whole. */
const MAX_LINE = 32 * 1024 * 1024;

export class LineReader {
  #rest = '';

  /** @returns the lines that end in this piece. @throws SyntaxError for one that is too long */
  read(piece: string): string[] {
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > MAX_LINE) throw new SyntaxError('a line is too long');
    return lines;
  }

  /** @throws SyntaxError where the last line has no end */
  end(): void {
    if (this.#rest !== '') throw new SyntaxError('the last line has no end');
  }
}
