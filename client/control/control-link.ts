import { z } from 'zod';
import { busSecretOf } from '../../core/network/device-token.ts';
import type { FullGraph } from '../../core/network/graph.ts';
import type { Clock, Log } from '../../core/ports.ts';
import { parseInstant } from '../../core/time.ts';
import { generateKeyPair, type KeyPair, keyPairOf } from '../../net/seal/x25519.ts';
import type { NodeConfig } from '../enrol/node-config.ts';
import { PlaneApi, PlaneRefusal } from '../enrol/plane-api.ts';
import { type Bus, type BusMessage, openBus } from './bus.ts';
import type { GraphFile } from './graph-file.ts';
import { GraphKeeper } from './graph-keeper.ts';
import { ControlSeals } from './seals.ts';

/** Where this node stands with the control plane. */
export type Standing =
  /** Nothing heard yet in this process. */
  | 'unknown'
  /** An administrator has to approve it. */
  | 'pending'
  | 'ready'
  /** Shut out; it may be let in again. */
  | 'revoked'
  /** Deleted or expired: it has to register again. */
  | 'removed';

export interface ControlStatus {
  readonly standing: Standing;
  readonly server: string;
  /** Milliseconds since the epoch; null before the first answer. */
  readonly heardAt: number | null;
  /** Empty while the API answers. */
  readonly trouble: string;
  readonly bus: { readonly url: string; readonly isUp: boolean; readonly trouble: string };
  readonly graph: { readonly version: number; readonly epoch: string } | null;
}

export interface ControlOptions {
  readonly config: NodeConfig;
  readonly file: Pick<GraphFile, 'read' | 'write'>;
  readonly busWaitMs: number;
  readonly clock: Clock;
  readonly log: Log;
  saveConfig(config: NodeConfig): void;
  onGraph(graph: FullGraph): void;
  onStanding(standing: Standing, detail: string): void;
  /** What arrived on this node's own signal subject, still sealed. */
  onSignal(message: BusMessage): void;
  onBus(isUp: boolean): void;
  /** What else a heartbeat says: what changed, or `all` of it; `taken` once it arrived. */
  report?(all: boolean): { readonly content: object; taken(): void };
}

const BEAT_MS = 30_000;
const WAITING_BEAT_MS = 10_000;
const ANSWER_MS = 5_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;
/** Pushes that ask to be confirmed do not make the node ask more often. */
const CONFIRM_MS = 1_000;
/** Heartbeats from one whole report to the next: a control plane that was restarted has forgotten them. */
const REPORT_ALL_EVERY = 20;
const GONE: Readonly<Record<string, Standing>> = {
  peer_pending: 'pending',
  forbidden: 'revoked',
  not_found: 'removed',
  expired: 'removed',
  unauthenticated: 'removed',
};

const replySchema = z.object({ challenge: z.string().max(64).optional(), version: z.int().nullable().optional() });

/** Keeps the graph of this node current: by the bus, and by HTTP where the bus does not answer. */
export class ControlLink {
  readonly #options: ControlOptions;
  readonly #api: PlaneApi;
  readonly #keeper: GraphKeeper;
  readonly #ending = new AbortController();
  #config: NodeConfig;
  #seals: ControlSeals;
  #bus: Bus | undefined;
  #standing: Standing = 'unknown';
  #trouble = '';
  #heardAt: number | null = null;
  #beatTimer: NodeJS.Timeout | undefined;
  #beatAt = Number.POSITIVE_INFINITY;
  /** What was asked for while a heartbeat was under way. */
  #nextBeatMs = Number.POSITIVE_INFINITY;
  #askTimer: NodeJS.Timeout | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  #beats = 0;
  #fetching: Promise<void> | undefined;
  #retryMs = FIRST_RETRY_MS;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  /** Revision that HTTP heartbeats named last. */
  #httpVersion: number | undefined;
  #renewRelayAt = Number.POSITIVE_INFINITY;

  constructor(options: ControlOptions) {
    const { config } = options;
    this.#options = options;
    this.#config = config;
    this.#api = new PlaneApi(config.server, config.deviceToken, this.#ending.signal);
    this.#keeper = new GraphKeeper(options.file.read());
    this.#seals = this.#sealsOf(keyPairOf(Buffer.from(config.privateKey, 'base64')));
  }

  /** The graph held, from disk at first. */
  get graph(): FullGraph | undefined {
    return this.#keeper.held;
  }

  get status(): ControlStatus {
    const { held } = this.#keeper;
    return {
      standing: this.#standing,
      server: this.#config.server,
      heardAt: this.#heardAt,
      trouble: this.#trouble,
      bus: {
        url: this.#config.signalingUrl,
        isUp: this.#bus?.isUp === true,
        trouble: this.#bus?.trouble ?? 'not asked yet',
      },
      graph: held ? { version: held.version, epoch: held.epoch } : null,
    };
  }

  /** Asks the API once, and begins with the bus. Resolves when the first answer came or none will come soon. */
  async start(): Promise<void> {
    const { id, workspaceId } = this.#config;
    this.#options.log.debug({ workspace: workspaceId, peer: id }, 'this node');
    this.#bus = this.#openBus();
    await this.#fetch('the start of this node');
    this.#beatSoon(this.#beatMs());
  }

  #openBus(): Bus {
    const { log, busWaitMs } = this.#options;
    const { id, signalingUrl } = this.#config;
    return openBus({
      url: signalingUrl,
      credential: () => busSecretOf(this.#config.deviceToken),
      inboxPrefix: `_INBOX.${id}`,
      waitMs: busWaitMs,
      subjects: [this.#subject('graph'), this.#subject('signal')],
      log,
      onMessage: (message) => this.#receive(message),
      onUp: () => {
        this.#options.onBus(true);
        this.#beatSoon(0);
      },
      onTrouble: () => void this.#followBus(),
      onDown: () => {
        this.#options.onBus(false);
        // A bus that ends the connection of this node alone has shut it out.
        this.#beatSoon(0);
      },
    });
  }

  /** The bus may have moved: the API knows where it is. */
  async #followBus(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    try {
      const { signalingUrl } = await this.#api.discovery();
      if (signalingUrl === this.#config.signalingUrl || this.#ending.signal.aborted) return;
      this.#options.log.info({}, `the bus is at ${signalingUrl} now`);
      this.#save({ ...this.#config, signalingUrl });
      const before = this.#bus;
      this.#bus = this.#openBus();
      await before?.close();
    } catch (error) {
      this.#options.log.debug({ error: String(error) }, 'it was not found out where the bus is');
    }
  }

  /** Sends a sealed signal. */
  publish(subject: string, payload: Uint8Array): void {
    this.#bus?.publish(subject, payload);
  }

  /** Fetches the graph again soon, because something speaks for a change. */
  check(why: string): void {
    void this.#confirm(why);
  }

  /**
   * Gives this node another key, while it runs. The new key is on disk before the control plane knows it.
   *
   * @throws PlaneRefusal or PlaneAway; the old key then stays in use
   */
  async rotateKey(): Promise<KeyPair> {
    const pair = generateKeyPair();
    const privateKey = Buffer.from(pair.privateKey).toString('base64');
    this.#save({ ...this.#config, nextPrivateKey: privateKey });
    const { deviceToken } = await this.#api.rotateKey(Buffer.from(pair.publicKey).toString('base64'));
    const { nextPrivateKey: _, ...config } = this.#config;
    this.#save({ ...config, privateKey, deviceToken });
    this.#api.useToken(deviceToken);
    this.#seals = this.#sealsOf(pair);
    return pair;
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#ending.abort();
    for (const timer of [this.#beatTimer, this.#askTimer, this.#retryTimer]) clearTimeout(timer);
    await Promise.all([this.#bus?.close(), this.#beating, this.#fetching]);
  }

  #sealsOf(pair: KeyPair): ControlSeals {
    return new ControlSeals(pair, Uint8Array.from(Buffer.from(this.#config.controlKey, 'base64')));
  }

  #save(config: NodeConfig): void {
    this.#options.saveConfig(config);
    this.#config = config;
  }

  #subject(what: 'graph' | 'signal'): string {
    return `mesh.${this.#config.workspaceId}.${this.#config.id}.${what}`;
  }

  #controlSubject(what: 'heartbeat' | 'graph'): string {
    return `mesh.control.${this.#config.workspaceId}.${this.#config.id}.${what}`;
  }

  #receive(message: BusMessage): void {
    if (message.subject === this.#subject('signal')) {
      this.#options.onSignal(message);
      return;
    }
    const opened = this.#seals.openGraph(message);
    if (!opened) {
      this.#options.log.debug({}, 'a message on the graph subject was not from the control plane');
      return;
    }
    this.#heard();
    const { message: pushed, isFresh } = opened;
    if (pushed.kind === 'gone') {
      if (isFresh) this.#stand('revoked', 'the control plane shut this node out');
      void this.#confirm('the control plane says that this node is shut out');
      return;
    }
    if (pushed.kind === 'fetch') {
      void this.#confirm('the graph is too large for the bus');
      return;
    }
    const taken = this.#keeper.take(pushed, isFresh);
    this.#options.log.debug(
      { kind: pushed.kind, version: pushed.version, reason: pushed.reason, taken: taken.do },
      'a graph was pushed',
    );
    switch (taken.do) {
      case 'use':
        this.#use(taken.graph);
        break;
      case 'ask':
        this.#ask(taken.why);
        break;
      case 'confirm':
        void this.#confirm(taken.why);
        break;
      case 'ignore':
        clearTimeout(this.#askTimer);
        this.#askTimer = undefined;
        break;
      default:
        taken satisfies never;
    }
  }

  #use(graph: FullGraph): void {
    const { clock, file, log } = this.#options;
    clearTimeout(this.#askTimer);
    this.#askTimer = undefined;
    try {
      file.write(graph);
    } catch (error) {
      log.warn({ error: String(error) }, 'the graph was not kept on disk');
    }
    const now = clock.now();
    const life = graph.relay === null ? Number.POSITIVE_INFINITY : parseInstant(graph.relay.expiresAt) - now;
    this.#renewRelayAt = now + Math.max(life / 2, 60_000);
    this.#stand('ready', '');
    this.#options.onGraph(graph);
  }

  #stand(standing: Standing, detail: string): void {
    if (this.#standing === standing) return;
    this.#standing = standing;
    this.#options.onStanding(standing, detail);
    this.#beatSoon(this.#beatMs());
  }

  #heard(): void {
    this.#heardAt = this.#options.clock.now();
    this.#trouble = '';
  }

  /** Asks over the bus; without an answer in time over HTTP. */
  #ask(why: string): void {
    if (this.#askTimer !== undefined || this.#ending.signal.aborted) return;
    this.#options.log.debug({ why }, 'asking for the whole graph');
    const subject = this.#controlSubject('graph');
    this.#bus?.publish(subject, this.#seals.request(subject, {}));
    this.#askTimer = setTimeout(() => {
      this.#askTimer = undefined;
      void this.#fetch(why);
    }, ANSWER_MS);
  }

  async #confirm(why: string): Promise<void> {
    // An answer that is on its way may be of before.
    await this.#fetching;
    if (this.#retryTimer !== undefined || this.#ending.signal.aborted) return;
    const wait = this.#fetchedAt + CONFIRM_MS - this.#options.clock.now();
    if (wait <= 0 || wait > CONFIRM_MS) return this.#fetch(why);
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      void this.#fetch(why);
    }, wait);
  }

  #fetch(why: string): Promise<void> {
    this.#fetching ??= this.#fetchOnce(why).finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetchOnce(why: string): Promise<void> {
    if (this.#ending.signal.aborted) return;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#fetchedAt = this.#options.clock.now();
    this.#options.log.debug({ why }, 'fetching the graph over the API');
    try {
      const graph = await this.#api.graph();
      this.#retryMs = FIRST_RETRY_MS;
      this.#heard();
      if (graph.self.id === this.#config.id) this.#use(this.#keeper.confirm(graph));
    } catch (error) {
      if (this.#ending.signal.aborted) return;
      if (this.#isNo(error)) return;
      this.#away(error);
      this.#retryTimer = setTimeout(
        () => {
          this.#retryTimer = undefined;
          void this.#fetch(why);
        },
        this.#retryMs * (0.5 + Math.random()),
      );
      this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    }
  }

  /** Whether the control plane itself said that this node has no graph. */
  #isNo(error: unknown): boolean {
    const standing = error instanceof PlaneRefusal ? GONE[error.code] : undefined;
    if (standing === undefined) return false;
    this.#retryMs = FIRST_RETRY_MS;
    this.#heard();
    this.#stand(standing, (error as PlaneRefusal).message);
    return true;
  }

  #away(error: unknown): void {
    const trouble = (error as Error).message;
    if (trouble !== this.#trouble) this.#options.log.warn({}, `${trouble}; what is up stays up, asking again`);
    this.#trouble = trouble;
  }

  #beatMs(): number {
    return this.#standing === 'ready' || this.#standing === 'unknown' ? BEAT_MS : WAITING_BEAT_MS;
  }

  /** A heartbeat after that time at the latest: one that is due earlier stays. */
  #beatSoon(ms: number): void {
    if (this.#ending.signal.aborted) return;
    if (this.#beating !== undefined) {
      this.#nextBeatMs = Math.min(this.#nextBeatMs, ms);
      return;
    }
    const at = this.#options.clock.now() + ms;
    if (this.#beatTimer !== undefined && this.#beatAt <= at) return;
    clearTimeout(this.#beatTimer);
    this.#beatAt = at;
    this.#beatTimer = setTimeout(() => {
      this.#beatTimer = undefined;
      this.#nextBeatMs = Number.POSITIVE_INFINITY;
      this.#beating = this.#beat().finally(() => {
        this.#beating = undefined;
        this.#beatSoon(Math.min(this.#nextBeatMs, this.#beatMs()));
      });
    }, ms);
  }

  async #beat(): Promise<void> {
    // A node that waits to be let in hears nothing on the bus but the approval itself.
    if (this.#standing !== 'ready' && this.#standing !== 'unknown') return this.#fetch('waiting to be let in');
    if (this.#options.clock.now() >= this.#renewRelayAt)
      await this.#fetch('the credential of the relay is half used up');
    if (this.#bus?.isUp && (await this.#beatByBus())) return;
    const report = this.#report(false);
    try {
      const { version } = await this.#api.heartbeat(report.content);
      report.taken();
      this.#heard();
      const isNew = this.#httpVersion !== undefined && this.#httpVersion !== version;
      this.#httpVersion = version;
      if (isNew || this.#keeper.held === undefined) await this.#fetch('the network has changed');
    } catch (error) {
      if (!this.#ending.signal.aborted && !this.#isNo(error)) this.#away(error);
    }
  }

  #report(all: boolean): { readonly content: object; taken(): void } {
    const isTurn = this.#beats++ % REPORT_ALL_EVERY === 0;
    return this.#options.report?.(all || isTurn) ?? { content: {}, taken: () => {} };
  }

  async #beatByBus(): Promise<boolean> {
    let report = this.#report(false);
    let proven = await this.#askByBus(report.content);
    if (proven?.challenge !== undefined) {
      // It does not know this process yet, or is a new one itself: it is told everything.
      report = this.#report(true);
      proven = await this.#askByBus({ ...report.content, echo: proven.challenge });
    }
    if (proven?.version === undefined) return false;
    report.taken();
    this.#heard();
    if (proven.version !== this.#keeper.held?.version) this.#ask('the control plane sent another version last');
    return true;
  }

  async #askByBus(content: object) {
    const subject = this.#controlSubject('heartbeat');
    try {
      const answer = await this.#bus?.request(subject, this.#seals.request(subject, content), ANSWER_MS);
      return answer && replySchema.safeParse(this.#seals.openReply(answer)).data;
    } catch (error) {
      this.#options.log.debug({ error: String(error) }, 'no answer to a heartbeat on the bus');
      return undefined;
    }
  }
}
