import type { Log } from '../../core/base/ports.ts';
import { formatInstant } from '../../core/base/time.ts';
import { type ClosedChain, closedText, type Judgement } from '../firewall/host/closed-chains.ts';
import type { HostRules } from '../firewall/host/host-rules.ts';
import type { HostFirewallStatus } from './node-status.ts';

/** Age at which a status is looked up anew, should nobody have told of a change. */
const MAX_AGE_MS = 1_000;
/** Interval of looks without a change. */
const LOOK_MS = 60_000;
/** Delay after a change of the host's rules, since more changes follow it. */
const SOON_MS = 1_000;
/** Share of the time for looks after changes, once they took as much of a minute: rules of some hosts change all the time. */
const SHARE = 1 / 50;

export interface HostFirewallOptions {
  readonly rules: HostRules;
  readonly interfaceName: string;
  /** Block of the overlay. */
  readonly cidr: string;
  /** Rules of the host are to let the overlay in. */
  readonly isToOpen: boolean;
  readonly log: Log;
}

/** Tells whether the host's own firewall is closed to the overlay; opens it where that was asked for, and closes it at the end. */
export class HostFirewall {
  readonly #options: HostFirewallOptions;
  readonly #timer: NodeJS.Timeout;
  #cidr: string;
  #soon: NodeJS.Timeout | undefined;
  #isToOpen: boolean;
  #seen: Pick<HostFirewallStatus, 'blocked' | 'notJudged' | 'translated'> = {
    blocked: [],
    notJudged: [],
    translated: [],
  };
  #trouble = '';
  #logged = '';
  #loggedTranslations = '';
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  /** When looks after changes will have taken no more than their share, by `performance.now`. */
  #evenAt = Number.NEGATIVE_INFINITY;
  /** Since the last look after a change began. */
  #isChanged = false;
  #isClosed = false;
  /** Something changed since the look in progress began. */
  #isStale = false;

  /** Begins the first look, so that no status is given before one. */
  constructor(options: HostFirewallOptions) {
    this.#options = options;
    this.#cidr = options.cidr;
    this.#isToOpen = options.isToOpen;
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
    void this.look();
  }

  /** Takes over the block of a newer graph. */
  use(cidr: string): void {
    if (cidr === this.#cidr) return;
    this.#cidr = cidr;
    this.changed();
  }

  /** Looks soon, because the rules of the host may have changed. */
  changed(): void {
    this.#isChanged = true;
    const restMs = Math.max(SOON_MS, Math.min(this.#evenAt - LOOK_MS - performance.now(), LOOK_MS));
    if (!this.#isClosed) this.#soon ??= setTimeout(() => this.#lookAfterChange(), restMs);
  }

  /** Returns the state of now, or of a moment ago. */
  async status(): Promise<HostFirewallStatus> {
    if (performance.now() - this.#lookedAt > MAX_AGE_MS) await (this.#looking ?? this.look());
    const ageMs = performance.now() - this.#lookedAt;
    const lookedAt = Number.isFinite(ageMs) ? formatInstant(Date.now() - ageMs) : null;
    const opened = this.#options.rules.opened()?.tool ?? null;
    return { ...this.#seen, opened, openTrouble: this.#trouble, lookedAt };
  }

  /** Has the host accept the overlay from now on. @returns the state after that */
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
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    this.#isToOpen = false;
    await this.#looking;
    await this.#options.rules.close();
  }

  async #lookAfterChange(): Promise<void> {
    const from = performance.now();
    this.#isChanged = false;
    await this.look();
    const now = performance.now();
    this.#evenAt = Math.min(Math.max(now, this.#evenAt) + (now - from) / SHARE, now + 2 * LOOK_MS);
    this.#soon = undefined;
    if (this.#isChanged) this.changed();
  }

  async #lookUntilFresh(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      await this.#look().catch((error: unknown) => {
        this.#options.log.warn({ error: String(error) }, 'the rules of the host were not read');
      });
    }
  }

  async #look(): Promise<void> {
    const { rules, interfaceName } = this.#options;
    if (!this.#isToOpen) await this.#change('closed', () => rules.close());
    const { closed, unread } = this.#isToOpen ? await this.#opened() : await rules.judge();
    const blocked = closed.map((chain) => described(chain, interfaceName));
    const translated = [...(await rules.translations(this.#cidr, 'while up'))];
    this.#seen = { blocked, notJudged: unread.map((why) => ({ what: ['all'], why })), translated };
    this.#lookedAt = performance.now();
    this.#logRules([...blocked.map(({ text }) => text), ...unread.map((why) => `not judged: ${why}`)].join('; '));
    this.#logTranslations(translated.join('; '));
  }

  /** Opens the closed chains of the host's manager. @returns the judgement after that */
  async #opened(): Promise<Judgement> {
    const { rules, log } = this.#options;
    const before = await rules.judge();
    const troubleBefore = this.#trouble;
    let isChanged = false;
    await this.#change('opened', async () => {
      isChanged = await rules.open(before);
    });
    const after = isChanged ? await rules.judge() : before;
    if (this.#trouble !== '' || after.closed.length === 0) return after;
    const left = after.closed.map(({ table, chain }) => `${table} ${chain}`).join(', ');
    this.#trouble = `not ${rules.opened() ? 'all ' : ''}opened: ${left} lets in no more. Run the command that is named for it, or change its rules`;
    if (this.#trouble !== troubleBefore) log.error({}, `the firewall of this host was ${this.#trouble}`);
    return after;
  }

  /** Opens the host, or reverts the opening of this agent or an earlier one; a failure is kept as trouble. */
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

  #logTranslations(translations: string): void {
    if (translations !== '' && translations !== this.#loggedTranslations)
      this.#options.log.warn({}, `this host translates addresses of the overlay into others: ${translations}`);
    this.#loggedTranslations = translations;
  }

  #logRules(text: string): void {
    const advice = this.#isToOpen ? '' : '. The option --open-firewall opens it while the node is up';
    if (text !== '' && text !== this.#logged) this.#options.log.warn({}, `the firewall of this host: ${text}${advice}`);
    this.#logged = text;
  }
}

function described(chain: ClosedChain, interfaceName: string): HostFirewallStatus['blocked'][number] {
  const { table, chain: name, rule } = chain;
  return { table, chain: name, rule, what: ['all'], text: closedText(chain, interfaceName) };
}
