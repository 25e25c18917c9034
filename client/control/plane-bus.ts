import type { Log } from '../../core/base/ports.ts';
import { type Infer, ifIs, integer, nullable, object, shapeOf, text } from '../../core/base/shape.ts';
import { busSecretOf } from '../../core/identity/device-token.ts';
import type { GraphMessage } from '../../core/model/graph.ts';
import { commonWire, MAX_WIRE_TEXT, WIRE_TEXT } from '../../core/model/wire.ts';
import { readJwt } from '../../net/bus/jwt.ts';
import { nodeKeyOf } from '../../net/bus/node-key.ts';
import { agree, importPrivateKey, type KeyPair } from '../../net/seal/x25519.ts';
import type { NodeConfig } from '../enrol/node-config.ts';
import type { BusAccess } from '../enrol/plane-api.ts';
import type { Addresses } from '../lookup.ts';
import { type Bus, type BusMessage, type BusSignIn, openBus } from './bus.ts';
import { ControlSeals } from './seals.ts';

export interface PlaneBusOptions {
  /** As it is now. */
  readonly config: () => NodeConfig;
  readonly waitMs: number;
  /** The credential goes to a bus elsewhere without TLS too. */
  readonly inClear: boolean;
  /** Finds the bus; left out: by DNS alone. */
  readonly addresses?: Addresses;
  readonly log: Log;
  readonly ending: AbortSignal;
  /** Where the API says that the bus is, and what to sign in with. */
  readonly locate: () => Promise<BusAccess>;
  /** It is elsewhere, or something else to sign in with: to be kept in the configuration before this returns. */
  onAccess(access: BusAccess): void;
  onUp(): void;
  onDown(): void;
  /** The control plane sent this; `isFresh`: its present process, so that it is no recording. */
  onPush(message: GraphMessage, isFresh: boolean): void;
  /** Takes a message from this node's own signal subject, still sealed. */
  onSignal(message: BusMessage): void;
}

/** The control plane answers on the bus within this, or it does not hear this node there. */
export const ANSWER_MS = 5_000;

/** Longest wait of a node that goes: the API is there too. */
const LEAVE_MS = 500;

/** Between two attempts to renew what this node signs in with, at least. */
const RENEW_PAUSE_MS = 60_000;

const truth = shapeOf({ kind: 'any' }, (value) => value === true);
const replyShape = object(
  {},
  {
    challenge: text(64),
    superseded: truth,
    version: nullable(integer()),
    checkpoint: text(4_096),
    mark: text(64),
    wire: text(MAX_WIRE_TEXT),
  },
);

/** The control plane over the bus: what it is told is sealed to it, and what it did not seal is not taken for its word. */
export class PlaneBus {
  readonly #options: PlaneBusOptions;
  #seals: ControlSeals;
  #bus: Bus | undefined;
  #renewNotBefore = 0;

  constructor(options: PlaneBusOptions, pair: KeyPair) {
    this.#options = options;
    this.#seals = this.#sealsOf(pair);
  }

  get isUp(): boolean {
    return this.#bus?.isUp === true;
  }

  /** Why it is not up; empty while it is. */
  get trouble(): string {
    return this.#bus?.trouble ?? 'not asked yet';
  }

  open(): void {
    this.#bus = this.#connect();
  }

  /** This node has another key. */
  rekey(pair: KeyPair): void {
    this.#seals = this.#sealsOf(pair);
  }

  /** Sends a sealed signal. */
  publish(subject: string, payload: Uint8Array): void {
    this.#bus?.publish(subject, payload);
  }

  /** Asks for the whole graph; it comes as a push. */
  askForGraph(): void {
    const subject = this.#controlSubject('graph');
    this.#bus?.publish(subject, this.#seals.request(subject, { wire: WIRE_TEXT }));
  }

  /** @returns undefined without an answer of the control plane in time */
  async beat(content: object, waitMs = ANSWER_MS): Promise<Infer<typeof replyShape> | undefined> {
    const subject = this.#controlSubject('heartbeat');
    try {
      const request = this.#seals.request(subject, { ...content, wire: WIRE_TEXT });
      const answer = await this.#bus?.request(subject, request, waitMs);
      const reply = answer && ifIs(replyShape, this.#seals.openReply(answer));
      // The API tells what is to be upgraded.
      return reply && commonWire(reply.wire) !== undefined ? reply : undefined;
    } catch (error) {
      this.#options.log.debug({ error: String(error) }, 'no answer to a heartbeat on the bus');
      return undefined;
    }
  }

  /** Tells that this node goes. @returns whether the control plane took it, within a moment */
  async leave(): Promise<boolean> {
    return this.isUp && (await this.beat({ leaving: true }, LEAVE_MS))?.version !== undefined;
  }

  networkChanged(): void {
    this.#bus?.networkChanged();
  }

  async close(): Promise<void> {
    await this.#bus?.close();
  }

  #connect(): Bus {
    const { config, waitMs, inClear, addresses, log, onUp, onDown } = this.#options;
    const { id, signalingUrl } = config();
    return openBus({
      url: signalingUrl,
      signIn: () => this.#signIn(),
      inClear,
      ...(addresses && { addresses }),
      inboxPrefix: `_INBOX.${id}`,
      waitMs,
      subjects: [this.#ownSubject('graph'), this.#ownSubject('signal')],
      log,
      onMessage: (message) => this.#receive(message),
      onUp,
      onDown,
      onTrouble: () => void this.#follow(),
    });
  }

  /** The bus may have moved: the API knows where it is. */
  async #follow(): Promise<void> {
    const { config, log, ending, locate, onAccess } = this.#options;
    if (ending.aborted) return;
    try {
      const access = await locate();
      if (ending.aborted) return;
      const { signalingUrl, busJwt } = config();
      // Each one that is given is another one: it is read at the next connect.
      if (access.signalingUrl !== signalingUrl || access.busJwt !== busJwt) onAccess(access);
      if (access.signalingUrl === signalingUrl) return;
      log.info({}, `the bus is at ${access.signalingUrl} now`);
      const before = this.#bus;
      this.#bus = this.#connect();
      await before?.close();
    } catch (error) {
      log.debug({ error: String(error) }, 'it was not found out where the bus is');
    }
  }

  /** Renews the bus credential in its second half, before the servers end the connection. */
  async renew(now: number): Promise<void> {
    const held = readJwt(this.#options.config().busJwt ?? '');
    if (held?.exp === undefined || now < Math.max(((held.iat + held.exp) / 2) * 1_000, this.#renewNotBefore)) return;
    // A node that ends soon gets no credential that lasts longer.
    this.#renewNotBefore = now + Math.max(RENEW_PAUSE_MS, (held.exp * 1_000 - now) / 2);
    await this.#follow();
  }

  #signIn(): BusSignIn {
    const { deviceToken, busJwt, privateKey, controlKey, id } = this.#options.config();
    const secret = busSecretOf(deviceToken);
    const own = importPrivateKey(Buffer.from(privateKey, 'base64'));
    const shared = busJwt === undefined ? undefined : agree(own, Buffer.from(controlKey, 'base64'));
    return busJwt === undefined || !shared ? { secret } : { secret, jwt: busJwt, key: nodeKeyOf(shared, id) };
  }

  #receive(message: BusMessage): void {
    if (message.subject === this.#ownSubject('signal')) {
      this.#options.onSignal(message);
      return;
    }
    const opened = this.#seals.openGraph(message);
    if (opened) this.#options.onPush(opened.message, opened.isFresh);
    else this.#options.log.debug({}, 'a message on the graph subject was not from the control plane');
  }

  #ownSubject(what: 'graph' | 'signal'): string {
    const { workspaceId, id } = this.#options.config();
    return `mesh.${workspaceId}.${id}.${what}`;
  }

  #controlSubject(what: 'heartbeat' | 'graph'): string {
    const { workspaceId, id } = this.#options.config();
    return `mesh.control.${workspaceId}.${id}.${what}`;
  }

  #sealsOf(pair: KeyPair): ControlSeals {
    return new ControlSeals(pair, Uint8Array.from(Buffer.from(this.#options.config().controlKey, 'base64')));
  }
}
