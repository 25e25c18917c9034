import type { Log } from '../../core/base/ports.ts';
import type { Firewall } from '../firewall/firewall.ts';

/** How often it is looked whether something removed the firewall. Its lease lasts for many of these. */
const MAINTAIN_MS = 5_000;

export interface FirewallKeeperOptions {
  readonly firewall: Firewall;
  readonly interfaceName: string;
  readonly log: Log;
  /** Something had removed the rules. */
  onRestored(): void;
}

/** Renews the firewall of an overlay that is up, and puts back what something removed. */
export class FirewallKeeper {
  /** Why it could not; empty where it could. */
  trouble = '';
  readonly #options: FirewallKeeperOptions;
  readonly #timer: NodeJS.Timeout;

  constructor(options: FirewallKeeperOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#maintain(), MAINTAIN_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #maintain(): Promise<void> {
    const { firewall, interfaceName, log, onRestored } = this.#options;
    try {
      const wasGone = await firewall.maintain();
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
