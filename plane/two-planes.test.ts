import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { graphMessageShape } from '../core/model/graph.ts';
import { buildLiveness } from '../core/model/liveness.ts';
import { WIRE_TEXT } from '../core/model/wire.ts';
import type { Delivery } from '../net/nats/commands.ts';
import { EPOCH_BYTES } from '../net/seal/format.ts';
import { Opener } from '../net/seal/opener.ts';
import { Sealer } from '../net/seal/sealer.ts';
import { generateKeyPair } from '../net/seal/x25519.ts';
import { switchedLeadership } from '../test/kits/plane/switched-leadership.ts';
import { buildWorkspaceKit } from '../test/kits/plane/workspace-kit.ts';
import { ControlRequests } from './control-requests.ts';
import { GraphPush } from './graph-push.ts';

type Node = Awaited<ReturnType<typeof nodeIn>>;

/** Two control planes on one store, of which the first leads, and the bus that both are on. */
async function twoPlanes() {
  const kit = await buildWorkspaceKit();
  const heard = new Set<(delivery: Delivery) => void>();
  const planeOf = (name: string, leads: boolean) => {
    const leadership = switchedLeadership(leads);
    const services = { ...kit.services, liveness: buildLiveness() };
    const sent: { readonly subject: string; readonly payload: Uint8Array }[] = [];
    const bus = {
      publish: (subject: string, payload: Uint8Array) => void sent.push({ subject, payload }),
      identify: () => undefined,
      subscribe(_subject: string, listener: (delivery: Delivery) => void) {
        heard.add(listener);
        return () => void heard.delete(listener);
      },
    };
    const push = new GraphPush(services, bus as never, leadership);
    const requests = new ControlRequests(services, bus as never, push, leadership);
    const stop = () => Promise.all([requests.stop(), push.stop()]);
    return { name, leadership, services, sent, push, requests, stop };
  };
  const planes = [planeOf('first', true), planeOf('second', false)] as const;
  onTestFinished(async () => {
    for (const plane of planes) await plane.stop();
    await kit[Symbol.asyncDispose]();
  });
  const deliver = (subject: string, reply: string, payload: Uint8Array) => {
    for (const listener of heard) {
      listener({ sid: '1', subject, reply, headers: undefined, payload, from: undefined, connection: 1 });
    }
  };
  return { kit, planes, deliver };
}

/** A node that talks to them. */
async function nodeIn({ kit, deliver, planes }: Awaited<ReturnType<typeof twoPlanes>>, name: string) {
  const pair = generateKeyPair();
  const { id } = await kit.join(name, { publicKey: Buffer.from(pair.publicKey).toString('base64') });
  const { controlKey } = kit.services.keys;
  const sealer = new Sealer(pair, randomBytes(EPOCH_BYTES));
  const opener = new Opener(pair, () => true);
  let asked = 0;
  const opened = (kind: 'reply' | 'graph', subject: string, payload: Uint8Array) => {
    const result = opener.open(kind, subject, payload);
    return result.ok ? JSON.parse(Buffer.from(result.plaintext).toString()) : result.reason;
  };
  return {
    id,
    /** @returns who answered, and what */
    async beat(content: object = {}) {
      const [subject, reply] = [`mesh.control.${kit.workspace}.${id}.heartbeat`, `_INBOX.${name}.${++asked}`];
      const text = JSON.stringify({ wire: WIRE_TEXT, ...content });
      deliver(subject, reply, sealer.seal('request', controlKey, subject, Buffer.from(text)) ?? new Uint8Array());
      await settled(planes);
      return planes.flatMap(({ name: by, sent }) =>
        sent.flatMap((each) => (each.subject === reply ? [{ by, ...opened('reply', reply, each.payload) }] : [])),
      );
    },
    /** What a plane pushed to it since the last time. */
    pushedBy({ sent }: (typeof planes)[number]) {
      const subject = `mesh.${kit.workspace}.${id}.graph`;
      const graphs = sent.filter((each) => each.subject === subject);
      for (const each of graphs) sent.splice(sent.indexOf(each), 1);
      return graphs.map((each) => graphMessageShape(opened('graph', subject, each.payload)));
    },
  };
}

async function settled(planes: readonly { readonly requests: ControlRequests }[]): Promise<void> {
  for (const { requests } of planes) await requests.settled();
}

test('both hear a node that proved itself to the one that leads, which alone answers', async () => {
  const both = await twoPlanes();
  const [first, second] = both.planes;
  const node = await nodeIn(both, 'web');
  const [asked, ...others] = await node.beat();
  expect([asked?.by, others]).toEqual(['first', []]);
  expect(second.services.liveness.lastSeen(both.kit.workspace, node.id)).toBeUndefined();
  expect(await node.beat({ echo: asked?.challenge, version: '1.2.3' })).toMatchObject([{ by: 'first' }]);
  for (const { services } of both.planes) {
    expect(services.liveness.lastSeen(both.kit.workspace, node.id)).toBe(both.kit.clock.now());
    expect(services.liveness.version(both.kit.workspace, node.id)).toBe('1.2.3');
  }
  const revision = await both.kit.services.store.revision(both.kit.workspace);
  await first.leadership.set(false);
  await second.leadership.set(true);
  // It need not prove itself again, and is online already.
  expect(await node.beat()).toEqual([{ by: 'second', wire: WIRE_TEXT, version: null, at: expect.any(String) }]);
  expect(await both.kit.services.store.revision(both.kit.workspace)).toBe(revision);
});

test('what a leader that ended has not sent any more, the next one sends to those whom it concerns', async () => {
  const both = await twoPlanes();
  const { kit, planes } = both;
  const [first, second] = planes;
  const names = ['web', 'db', 'apart', 'idle'];
  const nodes = [];
  for (const name of names) nodes.push(await nodeIn(both, name));
  const [web, db, apart, idle] = nodes as [Node, Node, Node, Node];
  for (const node of nodes) {
    const [asked] = await node.beat();
    await node.beat({ echo: asked?.challenge });
  }
  const nobody = { action: 'DENY', peerSelector: { peers: [idle.id] }, ingress: [{}], egress: [{}] };
  await kit.ask('create_policy', { name: 'idle', spec: nobody });
  // What is older, it has sent.
  kit.clock.time += 61_000;
  // As of a kill: nothing that it had gathered is sent any more.
  await first.stop();
  await first.leadership.set(false);
  const ingress = [{ from: [{ peerSelector: { peers: [web.id] } }] }];
  await kit.ask('create_policy', {
    name: 'to-db',
    spec: { action: 'ALLOW', peerSelector: { peers: [db.id] }, ingress },
  });
  await kit.ask('revoke_peer', { id: apart.id });
  expect(second.sent).toEqual([]);
  await second.leadership.set(true);
  await expect.poll(() => second.sent.length).toBeGreaterThanOrEqual(3);
  const kinds = (node: Node) => node.pushedBy(second).map(({ kind }) => kind);
  expect([web, db, apart, idle].map(kinds)).toEqual([['full'], ['full'], ['gone'], []]);
});
