/** Bytes of which the server has not said that it has them: above, more is dropped. As much as it keeps for one receiver. */
export const MAX_BACKLOG_BYTES = 67_108_864;
/** It is asked after as many. */
const ASKED_EACH_BYTES = 4_194_304;

/** How far the server is behind with what is sent to it, so that what waits for it in memory is bounded. */
export class Backlog {
  readonly #recovered: () => void;
  #bytes = 0;
  #unasked = 0;
  #hasDropped = false;
  /** Answers of a connection before do not count. */
  #generation = 0;

  /** `recovered`: it has caught up after something was dropped. */
  constructor(recovered: () => void) {
    this.#recovered = recovered;
  }

  get bytes(): number {
    return this.#bytes;
  }

  admits(bytes: number): boolean {
    const fits = this.#bytes + bytes <= MAX_BACKLOG_BYTES;
    if (!fits) this.#hasDropped = true;
    return fits;
  }

  /** `flush` resolves when the server has all that was sent until it was called. */
  sent(bytes: number, flush: () => Promise<void>): void {
    this.#bytes += bytes;
    this.#unasked += bytes;
    if (this.#unasked < ASKED_EACH_BYTES) return;
    const [asked, generation] = [this.#unasked, this.#generation];
    this.#unasked = 0;
    flush().then(
      () => generation === this.#generation && this.#taken(asked),
      () => undefined,
    );
  }

  /** There is another connection. */
  clear(): void {
    this.#generation += 1;
    this.#bytes = 0;
    this.#unasked = 0;
    this.#hasDropped = false;
  }

  #taken(bytes: number): void {
    this.#bytes -= bytes;
    if (!this.#hasDropped || this.#bytes > this.#unasked) return;
    this.#hasDropped = false;
    this.#recovered();
  }
}
