import { decodeMember, encodeMember, type Member } from './member.ts';

/** Keys that may not come back before their last credential has run out. */
export class Revocations {
  readonly #until = new Map<string, number>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  add(member: Member, until: number): void {
    const name = nameOf(member);
    this.#until.set(name, Math.max(until, this.#until.get(name) ?? 0));
    if (this.#until.size <= this.#max) return;
    let [soonest, end]: [string, number] = [name, Number.POSITIVE_INFINITY];
    for (const [key, at] of this.#until) if (at < end) [soonest, end] = [key, at];
    this.#until.delete(soonest);
  }

  remove(member: Member): void {
    this.#until.delete(nameOf(member));
  }

  /** When the key may come back; undefined when it is not kept out. */
  until(member: Member): number | undefined {
    return this.#until.get(nameOf(member));
  }

  *[Symbol.iterator](): Iterator<{ readonly member: Member; readonly until: number }> {
    for (const [name, until] of this.#until) yield { member: decodeMember(Buffer.from(name, 'base64')), until };
  }

  get size(): number {
    return this.#until.size;
  }

  has(member: Member, now: number): boolean {
    const until = this.until(member);
    return until !== undefined && now < until;
  }

  forgetUntil(now: number): void {
    for (const [key, until] of this.#until) if (until <= now) this.#until.delete(key);
  }
}

function nameOf(member: Member): string {
  return Buffer.from(encodeMember(member)).toString('base64');
}
