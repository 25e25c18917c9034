import type { Clock, Log } from '../../core/base/ports.ts';

/** How long a node tries to reach its control plane over a new route before it takes the route away. */
export const PROBATION_MS = 30_000;
/** Attempts that began over the withdrawn route take a while to end. */
export const WITHOUT_MS = 60_000;
const LOOK_MS = 5_000;

interface RouteGuardOptions {
  /** When the control plane was heard last, ms; null before the first time. */
  heardAt(): number | null;
  /** Asks the control plane for something soon, over the API. */
  ask(why: string): void;
  /** Takes the route of a block away, and puts it back. */
  withdraw(block: string): void;
  restore(block: string): void;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Watches a block that a graph of the control plane brought: where the node loses its control plane over it, the route is
 * withdrawn. Where the control plane stays away without the route too, the route was not the reason, and comes back.
 */
export class RouteGuard {
  readonly #options: RouteGuardOptions;
  /** The block of the newest graph that the control plane sent, until it is in force. */
  #expected: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RouteGuardOptions) {
    this.#options = options;
  }

  /** A graph came from the control plane. @param inForce block that is routed now */
  graphCame(block: string, inForce: string | undefined): void {
    this.#expected = block === inForce ? undefined : block;
    if (this.#expected !== undefined) this.stop();
  }

  /** A block is routed from now on. */
  routed(block: string): void {
    if (block !== this.#expected) return;
    this.#expected = undefined;
    this.#watch('a new route is in use', PROBATION_MS, (isHeard) => {
      if (isHeard) return;
      const { log, withdraw } = this.#options;
      log.warn({}, `the control plane was not heard since ${block} is routed: the route is withdrawn`);
      withdraw(block);
      this.withdrawn(block);
    });
  }

  /** A block is withdrawn, now or by an earlier run of this node. */
  withdrawn(block: string): void {
    this.#watch('a route was withdrawn', WITHOUT_MS, (isHeard) => {
      const { log, restore } = this.#options;
      if (isHeard) return;
      log.info({}, `the control plane is away without ${block} too: the block is routed again`);
      restore(block);
    });
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #watch(why: string, patienceMs: number, decide: (isHeard: boolean) => void): void {
    this.stop();
    const { clock, ask, heardAt } = this.#options;
    const since = clock.now();
    const look = () => {
      const isHeard = (heardAt() ?? 0) > since;
      if (!isHeard && clock.now() - since < patienceMs) return ask(why);
      this.stop();
      decide(isHeard);
    };
    this.#timer = setInterval(look, LOOK_MS);
    ask(why);
  }
}
