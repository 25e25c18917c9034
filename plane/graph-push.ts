import { randomBytes } from 'node:crypto';
import type { Change } from '../core/base/ports.ts';
import { isOfKind } from '../core/base/written.ts';
import { encodeGraphMessage, type GraphMessage } from '../core/model/graph.ts';
import type { PeerRecord } from '../core/model/resources.ts';
import type { Services } from '../core/workflow/services.ts';
import type { Bus } from '../net/bus/port.ts';
import { EPOCH_BYTES } from '../net/seal/format.ts';
import { Sealer } from '../net/seal/sealer.ts';
import { keyPairOf } from '../net/seal/x25519.ts';
import { type Graph, type PushServices, WorkspacePush } from './workspace-push.ts';

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

  constructor(services: PushServices & Pick<Services, 'store' | 'keys'>, bus: GraphBus) {
    this.#services = services;
    this.#bus = bus;
    const privateKey = Buffer.from(services.keys.controlPrivateKey.reveal(), 'base64');
    this.#sealer = new Sealer(keyPairOf(Uint8Array.from(privateKey)), randomBytes(EPOCH_BYTES));
    this.#unsubscribe = services.store.onCommit(({ workspace, revision, reason, changes }) => {
      for (const peer of shutOut(changes)) this.#sendGone(workspace, peer);
      if (changes.some(({ record }) => SHOWN_KINDS.has(record.kind))) {
        this.#of(workspace).changed(revision, reason);
      }
    });
  }

  /** Sends a node its whole graph soon. */
  request(workspace: string, peerUid: string): void {
    this.#of(workspace).request(peerUid);
  }

  /** The version last sent to a node; undefined when it was sent none by this process. */
  versionOf(workspace: string, peerUid: string): number | undefined {
    return this.#workspaces.get(workspace)?.versionOf(peerUid);
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

const SHOWN_KINDS = new Set(['MeshPeer', 'MeshPolicy', 'MeshNetwork', 'AgentIdentity']);
