import { randomBytes } from 'node:crypto';
import type { Change } from '../core/base/ports.ts';
import { isOfKind } from '../core/base/written-record.ts';
import { lookUpById } from '../core/model/find.ts';
import { encodeGraphMessage, type GraphMessage } from '../core/model/graph.ts';
import type { PeerRecord } from '../core/model/resources.ts';
import type { Services } from '../core/workflow/services.ts';
import type { Bus } from '../net/bus/port.ts';
import { EPOCH_BYTES } from '../net/seal/format.ts';
import { Sealer } from '../net/seal/sealer.ts';
import { keyPairOf } from '../net/seal/x25519.ts';
import { FollowerChanges } from './follower-changes.ts';
import { type Leadership, soleLeadership } from './leadership.ts';
import { VersionTokens } from './version-tokens.ts';
import { type Graph, type PushServices, WorkspacePush } from './workspace-push.ts';

/** How far this process was told the commits of each workspace, and which of them concerned nodes last. */
class ReceivedCommits {
  readonly #workspaces = new Map<string, { readonly first: number; last: number; shown?: number }>();

  add(workspace: string, revision: number, isShown: boolean): void {
    const known = this.#workspaces.get(workspace) ?? { first: revision, last: revision };
    known.last = revision;
    if (isShown) known.shown = revision;
    this.#workspaces.set(workspace, known);
  }

  /** The newest; undefined where none was told. */
  last(workspace: string): number | undefined {
    return this.#workspaces.get(workspace)?.last;
  }

  /** The revision since which nothing told concerned nodes; undefined where none was told. */
  quietSince(workspace: string): number | undefined {
    const known = this.#workspaces.get(workspace);
    return known && (known.shown ?? known.first - 1);
  }
}

export interface PushCounts {
  full: number;
  delta: number;
  /** Too large for one message of the bus: the node was told to fetch its graph by HTTP. */
  tooLarge: number;
}

type GraphBus = Pick<Bus, 'publish'> & Partial<Pick<Bus, 'maxPayload'>>;

/** Sends each node its graph over the bus as it changes: whole the first time, then what differs. */
export class GraphPush {
  readonly counts: PushCounts = { full: 0, delta: 0, tooLarge: 0 };
  readonly #services: PushServices;
  readonly #bus: GraphBus;
  readonly #sealer: Sealer;
  readonly #workspaces = new Map<string, WorkspacePush>();
  readonly #unsubscribe: () => void;
  readonly #leads: (workspace: string) => boolean;
  readonly #unled = new FollowerChanges();
  readonly #told = new ReceivedCommits();
  readonly #marks: VersionTokens;

  /** @param leadership whose nodes are sent their graphs from here */
  constructor(
    services: PushServices & Pick<Services, 'store' | 'keys'>,
    bus: GraphBus,
    leadership: Pick<Leadership, 'leads' | 'onChange'> = soleLeadership,
  ) {
    this.#leads = leadership.leads;
    this.#services = services;
    this.#bus = bus;
    this.#marks = new VersionTokens(services);
    const privateKey = Buffer.from(services.keys.controlPrivateKey.reveal(), 'base64');
    this.#sealer = new Sealer(keyPairOf(Uint8Array.from(privateKey)), randomBytes(EPOCH_BYTES));
    const ends = [
      services.store.onCommit(({ workspace, revision, reason, changes }) => {
        const gone = shutOut(changes);
        const isShown = changes.some(({ record }) => GRAPH_KINDS.has(record.kind));
        this.#told.add(workspace, revision, isShown);
        if (!this.#leads(workspace)) {
          const heardAt = services.clock.now();
          if (isShown) this.#unled.add(workspace, { revision, heardAt, gone });
          return;
        }
        for (const peer of gone) this.#sendGone(workspace, peer);
        if (isShown) this.#of(workspace).changed(revision, reason);
      }),
      leadership.onChange(() => this.#follow()),
    ];
    this.#unsubscribe = () => {
      for (const end of ends) end();
    };
  }

  /** Goes on where another control plane led until now, and ends where another one goes on. */
  async #follow(): Promise<void> {
    const lost = [...this.#workspaces].filter(([workspace]) => !this.#leads(workspace));
    for (const [workspace] of lost) this.#workspaces.delete(workspace);
    const gained = this.#unled.workspaces().filter((workspace) => this.#leads(workspace));
    await Promise.all([
      ...lost.map(([, push]) => push.stop()),
      ...gained.map((workspace) => this.#takeOver(workspace)),
    ]);
  }

  async #takeOver(workspace: string): Promise<void> {
    const { states, clock } = this.#services;
    const { gone, from } = this.#unled.take(workspace, clock.now());
    if (from !== undefined) this.#of(workspace).changed(from, 'another control plane goes on');
    const { peers } = await states.current(workspace);
    for (const peer of gone) {
      // A peer that was admitted again has a graph by now.
      if (lookUpById(peers, peer.uid)?.status.phase !== 'ready') this.#sendGone(workspace, peer);
    }
  }

  /** Sends a node its whole graph soon. */
  request(workspace: string, peerUid: string): void {
    this.#of(workspace).request(peerUid);
  }

  /** The version last sent to a node; undefined when it was sent none by this process. */
  versionOf(workspace: string, peerUid: string): number | undefined {
    return this.#workspaces.get(workspace)?.versionOf(peerUid);
  }

  /**
   * Returns the version token of a node's graph for an answer, by which the next leader knows the graph; undefined while this
   * plane does not know it.
   */
  markOf(workspace: string, peerUid: string): string | undefined {
    const mark = this.#workspaces.get(workspace)?.markOf(peerUid);
    if (mark === undefined) return undefined;
    const revision = Math.max(mark.revision, this.#told.last(workspace) ?? 0);
    return this.#marks.write({ version: mark.version, revision });
  }

  /** Takes what another leader said of the graph that a node holds for what it was sent from here, where that is still so. */
  async adopt(workspace: string, peer: PeerRecord, text: string): Promise<void> {
    const mark = this.#marks.read(text);
    if (mark === undefined || this.versionOf(workspace, peer.uid) !== undefined) return;
    const { revision } = await this.#services.states.current(workspace);
    const quietSince = this.#told.quietSince(workspace) ?? revision;
    const told = this.#told.last(workspace) ?? revision;
    if (quietSince <= mark.revision && mark.revision <= told) this.#of(workspace).adopt(peer, mark, told);
  }

  /** The bus has lost what was on it: whoever is served next gets a whole graph. */
  forget(): void {
    for (const push of this.#workspaces.values()) push.forget();
  }

  /** Seals an answer to a node and sends it. */
  reply(to: Uint8Array, subject: string, content: object): void {
    const sealed = this.#sealer.seal('reply', to, subject, Buffer.from(JSON.stringify(content)));
    if (sealed) this.#bus.publish(subject, sealed);
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    await Promise.all([...this.#workspaces.values()].map((push) => push.stop()));
  }

  /** A node that is shut out hears it at once, and takes its tunnels down. */
  #sendGone(workspace: string, { uid, spec }: PeerRecord): void {
    if (!this.#leads(workspace)) return;
    const subject = `mesh.${workspace}.${uid}.graph`;
    const key = Uint8Array.from(Buffer.from(spec.publicKey, 'base64'));
    const sealed = this.#sealer.seal('graph', key, subject, encodeGraphMessage({ kind: 'gone' }));
    if (sealed) this.#bus.publish(subject, sealed);
    this.#sealer.forget(key);
  }

  #of(workspace: string): WorkspacePush {
    const known = this.#workspaces.get(workspace);
    if (known) return known;
    const push = new WorkspacePush(workspace, this.#services, (peer, graph) => this.#send(workspace, peer, graph));
    this.#workspaces.set(workspace, push);
    return push;
  }

  #send(workspace: string, { uid, spec }: PeerRecord, graph: Graph): void {
    if (!this.#leads(workspace)) return;
    const subject = `mesh.${workspace}.${uid}.graph`;
    const key = Uint8Array.from(Buffer.from(spec.publicKey, 'base64'));
    const seal = (message: GraphMessage) => this.#sealer.seal('graph', key, subject, encodeGraphMessage(message));
    const sealed = seal(graph);
    if (sealed && sealed.length <= (this.#bus.maxPayload ?? Number.POSITIVE_INFINITY)) {
      this.counts[graph.kind] += 1;
      this.#bus.publish(subject, sealed);
      return;
    }
    const { epoch, version, reason } = graph;
    const notice = seal({ kind: 'fetch', epoch, version, reason });
    if (notice === undefined) return;
    this.counts.tooLarge += 1;
    this.#bus.publish(subject, notice);
    this.#services.log.debug({ workspace, peer: uid }, 'a graph does not fit the bus: the node is told to fetch it');
  }
}

/** Peers that were revoked or deleted; a renamed one is deleted and made again under its id. */
function shutOut(changes: readonly Change[]): PeerRecord[] {
  const made = new Set(changes.flatMap(({ type, record }) => (type === 'deleted' ? [] : [record.uid])));
  return changes.flatMap((change) => {
    if (!isOfKind(change, 'MeshPeer')) return [];
    const { type, record: peer, before } = change;
    const wasOut = before?.status.phase === 'revoked';
    const isOut = type === 'deleted' ? !made.has(peer.uid) : peer.status.phase === 'revoked' && !wasOut;
    return isOut ? [peer] : [];
  });
}

const GRAPH_KINDS = new Set(['MeshPeer', 'MeshPolicy', 'MeshNetwork', 'AgentIdentity']);
