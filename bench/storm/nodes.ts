import { connect, type NatsConnection } from '@nats-io/transport-node';
import { busSecretOf } from '../../core/identity/device-token.ts';
import { applyDelta, type DeltaGraph, type FetchGraph, type FullGraph } from '../../core/model/graph.ts';
import { heartbeatTimes } from '../../core/model/heartbeat-times.ts';
import { WIRE, WIRE_TEXT } from '../../core/model/wire.ts';
import { Opener } from '../../net/seal/opener.ts';
import { Sealer } from '../../net/seal/sealer.ts';
import { generateKeyPair } from '../../net/seal/x25519.ts';

/** A device that has registered, and what it was told. */
export interface StormNode {
  readonly id: string;
  readonly deviceToken: string;
  readonly told: (FullGraph | DeltaGraph)[];
  /** Of the last of them; undefined as long as it holds no graph. */
  version: number | undefined;
}

/** What all nodes were sent. */
export interface Received {
  full: number;
  delta: number;
  bytes: number;
  lastAt: number;
}

export interface Joining {
  readonly url: string;
  readonly busPort: number;
  readonly workspace: string;
  readonly control: Uint8Array;
}

/** Lets devices join as nodes do: register, listen, prove by a heartbeat that they run now, ask for what they miss. */
export function nodesOf({ url, busPort, workspace, control }: Joining) {
  const received: Received = { full: 0, delta: 0, bytes: 0, lastAt: performance.now() };
  const connections: NatsConnection[] = [];
  const beats: NodeJS.Timeout[] = [];
  let isOver = false;

  /**
   * What is kept can be held against the truth at the end. The others only follow the versions: each would work its graph out on
   * a machine of its own, and all of them together on this one keep the control plane waiting.
   *
   * @returns the node, and what its registration took, ms
   */
  async function join(
    token: string,
    name: string,
    isKept: boolean,
  ): Promise<{ readonly node: StormNode; readonly ms: number }> {
    const pair = generateKeyPair();
    const publicKey = Buffer.from(pair.publicKey).toString('base64');
    const start = performance.now();
    const response = await fetch(new URL('/api/v1/devices/register', url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ token, name, publicKey }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    const ms = performance.now() - start;
    const { id, deviceToken } = JSON.parse(text);
    const node: StormNode = { id, deviceToken, told: [], version: undefined };

    const nats = await connect({
      port: busPort,
      token: busSecretOf(deviceToken),
      inboxPrefix: `_INBOX.${id}`,
      timeout: 120_000,
      reconnect: false,
    });
    connections.push(nats);
    const opener = new Opener(pair, (sender) => Buffer.compare(sender, control) === 0);
    const sealer = new Sealer(pair, crypto.getRandomValues(new Uint8Array(16)));
    const seal = (subject: string, content: object) =>
      sealer.seal('request', control, subject, Buffer.from(JSON.stringify({ ...content, wire: WIRE_TEXT }))) ??
      new Uint8Array();
    const subjectOf = (what: string) => `mesh.control.${workspace}.${id}.${what}`;
    const askGraph = () => nats.publish(subjectOf('graph'), seal(subjectOf('graph'), {}));
    nats.subscribe(`mesh.${workspace}.${id}.graph`, {
      callback(_error, { subject, data }) {
        const opened = opener.open('graph', subject, data);
        if (!opened.ok) throw new Error(`A graph was not opened: ${opened.reason}`);
        received.bytes += data.length;
        received.lastAt = performance.now();
        const pushed: FullGraph | DeltaGraph | FetchGraph = JSON.parse(Buffer.from(opened.plaintext).toString());
        if (pushed.kind === 'fetch') throw new Error('A graph is too large for the bus.');
        received[pushed.kind] += 1;
        const { version } = node;
        if (version !== undefined && pushed.version <= version) return;
        if (pushed.kind === 'delta' && (version === undefined || version < pushed.base)) return askGraph();
        node.version = pushed.version;
        if (isKept) node.told.push(pushed);
      },
    });
    const heartbeat = async (content: object): Promise<{ challenge?: string; version?: number | null }> => {
      const { subject, data } = await nats.request(subjectOf('heartbeat'), seal(subjectOf('heartbeat'), content), {
        timeout: 120_000,
      });
      const opened = opener.open('reply', subject, data);
      if (!opened.ok) throw new Error(`An answer was not opened: ${opened.reason}`);
      return JSON.parse(Buffer.from(opened.plaintext).toString());
    };
    const { challenge } = await heartbeat({});
    if (challenge !== undefined) await heartbeat({ echo: challenge });
    askGraph();
    beats.push(
      setInterval(async () => {
        const answer = await heartbeat({}).catch((error: unknown) => {
          if (!isOver) throw error;
        });
        if (answer && answer.version !== node.version) askGraph();
      }, heartbeatTimes(WIRE.newest).interval),
    );
    return { node, ms };
  }

  return {
    received,
    join,
    async close() {
      isOver = true;
      for (const beat of beats) clearInterval(beat);
      await Promise.all(connections.map((nats) => nats.close()));
    },
  };
}

/** What a node holds that took each graph as it came; undefined where they do not lead on from each other. */
export function heldBy({ told }: StormNode): FullGraph | undefined {
  return told.reduce<FullGraph | undefined>(
    (held, next) => (next.kind === 'full' ? next : held && applyDelta(held, next)),
    undefined,
  );
}
