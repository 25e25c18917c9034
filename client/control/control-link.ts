import { formatInstant, parseInstant } from '../../core/base/time.ts';
import type { DeltaGraph, FullGraph, GraphMessage } from '../../core/model/graph.ts';
import { newToken } from '../../core/model/token.ts';
import { generateKeyPair, type KeyPair, keyPairOf } from '../../net/seal/x25519.ts';
import { proofBy, provenKey } from '../enrol/key-proof.ts';
import type { NodeConfig } from '../enrol/node-config.ts';
import { PlaneApi, PlaneAway, PlaneRefusal } from '../enrol/plane-api.ts';
import { isWayOpen } from '../routes/way-open.ts';
import type { ControlOptions } from './control-options.ts';
import { type FetchOutcome, GraphFetches } from './graph-fetches.ts';
import { GraphKeeper } from './graph-keeper.ts';
import { type HeartbeatAnswer, Heartbeats, joined, versionReport } from './heartbeats.ts';
import { type LogStatus, LogWitness } from './log-witness.ts';
import { ANSWER_MS, PlaneBus } from './plane-bus.ts';
import { Pulse } from './pulse.ts';
import { RelayRenewal } from './relay-renewal.ts';
import {
  beatIntervalMs,
  type ControlStatus,
  isShutOut,
  KEY_SHARED,
  STANDING_BY_REFUSAL,
  type Standing,
} from './standing.ts';

/** Longest time for telling that this node goes. */
const LEAVE_MS = 2_000;
/** A control plane that takes longer to answer is asked again. */
const REACH_MS = 5_000;

/** Keeps the graph of this node current: by the bus, and by HTTP where the bus does not answer. */
export class ControlLink {
  readonly #options: ControlOptions;
  readonly #api: PlaneApi;
  readonly #keeper: GraphKeeper;
  readonly #ending = new AbortController();
  readonly #bus: PlaneBus;
  readonly #fetches: GraphFetches;
  readonly #heartbeats: Heartbeats;
  readonly #pulse: Pulse;
  readonly #witness: LogWitness;
  #config: NodeConfig;
  #standing: Standing = 'unknown';
  #trouble = '';
  #heardAt: number | null = null;
  /** Mark of the current graph, from the control plane. */
  #mark: string | undefined;
  /** Runs while the bus was asked for a graph. */
  #askTimer: NodeJS.Timeout | undefined;
  readonly #relayRenewal = new RelayRenewal();

  constructor(options: ControlOptions) {
    const { config, addresses, clock, log } = options;
    this.#options = options;
    this.#config = config;
    this.#api = new PlaneApi(config.server, config.deviceToken, this.#ending.signal, {
      ...(addresses && { lookup: addresses.lookup }),
    });
    this.#keeper = new GraphKeeper(options.file.read());
    this.#fetches = new GraphFetches((why) => this.#fetch(why), clock);
    this.#pulse = new Pulse(
      () => this.#beat(),
      () => this.#beatIntervalMs,
      clock,
    );
    this.#bus = new PlaneBus(
      {
        config: () => this.#config,
        waitMs: options.busWaitMs,
        inClear: options.busInClear === true,
        ...(addresses && { addresses }),
        log,
        ending: this.#ending.signal,
        locate: () => this.#api.busAccess(),
        onAccess: ({ signalingUrl, busJwt }) => {
          const { busJwt: _, ...config } = this.#config;
          this.#save({ ...config, signalingUrl, ...(busJwt !== undefined && { busJwt }) });
        },
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
    const { workspaceId, controlKey } = config;
    const api = this.#api;
    this.#witness = new LogWitness({ workspaceId, controlKey, file: options.logFile, api, clock, log });
    this.#heartbeats = new Heartbeats(this.#bus, this.#api, (all) =>
      joined([
        ...(options.report ? [options.report(all)] : []),
        this.#witness.report(all),
        versionReport(options.version, all),
      ]),
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
      isKeyShared: this.#heartbeats.isKeyShared,
      bus: { url: this.#config.signalingUrl, isUp: this.#bus.isUp, trouble: this.#bus.trouble },
      graph: held ? { version: held.version, epoch: held.epoch } : null,
    };
  }

  /** Where this node stands with the audit log. */
  get log(): LogStatus {
    return this.#witness.status;
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

  /** Writes down which block is on probation, and which one cut this node off from its control plane. */
  keepBlocks(change: { readonly [Name in 'probationBlock' | 'withdrawnBlock']?: string | undefined }): void {
    const { probationBlock, withdrawnBlock, ...config } = { ...this.#config, ...change };
    if (probationBlock === this.#config.probationBlock && withdrawnBlock === this.#config.withdrawnBlock) return;
    this.#save({
      ...config,
      ...(probationBlock !== undefined && { probationBlock }),
      ...(withdrawnBlock !== undefined && { withdrawnBlock }),
    });
  }

  /**
   * Asks the API over a new connection, whatever is connected already, while a block is routed.
   *
   * @returns true where it answered within a moment, or the way to it is open although it is away
   */
  async reaches(block: string): Promise<boolean> {
    const enough = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(REACH_MS)]);
    try {
      await new PlaneApi(this.#config.server, undefined, enough, { isAnew: true }).discovery();
    } catch (error) {
      if (error instanceof PlaneAway) return isWayOpen(error.tries, block);
      if (!(error instanceof PlaneRefusal)) return false;
    }
    if (this.#trouble !== '') void this.#fetches.now('the control plane answers again');
    return true;
  }

  /** This host has another network. */
  networkChanged(): void {
    this.#bus.networkChanged();
  }

  /** Fetches the graph again soon, because something speaks for a change. */
  check(why: string): void {
    void this.#fetches.confirm(why);
  }

  /**
   * Gives this node another key, while it runs. Key and token are on disk before the control plane knows them: where its
   * answer is lost, they are tried once the old ones have ended, and sent again otherwise.
   *
   * @throws PlaneRefusal or PlaneAway; the old key then stays in use
   */
  async rotateKey(): Promise<KeyPair> {
    const {
      id,
      controlKey,
      nextPrivateKey = privateKeyOf(generateKeyPair()),
      nextDeviceToken = newToken('dev'),
    } = this.#config;
    this.#save({ ...this.#config, nextPrivateKey, nextDeviceToken });
    const pair = keyPairOf(Buffer.from(nextPrivateKey, 'base64'));
    try {
      const proven = provenKey(pair, id, controlKey);
      const own = keyPairOf(Buffer.from(this.#config.privateKey, 'base64'));
      const oldKeyProof = proofBy(own, id, proven.publicKey, controlKey);
      const given = await this.#api.rotateKey({ ...proven, oldKeyProof, deviceToken: nextDeviceToken });
      return this.#takeNext(given) ?? pair;
    } catch (error) {
      if (!(error instanceof PlaneRefusal)) throw error;
      // It took them before, and its answer was lost.
      if (error.code === 'unauthenticated') {
        if ((await this.#askAsNext()) === 'taken') return this.#takeNext() ?? pair;
        throw error;
      }
      const { nextPrivateKey: _key, nextDeviceToken: _token, ...config } = this.#config;
      this.#save(config);
      throw error;
    }
  }

  /**
   * Tells whether the control plane knows this node by its next token, or by the one that came in use since the one that was refused.
   * Until it does, nothing of the present one is given up.
   */
  async #askAsNext(): Promise<'taken' | 'refused' | 'away'> {
    const { server, deviceToken, nextDeviceToken = deviceToken } = this.#config;
    try {
      await new PlaneApi(server, nextDeviceToken, this.#ending.signal).graph();
      return 'taken';
    } catch (error) {
      const code = error instanceof PlaneRefusal ? error.code : '';
      if (code === 'unauthenticated') return 'refused';
      return STANDING_BY_REFUSAL[code] === undefined ? 'away' : 'taken';
    }
  }

  /** The next key and token are in use from now on. @returns undefined where there are none */
  #takeNext(given?: { readonly deviceToken: string; readonly busJwt?: string }): KeyPair | undefined {
    const { nextPrivateKey: privateKey, nextDeviceToken, busJwt: _, ...config } = this.#config;
    const { deviceToken = nextDeviceToken, busJwt } = given ?? {};
    if (privateKey === undefined || deviceToken === undefined) return undefined;
    const jwt = busJwt !== undefined && { busJwt };
    this.#save({ ...config, ...jwt, privateKey, deviceToken, keySince: formatInstant(this.#options.clock.now()) });
    this.#api.useToken(deviceToken);
    const pair = keyPairOf(Buffer.from(privateKey, 'base64'));
    this.#bus.rekey(pair);
    this.#options.onKey?.(pair);
    return pair;
  }

  /** Tells that this node goes, and ends. Idempotent. */
  async stop(): Promise<void> {
    this.#stopAsking();
    // A later heartbeat would bring this node back; one under way may wait for longer than leaving may take.
    const beatsEnded = this.#pulse.stop();
    await this.#leave();
    this.#ending.abort();
    await Promise.all([this.#bus.close(), beatsEnded, this.#fetches.stop(), this.#witness.stop()]);
  }

  /** By the bus, and by the API where the bus does not answer. A control plane that is away keeps nobody from going. */
  async #leave(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    const { server, deviceToken } = this.#config;
    const enough = AbortSignal.timeout(LEAVE_MS);
    try {
      if (!(await this.#bus.leave())) await new PlaneApi(server, deviceToken, enough).heartbeat({ leaving: true });
    } catch (error) {
      this.#options.log.debug({ error: String(error) }, 'the control plane was not told that this node goes');
    }
  }

  #save(config: NodeConfig): void {
    this.#options.saveConfig(config);
    this.#config = config;
  }

  #pushed(pushed: GraphMessage, isFresh: boolean): void {
    this.#heard();
    switch (pushed.kind) {
      case 'gone':
        if (isFresh) this.#stand('revoked', 'the control plane shut this node out');
        void this.#fetches.confirm('the control plane says that this node is shut out');
        return;
      case 'fetch':
        void this.#fetches.confirm('the graph is too large for the bus');
        return;
      case 'full':
      case 'delta':
        this.#take(pushed, isFresh);
        return;
      default:
        pushed satisfies never;
    }
  }

  #take(pushed: FullGraph | DeltaGraph, isFresh: boolean): void {
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
    this.#mark = undefined;
    try {
      file.write(graph);
    } catch (error) {
      log.warn({ error: String(error) }, 'the graph was not kept on disk');
    }
    const { relay } = graph;
    this.#relayRenewal.took(relay === null ? undefined : parseInstant(relay.expiresAt) - clock.now());
    this.#stand('ready', '');
    this.#options.onGraph(graph);
    this.#witness.saw(graph.checkpoint);
  }

  #stand(standing: Standing, detail: string): void {
    if (this.#standing === standing) return;
    this.#standing = standing;
    if (isShutOut(standing)) this.#options.file.forget();
    this.#options.onStanding(standing, detail);
    // It is not here to the control plane until it says so: by the bus at once, without one over the API soon.
    const isWithoutBus = standing === 'ready' && !this.#bus.isUp;
    this.#pulse.soon(Math.min(this.#beatIntervalMs, isWithoutBus ? this.#options.busWaitMs : Number.POSITIVE_INFINITY));
  }

  get #beatIntervalMs(): number {
    return beatIntervalMs(this.#standing, this.#heartbeats.wire);
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
      return await this.#failed(error);
    }
  }

  /** A call of the API failed: the control plane itself said that this node has no graph, or it is away. */
  async #failed(error: unknown): Promise<FetchOutcome> {
    if (this.#ending.signal.aborted) return 'away';
    const { message } = error as Error;
    if (error instanceof PlaneRefusal && error.code === 'unauthenticated') {
      const asNext = await this.#askAsNext();
      if (asNext === 'taken') {
        if (this.#takeNext())
          this.#options.log.info({}, 'the control plane took the next key of this node, and its answer was lost');
        this.#pulse.soon(0);
      }
      if (asNext !== 'refused') return 'away';
    }
    const standing = error instanceof PlaneRefusal ? STANDING_BY_REFUSAL[error.code] : undefined;
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

  async #beat(): Promise<void> {
    // A node that waits to be let in hears nothing on the bus but the approval itself.
    if (isShutOut(this.#standing)) return this.#fetches.now('waiting to be let in');
    void this.#bus.renew(this.#options.clock.now());
    if (this.#relayRenewal.isDue) await this.#fetches.now('the credential of the relay is half used up');
    try {
      const wasShared = this.#heartbeats.isKeyShared;
      const answer = await this.#heartbeats.beat(this.#mark);
      this.#heard();
      if (this.#heartbeats.isKeyShared && !wasShared) this.#options.log.warn({}, KEY_SHARED);
      await this.#answered(answer);
    } catch (error) {
      await this.#failed(error);
    }
  }

  async #answered(answer: HeartbeatAnswer): Promise<void> {
    const { held } = this.#keeper;
    this.#options.log.debug({ by: answer.by, held: held?.version }, 'a heartbeat was answered');
    this.#witness.saw(answer.checkpoint);
    if (answer.by === 'http') {
      if (answer.hasChanged || held === undefined) await this.#fetches.now('the network has changed');
      return;
    }
    // On the bus it answers who is let in, nobody else.
    const isCurrent = answer.version === held?.version;
    this.#mark = isCurrent ? answer.mark : undefined;
    if (isCurrent) this.#stand('ready', '');
    else this.#ask('the control plane sent another version last');
  }
}

function privateKeyOf(pair: KeyPair): string {
  return Buffer.from(pair.privateKey).toString('base64');
}
