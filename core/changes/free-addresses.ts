import { Heap } from '../base/heap.ts';
import { addressNumber, formatAddress, hostRange } from './address.ts';

/** The facts of a state that decide if an address may be assigned. */
export interface Addresses {
  isHeld(address: string): boolean;
  /** The end of its quarantine, ms; undefined for none. */
  quarantinedUntil(address: string): number | undefined;
}

interface QuarantinedAddress {
  readonly value: number;
  readonly until: number;
}

/**
 * The addresses of one network that may be given, without a look at all that may not: the lowest that is neither held nor in
 * quarantine comes first, else the one whose quarantine ends first. Each is in one of three places, and what has changed since is noticed when it comes to the front.
 *
 * Example: of .1 to .6, .1 to .4 were given; .2 and .3 were freed. `#fresh` is .5; .2 and .3 are in quarantine, and go to the
 * free ones when that ends. The next to be given is then .2.
 */
export class FreeAddresses {
  readonly #range: ReturnType<typeof hostRange>;
  readonly #addresses: Addresses;
  /** All from here on have neither been given nor been in quarantine. */
  #fresh: number;
  readonly #free = new Heap<number>((a, b) => a < b);
  readonly #quarantined = new Heap<QuarantinedAddress>(
    (a, b) => a.until < b.until || (a.until === b.until && a.value < b.value),
  );

  constructor(cidr: string, addresses: Addresses) {
    this.#range = hostRange(cidr);
    this.#addresses = addresses;
    this.#fresh = this.#range?.first ?? 0;
  }

  /** An address was given, freed, or its quarantine began or ended. */
  changed(address: string): void {
    const value = addressNumber(address);
    if (this.#range === undefined || value === undefined || value < this.#range.first || value > this.#range.last)
      return;
    // Addresses that were never assigned are checked when their turn comes.
    if (value < this.#fresh) this.#place(value, address);
  }

  /** Undefined only when peers hold them all. */
  next(now: number): string | undefined {
    if (this.#range === undefined) return undefined;
    this.#release(now);
    const free = this.#firstFree(now);
    if (free !== undefined) return formatAddress(free);
    for (; this.#fresh <= this.#range.last; this.#fresh += 1) {
      const address = formatAddress(this.#fresh);
      if (this.#isFree(address, now)) return address;
      this.#place(this.#fresh, address);
    }
    const soonest = this.#soonest();
    return soonest && formatAddress(soonest.value);
  }

  #place(value: number, address: string): void {
    if (this.#addresses.isHeld(address)) return;
    const until = this.#addresses.quarantinedUntil(address);
    if (until === undefined) this.#free.add(value);
    else this.#quarantined.add({ value, until });
  }

  /** Moves those whose quarantine is over to the free ones. */
  #release(now: number): void {
    for (let one = this.#soonest(); one !== undefined && one.until <= now; one = this.#soonest()) {
      this.#quarantined.takeLeast();
      this.#free.add(one.value);
    }
  }

  /** The one whose quarantine ends first; those that are in it no more, or until another instant, are dropped. */
  #soonest(): QuarantinedAddress | undefined {
    for (let one = this.#quarantined.least; one !== undefined; one = this.#quarantined.least) {
      const address = formatAddress(one.value);
      if (!this.#addresses.isHeld(address) && this.#addresses.quarantinedUntil(address) === one.until) return one;
      this.#quarantined.takeLeast();
    }
    return undefined;
  }

  #firstFree(now: number): number | undefined {
    for (let value = this.#free.least; value !== undefined; value = this.#free.least) {
      const address = formatAddress(value);
      if (this.#isFree(address, now)) return value;
      this.#free.takeLeast();
      // A clock that went back has its quarantine begin again.
      this.#place(value, address);
    }
    return undefined;
  }

  #isFree(address: string, now: number): boolean {
    return !this.#addresses.isHeld(address) && (this.#addresses.quarantinedUntil(address) ?? now) <= now;
  }
}
