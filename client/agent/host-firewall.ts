import type { Log } from '../../core/base/ports.ts';
import { formatInstant } from '../../core/base/time.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import type { HostRules } from '../firewall/host/host-rules.ts';
import { type Blockage, type Judgement, notJudgedText, textOf } from '../firewall/host/judgement.ts';
import type { HostFirewallStatus } from './node-status.ts';

/** How old what is said of the host's rules may be, should nobody have told of a change. */
const MAX_AGE_MS = 1_000;
/** How often it is looked by itself. */
const LOOK_MS = 60_000;
/** After a change of what is permitted or of the host's rules, since more changes follow it. */
const SOON_MS = 1_000;
/** Of the time that passes, what looks after changes take at most once they took as much of a minute: rules of some hosts change all the time. */
const SHARE = 1 / 50;
/** Behind a chain that is opened another may drop. */
const MOST_ROUNDS = 8;

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
  #found: Pick<HostFirewallStatus, 'blocked' | 'notJudged' | 'translated'> = {
    blocked: [],
    notJudged: [],
    translated: [],
  };
  #trouble = '';
  /** What dropped something when to open the host did not help. */
  #inVain = '';
  #said = '';
  #saidTranslated = '';
  #graph: FullGraph | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  /** When looks after changes will have taken no more than their share, by `performance.now`. */
  #evenAt = Number.NEGATIVE_INFINITY;
  /** Since the last look after a change began. */
  #isChanged = false;
  #isClosed = false;
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
      this.changed();
  }

  /** The rules of the host, or what is permitted, may be another. */
  changed(): void {
    this.#isChanged = true;
    const restMs = Math.max(SOON_MS, Math.min(this.#evenAt - LOOK_MS - performance.now(), LOOK_MS));
    if (!this.#isClosed && this.#graph) this.#soon ??= setTimeout(() => this.#lookAfterChange(), restMs);
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
    this.#inVain = '';
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
        this.#options.log.warn({ error: String(error) }, 'the rules of the host were not judged');
      });
    }
  }

  async #look(): Promise<void> {
    const { rules } = this.#options;
    if (!this.#graph) return;
    const { self, firewall } = this.#graph;
    if (!this.#isToOpen) await this.#change('closed', () => rules.close());
    const found = await rules.judge(self, firewall.full);
    const isOpening = this.#isToOpen && found.blockages.length > 0;
    if (this.#isToOpen && !isOpening) this.#trouble = '';
    const judgement = isOpening ? await this.#opened(found, () => rules.judge(self, firewall.full)) : found;
    const blocked = [];
    for (const blockage of judgement.blockages) blocked.push(described(blockage, await rules.ruleText(blockage)));
    const translated = [...(await rules.translations(self.cidr, 'while up'))];
    const notJudged = judgement.notJudged.map(({ what, why }) => ({ what: [...what], why }));
    this.#found = { blocked, notJudged, translated };
    this.#lookedAt = performance.now();
    this.#tell([...blocked.map(({ text }) => text), ...judgement.notJudged.map(notJudgedText)]);
    this.#tellTranslated(translated.join('; '));
  }

  /** Opens what drops something, and what drops it behind that; takes it back where that lets in no more than before. */
  async #opened(before: Judgement, judge: () => Promise<Judgement>): Promise<Judgement> {
    const { rules } = this.#options;
    if (keyOf(before) === this.#inVain) return before;
    this.#inVain = '';
    const wasOpened = rules.opened() !== undefined;
    let now = before;
    for (let round = 0; now.blockages.length > 0 && round < MOST_ROUNDS; round += 1) {
      let isChanged = false;
      await this.#change('opened', async () => {
        isChanged = await rules.open(now.blockages);
      });
      if (this.#trouble !== '') return judge();
      if (!isChanged) break;
      now = await judge();
    }
    if (now.blockages.length === 0) return now;
    const left = now.blockages.map((one) => textOf(one, '')).join('; ');
    const tool = rules.opened()?.tool;
    const isLess = before.blockages.some(({ what }) => what.some((one) => !isBlocked(now, one)));
    const isUseless = tool !== undefined && !wasOpened && !isLess;
    if (isUseless) {
      await this.#change('closed', () => rules.close());
      now = await judge();
      if (this.#trouble !== '') return now;
    }
    const by = isUseless ? `${tool} does not help and was taken back: ` : '';
    this.#trouble = `not ${isLess ? 'all ' : ''}opened: ${by}${left}. Change that rule itself`;
    this.#options.log.error({}, `the firewall of this host was ${this.#trouble}`);
    this.#inVain = keyOf(now);
    return now;
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

  #tellTranslated(found: string): void {
    if (found !== '' && found !== this.#saidTranslated)
      this.#options.log.warn({}, `this host translates addresses of the overlay into others: ${found}`);
    this.#saidTranslated = found;
  }

  #tell(found: readonly string[]): void {
    const said = found.join('; ');
    if (said !== '' && said !== this.#said) {
      const advice = this.#isToOpen ? '' : '. The option --open-firewall opens it';
      this.#options.log.warn({}, `the firewall of this host: ${said}${advice}`);
    }
    this.#said = said;
  }
}

/** What drops what, whatever the numbers of rules. */
function keyOf({ blockages }: Judgement): string {
  return blockages.map(({ table, chain, what }) => `${table} ${chain} ${what.join()}`).join('; ');
}

function isBlocked({ blockages }: Judgement, what: string): boolean {
  return blockages.some((one) => one.what.includes(what));
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
