import { z } from 'zod';
import { newId } from '../core/base/ids.ts';
import { parseJson } from '../core/base/json-text.ts';
import { isFenced, type Leader, SOLE_LEADER, servicesUnder } from '../core/base/leader.ts';
import { formatInstant } from '../core/base/time.ts';
import { lookUpById } from '../core/model/find.ts';
import { pathReportsSchema } from '../core/model/reported-paths.ts';
import type { PeerRecord } from '../core/model/resources.ts';
import { versionSchema } from '../core/model/version.ts';
import { MAX_WIRE_TEXT, UNREADABLE_WIRE, WIRE_TEXT, wireMismatch } from '../core/model/wire.ts';
import { witnessedSchema } from '../core/model/witnesses.ts';
import { applyNodeReport } from '../core/peers/apply-node-report.ts';
import { recordDeparture, recordHeartbeat, recordSharedKey } from '../core/peers/presence.ts';
import { dueCheckpoint, recordWitness } from '../core/peers/witness-reports.ts';
import type { Services } from '../core/workflow/services.ts';
import type { Bus } from '../net/bus/port.ts';
import type { Delivery } from '../net/nats/commands.ts';
import { isLiteralSubject } from '../net/nats/subject.ts';
import { readHeader } from '../net/seal/format.ts';
import { Opener, type SealRefusal } from '../net/seal/opener.ts';
import { SharedChallenges } from '../net/seal/shared-challenges.ts';
import { keyPairOf } from '../net/seal/x25519.ts';
import { SourceLimit } from '../net/stun/rate.ts';
import type { GraphPush } from './graph-push.ts';

/**
 * The requests of nodes to the control plane over the bus, sealed to the control key with kind `request`:
 *
 *     mesh.control.<workspace>.<peer>.heartbeat   {"wire"?, "paths"?, "witnessed"?, "version"?, "mark"?, "leaving"?}
 *                                                 answered by {"wire", "version", "at", "mark"?, "checkpoint"?}
 *     mesh.control.<workspace>.<peer>.graph       {"wire"?}   answered by a full graph on mesh.<workspace>.<peer>.graph
 *
 * In a heartbeat, `version` is the version of the node's software. In the answer, it is that of the graph last pushed to the
 * node; if the node has another one, or the answer has null, the node requests its graph. While the node has that version, its
 * heartbeats repeat the `mark` of the answer, by which the next leader knows which graph the node has.
 *
 * A request of a process not met before may be a recording. The control plane answers with {"challenge"}, and the node repeats
 * the request with {"echo": <that challenge>}. With `superseded` beside it, this process was met before, and another process of
 * the same key since: two machines use the key. Answers go to the reply subject, sealed with kind `reply`. `wire` lists the
 * versions of the wire that each side speaks; the API tells a node that has none in common.
 *
 * Each control plane hears all requests, and the leader of the workspace answers. It may hear a node before it has heard of
 * the node's registration at another control plane.
 */
const SUBJECT = /^mesh\.control\.([\w-]{1,64})\.([\w-]{1,64})\.(heartbeat|graph)$/;
/**
 * Served requests of one peer. Only what its present process sealed counts, so that neither forgeries nor recordings use it
 * up; those the bus holds to the rate of whoever sends them.
 */
const SERVED = { perSecond: 2, burst: 10 };
/**
 * Requests of whom this control plane does not know, for which the store is asked, as anybody can send one: of a workspace,
 * of which one answer tells of all newcomers, so that strangers there keep nobody waiting; and of all together.
 */
const LOOKED_UP = { perSecond: 20, burst: 100 };
const LOOKED_UP_IN_ALL = { perSecond: 200, burst: 1_000 };
/** Requests under way, and how many of them may be from connections that have proven nothing. */
const MAX_WAITING = 2_000;
const MAX_UNPROVEN_WAITING = 1_000;

type IgnoreReason = SealRefusal | 'subject' | 'unknown-peer' | 'unproven' | 'rate' | 'busy' | 'wire';
type RequestServices = Pick<
  Services,
  'store' | 'states' | 'liveness' | 'paths' | 'witnesses' | 'clock' | 'log' | 'keys'
>;

export class ControlRequests {
  readonly served = { heartbeat: 0, graph: 0 };
  readonly ignored: Partial<Record<IgnoreReason, number>> = {};
  readonly #services: RequestServices;
  readonly #push: GraphPush;
  readonly #opener: Opener;
  readonly #challenges: SharedChallenges;
  readonly #leading: Leader;
  readonly #bus: Pick<Bus, 'identify'>;
  readonly #limit = new SourceLimit(SERVED.perSecond, SERVED.burst);
  readonly #lookUps = new SourceLimit(LOOKED_UP.perSecond, LOOKED_UP.burst);
  readonly #allLookUps = new SourceLimit(LOOKED_UP_IN_ALL.perSecond, LOOKED_UP_IN_ALL.burst);
  readonly #unsubscribe: () => void;
  #workspaces: Promise<ReadonlySet<string>> | undefined;
  readonly #waiting = new Set<Promise<void>>();

  /** @param leading whose nodes are answered here; all are heard. */
  constructor(
    services: RequestServices,
    bus: Pick<Bus, 'subscribe' | 'identify'>,
    push: GraphPush,
    leading: Leader = SOLE_LEADER,
  ) {
    this.#leading = leading;
    this.#services = services;
    this.#bus = bus;
    this.#push = push;
    const privateKey = Uint8Array.from(Buffer.from(services.keys.controlPrivateKey.reveal(), 'base64'));
    this.#challenges = new SharedChallenges(privateKey);
    // Whose key may speak for a peer is looked at before a message comes here.
    this.#opener = new Opener(keyPairOf(privateKey), () => true);
    const ends = [
      bus.subscribe('mesh.control.>', (delivery) => this.#receive(delivery)),
      services.store.onCommit(({ revision, changes }) => {
        if (revision === 1 || changes.some(({ record }) => record.kind === 'Workspace')) this.#workspaces = undefined;
      }),
    ];
    this.#unsubscribe = () => {
      for (const end of ends) end();
    };
  }

  /** Resolves once what has come by now is served. */
  async settled(): Promise<void> {
    await Promise.all(this.#waiting);
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.settled();
  }

  #receive(delivery: Delivery): void {
    if (this.#waiting.size >= (delivery.from === undefined ? MAX_UNPROVEN_WAITING : MAX_WAITING)) {
      this.#ignore('busy');
      return;
    }
    const handled = this.#handle(delivery)
      .catch((error: unknown) => {
        // The next leader hears the node too.
        if (!isFenced(error)) this.#services.log.error({ error: String(error) }, 'a request of a node failed');
      })
      .finally(() => this.#waiting.delete(handled));
    this.#waiting.add(handled);
  }

  async #handle(delivery: Delivery): Promise<void> {
    const { subject, reply, payload } = delivery;
    const [, workspace, peerId, kind] = SUBJECT.exec(subject) ?? [];
    if (workspace === undefined || peerId === undefined) return this.#ignore('subject');
    const header = readHeader(payload);
    if (header === undefined) return this.#ignore('malformed');
    const peer = await this.#sender(workspace, peerId, Buffer.from(header.sender).toString('base64'));
    if (typeof peer === 'string') return this.#ignore(peer);
    const { clock } = this.#services;
    const opened = this.#opener.open('request', subject, payload);
    if (!opened.ok) return this.#ignore(opened.reason);
    const answerTo = reply !== undefined && isLiteralSubject(reply) ? reply : undefined;
    const leads = this.#leading.leads(workspace);
    const answer = (content: object) =>
      leads && answerTo !== undefined && this.#push.reply(opened.from, answerTo, { wire: WIRE_TEXT, ...content });
    const content = contentOf(opened.plaintext);
    if (opened.epoch === 'unproven') {
      const { echo } = content;
      if (echo === undefined || !this.#challenges.answer(opened.from, echo, clock.now())) {
        const challenge = this.#challenges.ask(opened.from, clock.now());
        const superseded = opened.isSuperseded && { superseded: true };
        answer({ challenge: Buffer.from(challenge).toString('base64url'), ...superseded });
        return this.#ignore('unproven');
      }
      this.#opener.prove(opened);
    }
    if (delivery.from === undefined) this.#bus.identify(delivery, peerId);
    if (!this.#limit.take(peerId, clock.now())) return this.#ignore('rate');
    const mismatch = wireMismatch('node', content.wire);
    if (mismatch !== undefined) {
      this.#services.liveness.mismatched(workspace, peerId, mismatch);
      return this.#ignore('wire');
    }
    const services = leads ? servicesUnder(this.#leading, this.#services, workspace) : this.#services;
    // A recording of an earlier process cannot answer the challenge: this one runs, and so does the one that took its place.
    if (opened.isSuperseded) await recordSharedKey(services, workspace, peer, leads);
    if (!leads) return this.#hear(workspace, peerId, kind, content);
    if (kind === 'graph') {
      this.served.graph += 1;
      this.#push.request(workspace, peerId);
      return;
    }
    this.served.heartbeat += 1;
    const commit = { actor: `device:${peer.name}`, requestId: newId('ev') };
    if (content.leaving) {
      await recordDeparture(services, workspace, peerId, commit);
      return void answer({ version: null, at: formatInstant(clock.now()) });
    }
    await recordHeartbeat(services, workspace, peerId, commit, content);
    services.paths.report(workspace, peerId, content.paths ?? []);
    if (content.witnessed) await recordWitness(services, workspace, peer, content.witnessed);
    if (content.mark !== undefined) await this.#push.adopt(workspace, peer, content.mark);
    const checkpoint = await dueCheckpoint(services, workspace, peerId);
    const version = this.#push.versionOf(workspace, peerId) ?? null;
    const mark = this.#push.markOf(workspace, peerId);
    answer({ version, at: formatInstant(clock.now()), ...(mark && { mark }), ...(checkpoint && { checkpoint }) });
  }

  /**
   * Learns from a heartbeat to the leader of the workspace: the next leader knows it then, and so do the answers of this plane.
   */
  #hear(workspace: string, peerId: string, kind: string | undefined, content: Content): void {
    if (kind !== 'heartbeat' || content.leaving) return;
    applyNodeReport(this.#services, workspace, peerId, content, this.#services.clock.now());
  }

  /** The peer whose key this is. Whoever is refused may have been let in by another control plane a moment ago. */
  async #sender(workspace: string, peerId: string, key: string): Promise<PeerRecord | 'unknown-peer' | 'stranger'> {
    const { store } = this.#services;
    const known = admitted(await this.#peer(workspace, peerId), key);
    const isFinal = typeof known !== 'string' || !this.#leading.leads(workspace);
    if (isFinal || !(await this.#mayLookUp(workspace))) return known;
    await store.caughtUp([workspace]);
    return admitted(await this.#peer(workspace, peerId), key);
  }

  /** Workspaces that are not known, which may be new or invented, have one share together. */
  async #mayLookUp(workspace: string): Promise<boolean> {
    const share = (await this.#isWorkspace(workspace)) ? workspace : '';
    const now = this.#services.clock.now();
    return this.#lookUps.take(share, now) && this.#allLookUps.take('', now);
  }

  async #isWorkspace(workspace: string): Promise<boolean> {
    this.#workspaces ??= this.#readWorkspaces();
    return (await this.#workspaces).has(workspace);
  }

  /** Invented workspaces are told apart first: they must not push the state of real ones out of memory. */
  async #peer(workspace: string, peerId: string): Promise<PeerRecord | undefined> {
    if (!(await this.#isWorkspace(workspace))) return undefined;
    return lookUpById((await this.#services.states.current(workspace)).peers, peerId);
  }

  /** A store that does not answer is asked again by the next request. */
  #readWorkspaces(): Promise<ReadonlySet<string>> {
    const reading = this.#services.store.workspaces().then((all) => new Set(all));
    reading.catch(() => {
      if (this.#workspaces === reading) this.#workspaces = undefined;
    });
    return reading;
  }

  #ignore(reason: IgnoreReason): void {
    this.ignored[reason] = (this.ignored[reason] ?? 0) + 1;
  }
}

function admitted(peer: PeerRecord | undefined, key: string): PeerRecord | 'unknown-peer' | 'stranger' {
  if (peer?.status.phase !== 'ready') return 'unknown-peer';
  return peer.spec.publicKey === key ? peer : 'stranger';
}

const contentSchema = z.object({
  echo: z.base64url().max(64).optional().catch(undefined),
  paths: pathReportsSchema.optional().catch(undefined),
  witnessed: witnessedSchema.optional().catch(undefined),
  version: versionSchema.optional().catch(undefined),
  leaving: z.literal(true).optional().catch(undefined),
  mark: z.string().max(64).optional().catch(undefined),
  // An unreadable value counts as a version that the two do not share.
  wire: z.string().max(MAX_WIRE_TEXT).optional().catch(UNREADABLE_WIRE),
});

type Content = ReturnType<typeof contentOf>;

/** Parses the content of a request; a malformed one counts as empty. */
function contentOf(plaintext: Uint8Array) {
  const { echo, ...said } = contentSchema.catch({}).parse(parsed(plaintext));
  return { ...said, echo: echo === undefined ? undefined : Uint8Array.from(Buffer.from(echo, 'base64url')) };
}

function parsed(json: Uint8Array): unknown {
  try {
    return parseJson(Buffer.from(json).toString());
  } catch {
    return undefined;
  }
}
