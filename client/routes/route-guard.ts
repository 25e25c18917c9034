import type { Log } from '../../core/base/ports.ts';

/** For so long an answer may still come by what was known before the route, such as the address of a name. */
export const PROBATION_MS = 30_000;
/** How long the control plane is asked then before the route is taken away. */
const PATIENCE_MS = 10_000;
/** How long it is asked without the route before the route comes back. */
export const WITHOUT_MS = 60_000;
/** A route that was taken away before stays for so long, and for twice as long each time. */
export const AGAIN_MS = 120_000;
const LONGEST_MS = 3_600_000;
const LOOK_MS = 5_000;
/** Nobody asks more often than so many times in one phase. */
const LOOKS = 20;

interface RouteGuardOptions {
  /** Asks the control plane over a new connection. Resolves soon, and does not reject. @returns whether the way to it is open */
  reaches(block: string): Promise<boolean>;
  /** Takes the route of a block away, and puts it back. */
  withdraw(block: string): void;
  restore(block: string): void;
  /** Writes down which block is not trusted yet, so that another run of this node goes on watching. */
  keep(block: string | undefined): void;
  readonly log: Log;
}

/** A block that is not trusted yet. */
export interface Doubt {
  readonly block: string;
  readonly phase: 'awaited' | 'routed' | 'withdrawn';
  /** How often its route was taken away. */
  readonly withdrawals: number;
}

/** How long the phase lasts at most, from when on an answer counts, and how often the control plane is asked. */
export function phaseTimes({ phase, withdrawals }: Doubt) {
  const isRouted = phase === 'routed';
  const routedMs =
    withdrawals === 0 ? PROBATION_MS + PATIENCE_MS : Math.min(AGAIN_MS * 2 ** (withdrawals - 1), LONGEST_MS);
  const mostMs = isRouted ? routedMs : WITHOUT_MS;
  return { mostMs, countsFromMs: isRouted ? PROBATION_MS : LOOK_MS, lookMs: Math.max(LOOK_MS, mostMs / LOOKS) };
}

/** The next phase of a block whose control plane answered, or did not within the phase. Undefined: nothing is in doubt any more. */
export function nextDoubt(doubt: Doubt, isReached: boolean): Doubt | undefined {
  if (isReached) return undefined;
  return doubt.phase === 'routed'
    ? { ...doubt, phase: 'withdrawn', withdrawals: doubt.withdrawals + 1 }
    : { ...doubt, phase: 'awaited' };
}

/**
 * Watches a block that a graph of the control plane brought: where the node loses its control plane over it, the route is
 * withdrawn. Where the control plane stays away without the route too, nobody knows: the route comes back, and is watched on.
 *
 * | Phase | Until | Then |
 * | --- | --- | --- |
 * | awaited | the block is routed | routed |
 * | routed | the route is gone, for another reason | awaited |
 * | routed | an answer to what was asked 30 s after it was routed, or later | trusted: the end |
 * | routed | 40 s without; after the first withdrawal 2 min, 4 min and so on up to an hour | withdrawn |
 * | withdrawn | an answer | it stays away: the end |
 * | withdrawn | 60 s without | awaited |
 */
export class RouteGuard {
  readonly #options: RouteGuardOptions;
  #doubt: Doubt | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RouteGuardOptions) {
    this.#options = options;
  }

  /** A graph came from the control plane. @param inForce block that is routed now */
  graphCame(block: string, inForce: string | undefined): void {
    if (block !== inForce && block !== this.#doubt?.block) this.doubt(block);
  }

  /** A block is to be watched once it is routed, or one that an earlier run did not trust yet. */
  doubt(block: string): void {
    this.#options.keep(block);
    this.#enter({ block, phase: 'awaited', withdrawals: 0 });
  }

  /** A block is routed from now on; undefined: none is. */
  routed(block: string | undefined): void {
    const doubt = this.#doubt;
    if (doubt === undefined || doubt.phase === 'withdrawn') return;
    const phase = block === doubt.block ? 'routed' : 'awaited';
    if (phase !== doubt.phase) this.#enter({ ...doubt, phase });
  }

  /** A block was withdrawn by an earlier run of this node. */
  withdrawn(block: string): void {
    this.#enter({ block, phase: 'withdrawn', withdrawals: 1 });
  }

  stop(): void {
    this.#enter(undefined);
  }

  #enter(doubt: Doubt | undefined): void {
    clearTimeout(this.#timer);
    this.#doubt = doubt;
    if (doubt && doubt.phase !== 'awaited') this.#look(doubt, 0);
  }

  /** @param passedMs since the phase began */
  #look(doubt: Doubt, passedMs: number): void {
    const { mostMs, countsFromMs, lookMs } = phaseTimes(doubt);
    const waitMs = passedMs === 0 ? countsFromMs : Math.min(lookMs, mostMs - passedMs);
    this.#timer = setTimeout(async () => {
      const isReached = await this.#options.reaches(doubt.block);
      // Meanwhile it may have been stopped, or have gone on.
      if (doubt !== this.#doubt) return;
      if (isReached || passedMs + waitMs >= mostMs) this.#decide(doubt, isReached);
      else this.#look(doubt, passedMs + waitMs);
    }, waitMs);
  }

  #decide(doubt: Doubt, isReached: boolean): void {
    const { log, keep, withdraw, restore } = this.#options;
    const { block } = doubt;
    const next = nextDoubt(doubt, isReached);
    this.#enter(next);
    if (next === undefined) keep(undefined);
    else if (next.phase === 'withdrawn') {
      log.warn({}, `the control plane does not answer over ${block}: the route is withdrawn`);
      withdraw(block);
    } else {
      log.info({}, `the control plane is away without ${block} too: the block is routed again`);
      keep(block);
      restore(block);
    }
  }
}
