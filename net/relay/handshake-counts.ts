/** Connections that have not proven themselves yet, by the address they come from. */
export class HandshakeCounts {
  readonly #bySource = new Map<string, number>();

  of(source: string): number {
    return this.#bySource.get(source) ?? 0;
  }

  add(source: string): void {
    this.#bySource.set(source, this.of(source) + 1);
  }

  remove(source: string): void {
    const left = this.of(source) - 1;
    if (left > 0) this.#bySource.set(source, left);
    else this.#bySource.delete(source);
  }
}
