import { connect, type NodeConnectionOptions } from '@nats-io/transport-node';
import { busSecretOf } from '../../../core/identity/device-token.ts';
import { applyDelta, type DeltaGraph, type FetchGraph, type FullGraph } from '../../../core/model/graph.ts';
import { Opener } from '../../../net/seal/opener.ts';
import { Sealer } from '../../../net/seal/sealer.ts';
import type { KeyPair } from '../../../net/seal/x25519.ts';
import { buildWaits } from '../process/waits.ts';

export interface NodeIdentity {
  readonly id: string;
  readonly workspaceId: string;
  readonly deviceToken: string;
  /** Base64. */
  readonly controlKey: string;
  readonly pair: KeyPair;
}

/** The client itself gives up after a second, which a busy machine takes. */
const ASK = { timeout: 30_000 };

/** A node on the bus, with the official client: opens what is pushed to it and keeps its graph. Each request has `says` in it. */
export async function busNode(
  port: number,
  { id, workspaceId, deviceToken, controlKey, pair }: NodeIdentity,
  options: NodeConnectionOptions = { reconnect: false },
  says: object = {},
) {
  const nats = await connect({ port, token: busSecretOf(deviceToken), inboxPrefix: `_INBOX.${id}`, ...options });
  const control = Uint8Array.from(Buffer.from(controlKey, 'base64'));
  const opener = new Opener(pair, (sender) => Buffer.compare(sender, control) === 0);
  const sealer = new Sealer(pair, crypto.getRandomValues(new Uint8Array(16)));
  const received: (FullGraph | DeltaGraph)[] = [];
  const notices: FetchGraph[] = [];
  let graph: FullGraph | undefined;
  let gaps = 0;
  const { changed, until } = buildWaits();

  function open(kind: 'graph' | 'reply', subject: string, sealed: Uint8Array): unknown {
    const opened = opener.open(kind, subject, sealed);
    if (!opened.ok) throw new Error(`not opened: ${opened.reason}`);
    return JSON.parse(Buffer.from(opened.plaintext).toString());
  }
  nats.subscribe(`mesh.${workspaceId}.${id}.graph`, {
    callback: (_error, { subject, data }) => {
      const pushed = open('graph', subject, data) as FullGraph | DeltaGraph | FetchGraph;
      if (pushed.kind === 'fetch') notices.push(pushed);
      else {
        received.push(pushed);
        // Before its first graph it misses none: what led up to that may still be on its way.
        const next = pushed.kind === 'full' ? pushed : graph && applyDelta(graph, pushed);
        if (next) graph = next;
        else if (graph) gaps += 1;
      }
      changed();
    },
  });
  const subjectOf = (what: 'heartbeat' | 'graph') => `mesh.control.${workspaceId}.${id}.${what}`;
  const seal = (what: 'heartbeat' | 'graph', content: object) =>
    sealer.seal('request', control, subjectOf(what), Buffer.from(JSON.stringify({ ...says, ...content }))) ??
    new Uint8Array();
  const ask = async (content: object) => {
    const { subject, data } = await nats.request(subjectOf('heartbeat'), seal('heartbeat', content), ASK);
    return open('reply', subject, data) as { challenge?: string; superseded?: boolean; version?: number | null };
  };
  await nats.flush();
  return {
    nats,
    received,
    /** Told to fetch the graph over the API. */
    notices,
    seal,
    subjectOf,
    get graph() {
      return graph;
    },
    get gaps() {
      return gaps;
    },
    /** Forgets the newest graph, as a node does that missed a message. */
    goBackTo(older: FullGraph) {
      graph = older;
    },
    /** What the control plane answers a heartbeat that proves nothing. */
    beat: () => ask({}),
    /** Proves on the first time that it runs now. */
    async heartbeat() {
      const { challenge, ...answer } = await ask({});
      return challenge === undefined ? answer : ask({ echo: challenge });
    },
    ask: () => nats.publish(subjectOf('graph'), seal('graph', {})),
    /** Asks for the whole graph, once a heartbeat has proven this process, and waits for it. */
    async fetch(): Promise<FullGraph> {
      const before = received.length;
      this.ask();
      await until(() => received.slice(before).some(({ reason }) => reason === 'requested'));
      return graph ?? Promise.reject(new Error('no graph'));
    },
    until,
    [Symbol.asyncDispose]: () => nats.close(),
  };
}
