import type { Clock, Log } from '../../core/base/ports.ts';
import { parseInstant } from '../../core/base/time.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { generateKeyPair, type KeyPair, keyPairOf } from '../../net/seal/x25519.ts';
import { provenKey } from '../enrol/key-proof.ts';
import type { NodeConfig } from '../enrol/node-config.ts';
import { PlaneApi, PlaneRefusal } from '../enrol/plane-api.ts';
import type { GraphMessage } from '../graph-shape.ts';
import type { BusMessage } from './bus.ts';
import { type FetchOutcome, GraphFetches } from './graph-fetches.ts';
import type { GraphFile } from './graph-file.ts';
import { GraphKeeper } from './graph-keeper.ts';
import { ANSWER_MS, PlaneBus } from './plane-bus.ts';
import { Pulse } from './pulse.ts';

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
  /** The credential goes to a bus elsewhere without TLS too. */
  readonly busInClear?: boolean;
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
/** Heartbeats from one whole report to the next: a control plane that was restarted has forgotten them. */
const REPORT_ALL_EVERY = 20;
const GONE: Readonly<Record<string, Standing>> = {
  peer_pending: 'pending',
  forbidden: 'revoked',
  not_found: 'removed',
  expired: 'removed',
  unauthenticated: 'removed',
};

/** Keeps the graph of this node current: by the bus, and by HTTP where the bus does not answer. */
export class ControlLink {
  readonly #options: ControlOptions;
  readonly #api: PlaneApi;
  readonly #keeper: GraphKeeper;
  readonly #ending = new AbortController();
  readonly #bus: PlaneBus;
  readonly #fetches: GraphFetches;
  readonly #pulse: Pulse;
  #config: NodeConfig;
  #standing: Standing = 'unknown';
  #trouble = '';
  #heardAt: number | null = null;
  /** Runs while the bus was asked for a graph. */
  #askTimer: NodeJS.Timeout | undefined;
  #beats = 0;
  /** Revision that HTTP heartbeats named last. */
  #httpVersion: number | undefined;
  #renewRelayAt = Number.POSITIVE_INFINITY;

  constructor(options: ControlOptions) {
    const { config, clock, log } = options;
    this.#options = options;
    this.#config = config;
    this.#api = new PlaneApi(config.server, config.deviceToken, this.#ending.signal);
    this.#keeper = new GraphKeeper(options.file.read());
    this.#fetches = new GraphFetches((why) => this.#fetch(why), clock);
    this.#pulse = new Pulse(
      () => this.#beat(),
      () => this.#restMs,
      clock,
    );
    this.#bus = new PlaneBus(
      {
        config: () => this.#config,
        waitMs: options.busWaitMs,
        inClear: options.busInClear === true,
        log,
        ending: this.#ending.signal,
        locate: async () => (await this.#api.discovery()).signalingUrl,
        onMoved: (signalingUrl) => this.#save({ ...this.#config, signalingUrl }),
        onUp: () => {
          options.onBus(true);
          this.#pulse.soon(0);
        },
        onDown: () => {
          options.onBus(false);
          // A bus that ends the connection of this node alone has shut it out.
          this.#pulse.soon(0);
        },
        onPush: (message, isFresh) => this.#pushed(message, isFresh),
        onSignal: (message) => options.onSignal(message),
      },
      keyPairOf(Buffer.from(config.privateKey, 'base64')),
    );
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
      bus: { url: this.#config.signalingUrl, isUp: this.#bus.isUp, trouble: this.#bus.trouble },
      graph: held ? { version: held.version, epoch: held.epoch } : null,
    };
  }

  /** Asks the API once, and begins with the bus. Resolves when the first answer came or none will come soon. */
  async start(): Promise<void> {
    const { id, workspaceId } = this.#config;
    this.#options.log.debug({ workspace: workspaceId, peer: id }, 'this node');
    this.#bus.open();
    await this.#fetches.now('the start of this node');
    this.#pulse.soon();
  }

  /** Sends a sealed signal. */
  publish(subject: string, payload: Uint8Array): void {
    this.#bus.publish(subject, payload);
  }

  /** Fetches the graph again soon, because something speaks for a change. */
  check(why: string): void {
    void this.#fetches.confirm(why);
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
    const { id, controlKey } = this.#config;
    const { deviceToken } = await this.#api.rotateKey(provenKey(pair, id, controlKey));
    const { nextPrivateKey: _, ...config } = this.#config;
    this.#save({ ...config, privateKey, deviceToken });
    this.#api.useToken(deviceToken);
    this.#bus.rekey(pair);
    return pair;
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#ending.abort();
    this.#stopAsking();
    await Promise.all([this.#bus.close(), this.#pulse.stop(), this.#fetches.stop()]);
  }

  #save(config: NodeConfig): void {
    this.#options.saveConfig(config);
    this.#config = config;
  }

  #pushed(pushed: GraphMessage, isFresh: boolean): void {
    this.#heard();
    if (pushed.kind === 'gone') {
      if (isFresh) this.#stand('revoked', 'the control plane shut this node out');
      void this.#fetches.confirm('the control plane says that this node is shut out');
      return;
    }
    if (pushed.kind === 'fetch') {
      void this.#fetches.confirm('the graph is too large for the bus');
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
        void this.#fetches.confirm(taken.why);
        break;
      case 'ignore':
        this.#stopAsking();
        break;
      default:
        taken satisfies never;
    }
  }

  #use(graph: FullGraph): void {
    const { clock, file, log } = this.#options;
    this.#stopAsking();
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
    this.#pulse.soon();
  }

  #heard(): void {
    this.#heardAt = this.#options.clock.now();
    this.#trouble = '';
  }

  /** Asks over the bus; without an answer in time over HTTP. */
  #ask(why: string): void {
    if (this.#askTimer !== undefined || this.#ending.signal.aborted) return;
    this.#options.log.debug({ why }, 'asking for the whole graph');
    this.#bus.askForGraph();
    this.#askTimer = setTimeout(() => {
      this.#askTimer = undefined;
      void this.#fetches.now(why);
    }, ANSWER_MS);
  }

  #stopAsking(): void {
    clearTimeout(this.#askTimer);
    this.#askTimer = undefined;
  }

  /** The whole graph, over the API. */
  async #fetch(why: string): Promise<FetchOutcome> {
    this.#options.log.debug({ why }, 'fetching the graph over the API');
    try {
      const graph = await this.#api.graph();
      this.#heard();
      if (graph.self.id === this.#config.id) this.#use(this.#keeper.confirm(graph));
      return 'answered';
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** A call of the API failed: the control plane itself said that this node has no graph, or it is away. */
  #failed(error: unknown): FetchOutcome {
    if (this.#ending.signal.aborted) return 'away';
    const { message } = error as Error;
    const standing = error instanceof PlaneRefusal ? GONE[error.code] : undefined;
    if (standing !== undefined) {
      this.#fetches.reached();
      this.#heard();
      this.#stand(standing, message);
      return 'answered';
    }
    if (message !== this.#trouble) this.#options.log.warn({}, `${message}; what is up stays up, asking again`);
    this.#trouble = message;
    return 'away';
  }

  get #restMs(): number {
    return this.#standing === 'ready' || this.#standing === 'unknown' ? BEAT_MS : WAITING_BEAT_MS;
  }

  async #beat(): Promise<void> {
    // A node that waits to be let in hears nothing on the bus but the approval itself.
    if (this.#standing !== 'ready' && this.#standing !== 'unknown') return this.#fetches.now('waiting to be let in');
    if (this.#options.clock.now() >= this.#renewRelayAt)
      await this.#fetches.now('the credential of the relay is half used up');
    if (this.#bus.isUp && (await this.#beatByBus())) return;
    const report = this.#report(false);
    try {
      const { version } = await this.#api.heartbeat(report.content);
      report.taken();
      this.#heard();
      const isNew = this.#httpVersion !== undefined && this.#httpVersion !== version;
      this.#httpVersion = version;
      if (isNew || this.#keeper.held === undefined) await this.#fetches.now('the network has changed');
    } catch (error) {
      this.#failed(error);
    }
  }

  #report(all: boolean): { readonly content: object; taken(): void } {
    const isTurn = this.#beats++ % REPORT_ALL_EVERY === 0;
    return this.#options.report?.(all || isTurn) ?? { content: {}, taken: () => {} };
  }

  async #beatByBus(): Promise<boolean> {
    let report = this.#report(false);
    let proven = await this.#bus.beat(report.content);
    if (proven?.challenge !== undefined) {
      // It does not know this process yet, or is a new one itself: it is told everything.
      report = this.#report(true);
      proven = await this.#bus.beat({ ...report.content, echo: proven.challenge });
    }
    if (proven?.version === undefined) return false;
    report.taken();
    this.#heard();
    // It answers who is let in, nobody else.
    if (proven.version === this.#keeper.held?.version) this.#stand('ready', '');
    else this.#ask('the control plane sent another version last');
    return true;
  }
}
