import type { Log } from '../../core/base/ports.ts';
import type { Firewall } from '../firewall/firewall.ts';
import type { Watch } from '../firewall/watch.ts';

/** How often it is looked whether something removed the firewall, should nobody have told. Its lease lasts for many of these. */
const MAINTAIN_MS = 5_000;

export interface FirewallKeeperOptions {
  readonly firewall: Firewall;
  readonly interfaceName: string;
  readonly log: Log;
  /** Something had removed the rules. */
  onRestored(): void;
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

  constructor(options: FirewallKeeperOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#maintain(), MAINTAIN_MS);
    this.#watch = options.firewall.watch(() => {
      this.#isSuspicious = true;
      void this.#maintain();
    });
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#watch.close();
  }

  async #maintain(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    do {
      const look = this.#isSuspicious ? 'closely' : undefined;
      this.#isSuspicious = false;
      await this.#look(look);
    } while (this.#isSuspicious);
    this.#isBusy = false;
  }

  async #look(look: 'closely' | undefined): Promise<void> {
    const { firewall, interfaceName, log, onRestored } = this.#options;
    try {
      const wasGone = await firewall.maintain(look);
      this.trouble = '';
      if (!wasGone) return;
      log.warn({}, 'something removed the firewall of the overlay; it is back in force');
      onRestored();
    } catch (error) {
      const reason = (error as Error).message;
      this.trouble = `the firewall could not be renewed (${reason}); if that goes on, ${interfaceName} lets nothing through`;
      log.error({ error: String(error) }, 'the firewall of the overlay could not be checked');
    }
  }
}
