import { type Candidate, encodeCandidate } from './ice/candidate.ts';
import { CANDIDATES_AGAIN_MS } from './schedule.ts';

/** Which of this host's addresses one peer has been told, and when it is told all of them again. */
export class CandidateNaming {
  readonly #namedLines = new Set<string>();
  #againAt: number | undefined;
  #agains = 0;

  get deadline(): number {
    return this.#againAt ?? Number.POSITIVE_INFINITY;
  }

  /** The lines to send: those that the peer was not told. */
  untold(candidates: readonly Candidate[]): readonly string[] {
    const lines = new Set(candidates.map(encodeCandidate)).difference(this.#namedLines);
    for (const line of lines) this.#namedLines.add(line);
    return [...lines];
  }

  /** Credentials were sent: all is to be told now, and soon again. */
  begin(now: number): void {
    this.#agains = 0;
    this.#schedule(now);
  }

  /** All is to be told again, and once more later. */
  again(now: number): void {
    this.#agains += 1;
    this.#schedule(now);
  }

  stop(): void {
    this.#againAt = undefined;
  }

  #schedule(now: number): void {
    this.#namedLines.clear();
    const wait = CANDIDATES_AGAIN_MS[this.#agains];
    this.#againAt = wait === undefined ? undefined : now + wait;
  }
}
