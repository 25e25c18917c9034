import type { Log } from '../../core/base/ports.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { type Blockage, textOf } from '../firewall/host/blockages.ts';
import type { HostRules } from '../firewall/host/host-rules.ts';

/** How old what is said of the host's rules may be: whoever loads them tells nobody. */
const MAX_AGE_MS = 5_000;
/** How often it is looked by itself. */
const LOOK_MS = 60_000;

export interface HostFirewallOptions {
  readonly rules: HostRules;
  readonly interfaceName: string;
  /** Rules of the host are to let the overlay in. */
  readonly isToOpen: boolean;
  readonly log: Log;
}

/** Whether the host's own firewall lets in what the network permits; opened where that was asked for, and closed at the end. */
export class HostFirewall {
  readonly #options: HostFirewallOptions;
  readonly #timer: NodeJS.Timeout;
  #blockages: readonly Blockage[] = [];
  #said = '';
  #graph: FullGraph | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  constructor(options: HostFirewallOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
  }

  /** What is permitted may be another. */
  use(graph: FullGraph): void {
    this.#graph = graph;
    void this.look();
  }

  /** As it is now, or was a moment ago. */
  async blockages(): Promise<readonly Blockage[]> {
    if (performance.now() - this.#lookedAt > MAX_AGE_MS) await this.look();
    return this.#blockages;
  }

  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error: unknown) =>
        this.#options.log.debug({ error: String(error) }, 'the rules of the host were not read'),
      )
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    if (this.#options.isToOpen) await this.#options.rules.close();
  }

  async #look(): Promise<void> {
    const { rules, isToOpen, interfaceName, log } = this.#options;
    if (!this.#graph) return;
    const { self, firewall } = this.#graph;
    let found = await rules.blockages(self, firewall.full);
    if (found.length > 0 && isToOpen) {
      const tool = await rules.open(found);
      log.info({ tool }, `the firewall of this host accepts ${interfaceName} from now on, as --open-firewall asks`);
      found = await rules.blockages(self, firewall.full);
    }
    this.#lookedAt = performance.now();
    this.#blockages = found;
    const said = found.map(textOf).join('; ');
    if (said !== '' && said !== this.#said) {
      log.warn(
        {},
        `the firewall of this host drops what the network permits: ${said}. mesh up --open-firewall opens it`,
      );
    }
    this.#said = said;
  }
}
