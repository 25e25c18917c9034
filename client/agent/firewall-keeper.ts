import type { Log } from '../../core/base/ports.ts';
import type { Firewall } from '../firewall/firewall.ts';
import type { Watch } from '../firewall/watch.ts';

/** How often it is looked whether something removed the firewall, should nobody have told. Its lease lasts for many of these. */
const MAINTAIN_MS = 5_000;

/**
 * Rules that something removes again and again are put back so many times at once, and then so often, while a guard denies
 * what comes in: to load them takes a whole processor.
 */
const AT_ONCE = 5;
const EVERY_MS = 500;

export interface FirewallKeeperOptions {
  readonly firewall: Firewall;
  readonly interfaceName: string;
  readonly log: Log;
  /** Something had removed the rules. */
  onRestored(): void;
  /** Rules of the host's own are others, or may be; often. */
  onHostChanged(): void;
}

/** Renews the firewall of an overlay that is up, and puts back what something removed as soon as it is told of. */
export class FirewallKeeper {
  /** Why it could not; empty where it could. */
  trouble = '';
  readonly #options: FirewallKeeperOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #watch: Watch;
  #isBusy = false;
  /** Something was removed since the last look began. */
  #isSuspicious = false;
  /** Until when the restores so far count. */
  #restoredUntil = 0;
  #isStopped = false;
  #resume: (() => void) | undefined;

  constructor(options: FirewallKeeperOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#maintain(), MAINTAIN_MS);
    const onRemoved = () => {
      this.#isSuspicious = true;
      void this.#maintain();
    };
    this.#watch = options.firewall.watch(onRemoved, () => options.onHostChanged());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#resume?.();
    await this.#watch.close();
  }

  async #maintain(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    do {
      const look = this.#isSuspicious ? 'closely' : undefined;
      this.#isSuspicious = false;
      const wasGone = await this.#look(look);
      if (wasGone) await this.#rest();
    } while (this.#isSuspicious && !this.#isStopped);
    this.#isBusy = false;
  }

  async #rest(): Promise<void> {
    const now = performance.now();
    // Restores without a wait, since nothing would have denied meanwhile, are not waited for later.
    this.#restoredUntil = Math.min(Math.max(now, this.#restoredUntil), now + AT_ONCE * EVERY_MS) + EVERY_MS;
    const ms = this.#restoredUntil - now - AT_ONCE * EVERY_MS;
    if (ms <= 0 || this.#isStopped || !this.#options.firewall.isGuarded()) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** @returns whether it had to put them back */
  async #look(look: 'closely' | undefined): Promise<boolean> {
    const { firewall, interfaceName, log, onRestored } = this.#options;
    try {
      const wasGone = await firewall.maintain(look);
      this.trouble = '';
      if (!wasGone) return false;
      log.warn({}, 'something removed the firewall of the overlay; it is back in force');
      onRestored();
      return true;
    } catch (error) {
      const reason = (error as Error).message;
      this.trouble = `the firewall could not be renewed (${reason}); if that goes on, ${interfaceName} lets nothing through`;
      log.error({ error: String(error) }, 'the firewall of the overlay could not be checked');
      return false;
    }
  }
}
