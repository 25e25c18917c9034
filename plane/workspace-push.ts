import { lazily } from '../core/base/lazily.ts';
import { futureViews, graphInstantOf } from '../core/graph/future-views.ts';
import { deltaFor, type GraphSettings, graphFor, type SentGraph } from '../core/graph/graph-for.ts';
import { prepareInSlices } from '../core/graph/prepare-rows.ts';
import { ViewDeltas } from '../core/graph/view-delta.ts';
import { type GraphViews, viewsOf } from '../core/graph/views.ts';
import { lookUpById } from '../core/model/find.ts';
import type { DeltaGraph, FullGraph } from '../core/model/graph.ts';
import { RecordMap } from '../core/model/record-map.ts';
import type { PeerRecord } from '../core/model/resources.ts';
import { slugOf } from '../core/model/workspaces.ts';
import { newestCheckpoint } from '../core/peers/witness-reports.ts';
import { decidingState, type NetworkState } from '../core/state/state.ts';
import type { Services } from '../core/workflow/services.ts';
import { affectedBy, type StateSnapshot } from './affected-peers.ts';
import { CAP_MS, Coalescer } from './coalescer.ts';
import type { VersionToken } from './version-tokens.ts';

export type PushServices = Pick<
  Services,
  'states' | 'store' | 'liveness' | 'clock' | 'log' | 'nodeAccess' | 'settings' | 'nextTurn'
>;

export type Graph = FullGraph | DeltaGraph;

/** Time for which nodes are served before other work of the process gets its turn, ms. */
const SLICE_MS = 8;
const RETRY_MS = 1_000;
const REQUESTED = 'requested';

interface SentVersion {
  readonly version: number;
  readonly publicKey: string;
  /** It has what was changed up to this revision. */
  readonly revision: number;
}

/** The pushes of one workspace. One flush at a time, so that versions reach each node in their order. */
export class WorkspacePush {
  readonly #workspace: string;
  readonly #services: PushServices;
  readonly #send: (peer: PeerRecord, graph: Graph) => void;
  readonly #coalescer = new Coalescer();
  readonly #sent = new Map<string, SentVersion>();
  #wanted = new Set<string>();
  /** The state that the sent graphs were made from; a node that was not affected since has the same graph still. */
  #base: StateSnapshot | undefined;
  /** The newest of the audit log. It goes along with what is sent anyway: that it is another one is no reason to send. */
  #checkpoint: string | null = null;
  #slug: string | undefined;
  /** The revision before the first change heard of. */
  #from: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #isStopped = false;
  #endPause = () => {};

  constructor(workspace: string, services: PushServices, send: (peer: PeerRecord, graph: Graph) => void) {
    this.#workspace = workspace;
    this.#services = services;
    this.#send = send;
  }

  changed(revision: number, reason: string): void {
    this.#from ??= revision - 1;
    this.#coalescer.add(reason, this.#services.clock.now());
    this.#schedule();
  }

  request(peerUid: string): void {
    this.#wanted.add(peerUid);
    this.#schedule();
  }

  versionOf(peerUid: string): number | undefined {
    return this.#sent.get(peerUid)?.version;
  }

  /**
   * Returns the version of a node's graph, with its revision; undefined if it was sent nothing, or while changes are on their
   * way.
   */
  markOf(peerUid: string): VersionToken | undefined {
    return this.#isSettled ? this.#sent.get(peerUid) : undefined;
  }

  /**
   * Goes on from what a node was sent by another process, where that is what it would be sent now: it has all up to the
   * revision of the mark, and from there up to `told`, to which all was told here, nothing concerned nodes.
   */
  adopt({ uid, spec }: PeerRecord, mark: VersionToken, told: number): void {
    if (this.#sent.has(uid) || !this.#isSettled || (this.#base?.state.revision ?? 0) > told) return;
    // The first graphs that differ do so from there on.
    this.#from ??= told;
    this.#sent.set(uid, { ...mark, publicKey: spec.publicKey });
  }

  get #isSettled(): boolean {
    return this.#flushing === undefined && this.#coalescer.dueAt === undefined && this.#wanted.size === 0;
  }

  forget(): void {
    this.#sent.clear();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#endPause();
    await this.#flushing;
  }

  #schedule(delay = this.#delay()): void {
    // The timer of a flush is the pause after it.
    if (this.#isStopped || this.#flushing !== undefined || delay === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#run(), delay);
  }

  /**
   * Returns the delay of the next flush, ms; undefined without one. A node that asks while changes gather is served along with
   * them: a storm of joins would else end the gathering at each.
   */
  #delay(): number | undefined {
    const { dueAt } = this.#coalescer;
    if (dueAt !== undefined) return Math.max(0, dueAt - this.#services.clock.now());
    return this.#wanted.size > 0 ? 0 : undefined;
  }

  #run(): void {
    let retryMs: number | undefined;
    const { clock } = this.#services;
    const begun = clock.now();
    this.#flushing = this.#flush()
      .catch((error: unknown) => {
        // It is unknown now which nodes were served: each gets the whole graph next time.
        this.#sent.clear();
        this.#coalescer.add('the control plane tries again', this.#services.clock.now());
        retryMs = RETRY_MS;
        this.#services.log.error({ workspace: this.#workspace, error: String(error) }, 'graphs were not pushed');
      })
      // Changes that come while graphs are made gather for as long again, so that a storm leaves others half of the processor.
      .then(() => this.#pause(Math.min(clock.now() - begun, CAP_MS)))
      .finally(() => {
        this.#flushing = undefined;
        this.#schedule(retryMs ?? this.#delay());
      });
  }

  #pause(ms: number): Promise<void> {
    if (this.#isStopped || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#timer = setTimeout(resolve, ms);
      this.#endPause = resolve;
    });
  }

  async #flush(): Promise<void> {
    const { states, clock } = this.#services;
    // Before anything is awaited: what is heard of meanwhile may not be in the state, and has to go out with the next flush.
    const reason = this.#coalescer.take() ?? REQUESTED;
    const wanted = this.#wanted;
    this.#wanted = new Set();
    const state = await states.current(this.#workspace);
    const now = clock.now();
    const after = stateSnapshotOf(state, now);
    const before = this.#base ?? stateSnapshotOf(await this.#firstBase(state.revision), now);
    this.#forgetGone(before, after);
    const told = this.#told(before, after);
    const reachability = lazily(() => states.reachability(state, after.at));
    if (told.size > 0 || wanted.size > 0) {
      this.#checkpoint = await newestCheckpoint(this.#services, this.#workspace);
      this.#slug ??= await slugOf(this.#services, this.#workspace);
      await prepareInSlices(this.#services, reachability(), () =>
        futureViews(states, state, after.at).map((ahead) => ahead.reachability),
      );
    }
    const receivers = new Set(
      [...affectedBy(states, before, after, told)].flatMap((name) => state.peers.get(name) ?? []),
    );
    for (const uid of wanted) {
      this.#sent.delete(uid);
      const peer = lookUpById(state.peers, uid);
      if (peer) receivers.add(peer);
    }
    const deltas = lazily(() => new ViewDeltas(this.#viewsOf(before), this.#viewsOf(after)));
    let turnEnds = clock.now() + SLICE_MS;
    for (const peer of receivers) {
      if (peer.status.phase !== 'ready' || peer.status.address === null) continue;
      if (!wanted.has(peer.uid) && !this.#listens(peer, before, after)) {
        this.#sent.delete(peer.uid);
        continue;
      }
      this.#serve(peer, wanted.has(peer.uid) ? REQUESTED : reason, before.state, state, deltas());
      if (clock.now() < turnEnds) continue;
      await this.#services.nextTurn();
      if (this.#isStopped) return;
      turnEnds = clock.now() + SLICE_MS;
    }
    this.#base = { ...after, state: decidingState(state) };
  }

  /** Names of the peers that are told when their graph differs, or of which it is to be forgotten what they were told. */
  #told(before: StateSnapshot, after: StateSnapshot): Set<string> {
    const isTold = (peer: PeerRecord) => this.#sent.has(peer.uid) || this.#listens(peer, before, after);
    return new Set([...after.state.peers.values()].filter(isTold).map(({ name }) => name));
  }

  /**
   * True if a graph is worth making: for a node that sent a heartbeat lately, or was admitted only now. Another node learns
   * from the answer to its next heartbeat that it was sent nothing, and asks. An online peer unknown here is connected to
   * another control plane; this one may have been told of its admission after its heartbeat.
   */
  #listens({ name, uid }: PeerRecord, before: StateSnapshot, { state }: StateSnapshot): boolean {
    const { liveness, clock } = this.#services;
    if (liveness.mismatch(this.#workspace, uid) !== undefined) return false;
    const heard = liveness.lastSeen(this.#workspace, uid);
    const isHere =
      heard === undefined
        ? state.presence.get(name)?.spec.online
        : clock.now() - heard < liveness.onlineMs(this.#workspace, uid);
    if (isHere) return true;
    const was = before.state.peers.get(name) ?? lookUpById(before.state.peers, uid);
    return was?.uid !== uid || was.status.phase !== 'ready';
  }

  async #firstBase(newest: number) {
    const { states } = this.#services;
    const from = this.#from;
    if (from === undefined || from >= newest) return states.current(this.#workspace);
    return states.asOf(this.#workspace, { revision: from });
  }

  #serve(peer: PeerRecord, reason: string, before: NetworkState, after: NetworkState, deltas: ViewDeltas): void {
    const { publicKey } = peer.spec;
    const settings = this.#settingsOf(peer, reason);
    const told = this.#lastTold(peer, before);
    const graph = told ? deltaFor(told, after, deltas, peer, settings) : graphFor(after, deltas.after, peer, settings);
    if (graph === undefined) return;
    this.#sent.set(peer.uid, { version: graph.version, publicKey, revision: after.revision });
    this.#send(peer, graph);
  }

  /** Returns the graph last sent to a node: the contents are those of the base, the version is the one it was sent with. */
  #lastTold({ name, uid, spec }: PeerRecord, state: NetworkState): SentGraph | undefined {
    const sent = this.#sent.get(uid);
    if (sent?.publicKey !== spec.publicKey) return undefined;
    const named = state.peers.get(name);
    const peer = named?.uid === uid ? named : lookUpById(state.peers, uid);
    if (peer?.status.phase !== 'ready' || peer.status.address === null) return undefined;
    return { state, peer, version: sent.version };
  }

  #settingsOf({ spec }: PeerRecord, reason: string): GraphSettings {
    const { nodeAccess, clock } = this.#services;
    return {
      epoch: nodeAccess.graphEpoch,
      reason,
      ...nodeAccess.servers(this.#workspace, spec.publicKey, clock.now()),
      checkpoint: this.#checkpoint,
      workspace: this.#slug,
    };
  }

  #viewsOf({ state, at }: StateSnapshot): GraphViews {
    const { states } = this.#services;
    return viewsOf(state, states.reachability(state, at), futureViews(states, state, at));
  }

  #forgetGone(before: StateSnapshot, { state }: StateSnapshot): void {
    const names = RecordMap.changedNames(before.state.peers, state.peers) ?? before.state.peers.keys();
    for (const name of names) {
      const uid = before.state.peers.get(name)?.uid;
      if (uid !== undefined && lookUpById(state.peers, uid)?.status.phase !== 'ready') this.#sent.delete(uid);
    }
  }
}

function stateSnapshotOf(state: NetworkState, now: number): StateSnapshot {
  return { state, at: graphInstantOf(state, now) };
}
