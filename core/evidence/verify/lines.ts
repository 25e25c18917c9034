/** Lines of a text that comes in pieces. What one may have is bounded: a file without line ends would be held whole. */
const MAX_LINE = 32 * 1024 * 1024;

export class LineReader {
  /** Pieces of the line that has no end yet: joined once, however many there are. */
  #begun: string[] = [];
  #length = 0;

  /** @returns the lines that end in this piece. @throws SyntaxError for one that is too long */
  read(piece: string): string[] {
    const [first = '', ...others] = piece.split('\n');
    this.#begun.push(first);
    this.#length += first.length;
    if (this.#length > MAX_LINE) throw new SyntaxError('a line is too long');
    const rest = others.pop();
    if (rest === undefined) return [];
    const lines = [this.#begun.join(''), ...others];
    this.#begun = [rest];
    this.#length = rest.length;
    return lines;
  }

  /** @throws SyntaxError where the last line has no end */
  end(): void {
    if (this.#length > 0) throw new SyntaxError('the last line has no end');
  }
}
