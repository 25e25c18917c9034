import { connect, type NatsConnection } from '@nats-io/transport-node';
import { Opener } from '../../net/seal/opener.ts';
import { Sealer } from '../../net/seal/sealer.ts';
import type { Live } from './network.ts';

/** Nodes that share a connection of the official client: more than one, so that none is the limit. */
const NODES_A_CONNECTION = 250;
/** Nodes that prove themselves at a time: the control plane refuses work beyond what may wait. */
const PROVING = 100;
const ASK = { timeout: 30_000 };

/** A graph that a node has opened, and when. */
export interface Arrival {
  readonly name: string;
  readonly at: number;
}

export interface Nodes {
  /** Graphs since the last call, once none has come for a while. */
  settled(quietMs: number): Promise<Arrival[]>;
  close(): Promise<void>;
}

/** Lets every node listen on its subject and prove itself by a heartbeat, as a node does that starts. */
export async function startNodes(
  port: number,
  workspace: string,
  control: Uint8Array,
  lives: readonly Live[],
): Promise<Nodes> {
  const connections: NatsConnection[] = [];
  let arrivals: Arrival[] = [];
  let lastAt = 0;
  const nodes = [];
  for (const [index, live] of lives.entries()) {
    if (index % NODES_A_CONNECTION === 0) connections.push(await connect({ port, reconnect: false }));
    const nats = connections.at(-1);
    if (nats) nodes.push({ ...listen(nats, live), nats });
  }
  for (let from = 0; from < nodes.length; from += PROVING) {
    await Promise.all(nodes.slice(from, from + PROVING).map(({ prove }) => prove()));
  }

  function listen(nats: NatsConnection, { id, name, pair }: Live) {
    const opener = new Opener(pair, (sender) => Buffer.compare(sender, control) === 0);
    const sealer = new Sealer(pair, crypto.getRandomValues(new Uint8Array(16)));
    nats.subscribe(`mesh.${workspace}.${id}.graph`, {
      callback(_error, { subject, data }) {
        const opened = opener.open('graph', subject, data);
        if (!opened.ok) throw new Error(`A graph was not opened: ${opened.reason}`);
        JSON.parse(Buffer.from(opened.plaintext).toString());
        lastAt = performance.now();
        arrivals.push({ name, at: lastAt });
      },
    });
    const subject = `mesh.control.${workspace}.${id}.heartbeat`;
    const ask = async (content: object): Promise<{ readonly challenge?: string }> => {
      const sealed = sealer.seal('request', control, subject, Buffer.from(JSON.stringify(content)));
      const { subject: inbox, data } = await nats.request(subject, sealed ?? new Uint8Array(), ASK);
      const opened = opener.open('reply', inbox, data);
      if (!opened.ok) throw new Error(`An answer was not opened: ${opened.reason}`);
      return JSON.parse(Buffer.from(opened.plaintext).toString());
    };
    return {
      async prove() {
        const { challenge } = await ask({});
        if (challenge !== undefined) await ask({ echo: challenge });
      },
    };
  }

  return {
    async settled(quietMs) {
      lastAt = performance.now();
      while (performance.now() - lastAt < quietMs) await new Promise((resolve) => setTimeout(resolve, 20));
      const seen = arrivals;
      arrivals = [];
      return seen;
    },
    async close() {
      await Promise.all(connections.map((nats) => nats.close()));
    },
  };
}
