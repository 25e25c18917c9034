import type { Log } from '../../core/base/ports.ts';
import { formatInstant } from '../../core/base/time.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { type Blockage, notJudgedText, textOf } from '../firewall/host/blockages.ts';
import type { HostRules } from '../firewall/host/host-rules.ts';
import type { HostFirewallStatus } from './node-status.ts';

/** How old what is said of the host's rules may be: whoever loads them tells nobody. */
const MAX_AGE_MS = 1_000;
/** How often it is looked by itself. */
const LOOK_MS = 60_000;
/** After a change of what is permitted: a network that changes often is not looked at as often. */
const SOON_MS = 1_000;

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
  #soon: NodeJS.Timeout | undefined;
  #isToOpen: boolean;
  #found: Pick<HostFirewallStatus, 'blocked' | 'notJudged'> = { blocked: [], notJudged: [] };
  #trouble = '';
  #said = '';
  #graph: FullGraph | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  /** Something changed since the look that goes on began. */
  #isStale = false;

  constructor(options: HostFirewallOptions) {
    this.#options = options;
    this.#isToOpen = options.isToOpen;
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
  }

  /** What is permitted may be another. */
  use(graph: FullGraph): void {
    const before = this.#graph;
    this.#graph = graph;
    if (!before) void this.look();
    else if (before.firewall.digest !== graph.firewall.digest || before.self.address !== graph.self.address)
      this.#soon ??= setTimeout(() => {
        this.#soon = undefined;
        void this.look();
      }, SOON_MS);
  }

  /** As it is now, or was a moment ago. */
  async status(): Promise<HostFirewallStatus> {
    if (performance.now() - this.#lookedAt > MAX_AGE_MS) await (this.#looking ?? this.look());
    const ageMs = performance.now() - this.#lookedAt;
    const lookedAt = Number.isFinite(ageMs) ? formatInstant(Date.now() - ageMs) : null;
    const opened = this.#options.rules.opened()?.tool ?? null;
    return { ...this.#found, opened, openTrouble: this.#trouble, lookedAt };
  }

  /** Has the host accept the overlay from now on. @returns how it is then */
  async open(): Promise<HostFirewallStatus> {
    this.#isToOpen = true;
    await this.look();
    return this.status();
  }

  /** Resolves once a look that began after this call is over. */
  look(): Promise<void> {
    this.#isStale = true;
    this.#looking ??= this.#lookUntilFresh().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    this.#isToOpen = false;
    await this.#looking;
    await this.#options.rules.close();
  }

  async #lookUntilFresh(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      await this.#look().catch((error: unknown) => {
        this.#options.log.warn({ error: String(error) }, 'the rules of the host were not judged');
      });
    }
  }

  async #look(): Promise<void> {
    const { rules } = this.#options;
    if (!this.#graph) return;
    const { self, firewall } = this.#graph;
    if (!this.#isToOpen) await this.#change('closed', () => rules.close());
    let judgement = await rules.judge(self, firewall.full);
    if (judgement.blockages.length > 0 && this.#isToOpen) {
      await this.#change('opened', () => rules.open(judgement.blockages));
      judgement = await rules.judge(self, firewall.full);
    } else if (this.#isToOpen) this.#trouble = '';
    const blocked = [];
    for (const blockage of judgement.blockages) blocked.push(described(blockage, await rules.ruleText(blockage)));
    this.#found = { blocked, notJudged: judgement.notJudged.map(({ what, why }) => ({ what: [...what], why })) };
    this.#lookedAt = performance.now();
    this.#tell([...blocked.map(({ text }) => text), ...judgement.notJudged.map(notJudgedText)]);
  }

  /** Opens it where it drops something, or closes what an earlier agent opened that was asked to. */
  async #change(done: 'opened' | 'closed', change: () => Promise<void>): Promise<void> {
    const { rules, log, interfaceName } = this.#options;
    const before = rules.opened();
    try {
      await change();
      this.#trouble = '';
      const tool = rules.opened()?.tool ?? before?.tool;
      if (done === 'opened' && !before && tool)
        log.info({ tool }, `the firewall of this host accepts ${interfaceName} from now on, as --open-firewall asks`);
      if (done === 'closed' && before)
        log.info({ tool }, `the firewall of this host accepts ${before.interfaceName} no longer`);
    } catch (error) {
      const trouble = `not ${done}: ${(error as Error).message}`;
      if (trouble !== this.#trouble) log.error({}, `the firewall of this host was ${trouble}`);
      this.#trouble = trouble;
    }
  }

  #tell(found: readonly string[]): void {
    const said = found.join('; ');
    if (said !== '' && said !== this.#said) {
      this.#options.log.warn({}, `the firewall of this host: ${said}. The option --open-firewall opens it`);
    }
    this.#said = said;
  }
}

function described(blockage: Blockage, text: string): HostFirewallStatus['blocked'][number] {
  const { table, chain, handle, what } = blockage;
  return {
    table,
    chain,
    rule: handle === null ? null : { handle, text },
    what: [...what],
    text: textOf(blockage, text),
  };
}
