import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { graphMessageShape } from '../core/model/graph.ts';
import { buildLiveness } from '../core/model/liveness.ts';
import { WIRE_TEXT } from '../core/model/wire.ts';
import type { NetworkState } from '../core/state/state.ts';
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
    const { states, store } = kit.services;
    let known: NetworkState | undefined;
    const asked: (readonly string[])[] = [];
    const services = {
      ...kit.services,
      liveness: buildLiveness(),
      states: { ...states, current: async (workspace: string) => known ?? states.current(workspace) },
      store: {
        ...store,
        async caughtUp(workspaces: readonly string[]) {
          asked.push(workspaces);
          known = undefined;
        },
      },
    };
    /** Hears of nothing more that is committed, until it asks the store. */
    const fallBehind = async () => {
      known = await states.current(kit.workspace);
    };
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
    return { name, leadership, services, sent, push, requests, stop, fallBehind, asked };
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
    /** Asks for its graph. */
    ask() {
      const subject = `mesh.control.${kit.workspace}.${id}.graph`;
      const text = Buffer.from(JSON.stringify({ wire: WIRE_TEXT }));
      deliver(subject, '', sealer.seal('request', controlKey, subject, text) ?? new Uint8Array());
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
  const [answer] = await node.beat();
  expect([answer]).toEqual([{ by: 'second', wire: WIRE_TEXT, version: null, at: expect.any(String) }]);
  expect(await both.kit.services.store.revision(both.kit.workspace)).toBe(revision);
});

test('each knows from the versions of the wire in a heartbeat after which silence the node is offline', async () => {
  const both = await twoPlanes();
  const node = await nodeIn(both, 'web');
  const [asked] = await node.beat();
  const silences: number[][] = [];
  for (const wire of ['1-2', '1-3']) {
    await node.beat({ echo: asked?.challenge, wire });
    silences.push(both.planes.map(({ services }) => services.liveness.onlineMs(both.kit.workspace, node.id)));
  }
  expect(silences).toEqual([
    [90_000, 90_000],
    [45_000, 45_000],
  ]);
});

test('a node that another one let in a moment ago is answered by the one that leads, which had not heard of it', async () => {
  const both = await twoPlanes();
  const [first, second] = both.planes;
  await first.fallBehind();
  await second.fallBehind();
  const node = await nodeIn(both, 'web');
  expect(await node.beat()).toEqual([{ by: 'first', wire: WIRE_TEXT, challenge: expect.any(String) }]);
  expect([first.asked, second.asked]).toEqual([[[both.kit.workspace]], []]);
});

test('requests of nodes that nobody let in make a control plane ask the store so often and no more', async () => {
  const both = await twoPlanes();
  const [first] = both.planes;
  const node = await nodeIn(both, 'web');
  await both.kit.ask('revoke_peer', { id: node.id });
  for (let count = 0; count < 150; count += 1) expect(await node.beat()).toEqual([]);
  expect(first.asked).toHaveLength(100);
  both.kit.clock.time += 1_000;
  for (let count = 0; count < 50; count += 1) await node.beat();
  expect(first.asked).toHaveLength(120);
  expect(first.requests.ignored).toEqual({ 'unknown-peer': 200 });
});

test('requests of strangers in one workspace keep nobody from being looked for in another one', async () => {
  const both = await twoPlanes();
  const [first] = both.planes;
  const { kit, deliver } = both;
  const elsewhere = (await kit.foreign('list_workspaces')).items[0].id;
  const stranger = new Sealer(generateKeyPair(), randomBytes(EPOCH_BYTES));
  for (let count = 0; count < 300; count += 1) {
    const subject = `mesh.control.${count % 2 === 0 ? elsewhere : `w_invented${count}`}.p_${count}.heartbeat`;
    const { controlKey } = kit.services.keys;
    deliver(subject, '', stranger.seal('request', controlKey, subject, Buffer.from('{}')) ?? new Uint8Array());
  }
  await settled(both.planes);
  await first.fallBehind();
  const node = await nodeIn(both, 'web');
  expect(await node.beat()).toMatchObject([{ by: 'first', challenge: expect.any(String) }]);
  const asked = first.asked.map(([workspace]) => workspace);
  expect([asked.length, asked.filter((one) => one === elsewhere).length]).toEqual([201, 100]);
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
  for (const node of nodes) await node.beat();
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

/** A node that holds a graph of the first plane, with its version and what the answer to a heartbeat said of it. */
async function served(both: Awaited<ReturnType<typeof twoPlanes>>) {
  const [first] = both.planes;
  const node = await nodeIn(both, 'web');
  const [asked] = await node.beat();
  await node.beat({ echo: asked?.challenge });
  node.ask();
  const graphs: ReturnType<typeof node.pushedBy> = [];
  await expect
    .poll(() => graphs.push(...node.pushedBy(first)) && graphs.some(({ kind }) => kind === 'full'))
    .toBe(true);
  await expect.poll(async () => (await node.beat())[0]?.mark).toEqual(expect.any(String));
  // What the next leader sends again is over by then.
  both.kit.clock.time += 61_000;
  const [{ version, mark } = {}] = await node.beat();
  return { node, version, mark };
}

async function takeOver({ planes: [first, second] }: Awaited<ReturnType<typeof twoPlanes>>): Promise<void> {
  await first.leadership.set(false);
  await second.leadership.set(true);
}

test('the next leader sends nothing to a node that has all, and of the next change what differs', async () => {
  const both = await twoPlanes();
  const [first, second] = both.planes;
  const { node, version, mark } = await served(both);
  await takeOver(both);
  expect(await node.beat({ mark })).toMatchObject([{ by: 'second', version, mark }]);
  const { id } = await both.kit.join('db');
  await expect.poll(() => second.sent.some(({ subject }) => subject.endsWith('graph'))).toBe(true);
  expect(node.pushedBy(second)).toMatchObject([
    { kind: 'delta', base: version, peers: { added: [{ id }], updated: [], removed: [] } },
  ]);
  await expect.poll(async () => (await node.beat())[0]?.mark).toEqual(expect.any(String));
  both.kit.clock.time += 61_000;
  const [next] = await node.beat();
  // And back to the first one.
  await second.leadership.set(false);
  await first.leadership.set(true);
  expect(await node.beat({ mark: next?.mark })).toMatchObject([{ by: 'first', version: next?.version }]);
});

test.each([
  ['is sent again', 30],
  ['was sent for good', 120],
])('what opens at the end of a policy that %s reaches nodes from the next leader', async (_, seconds) => {
  const both = await twoPlanes();
  const { kit, planes } = both;
  const [first, second] = planes;
  const { node } = await served(both);
  const { id } = await kit.join('db');
  const revision = () => kit.services.store.revision(kit.workspace);
  const hasAll = async ({ push }: typeof first) => push.versionOf(kit.workspace, node.id) === (await revision());
  await expect.poll(() => hasAll(first)).toBe(true);
  const spec = { action: 'DENY', peerSelector: {}, ingress: [{}], egress: [{}] };
  await kit.ask('create_policy', { name: 'shut', spec, ttl: `${seconds}s` });
  await expect.poll(() => hasAll(first)).toBe(true);
  await expect.poll(async () => (await node.beat())[0]?.mark).toEqual(expect.any(String));
  const [{ mark, version } = {}] = await node.beat();
  kit.clock.time += seconds * 1_000;
  await takeOver(both);
  await node.beat({ mark });
  await expect.poll(() => second.push.versionOf(kit.workspace, node.id)).toBe(version);
  await kit.ask('delete_policy', { id: 'shut' });
  await expect.poll(() => hasAll(second)).toBe(true);
  const news = node.pushedBy(second).filter((graph) => 'version' in graph && graph.version > version);
  expect(JSON.stringify(news)).toContain(id);
});

test('it takes no mark of a node that may lack a change, or of a control plane that is set up otherwise', async () => {
  const both = await twoPlanes();
  const { kit, planes } = both;
  const [first] = planes;
  const { node, mark } = await served(both);
  const text = String(mark);
  for (const other of [
    text.replace(/^\d+/, ''),
    `${text}0`,
    text.replace(/.$/, '!'),
    text.replace(/\.\d+\./, '.9999.'),
  ]) {
    await takeOver(both);
    expect(await node.beat({ mark: other }), other).toMatchObject([{ by: 'second', version: null }]);
    await planes[1].leadership.set(false);
    await first.leadership.set(true);
  }
  await first.push.stop();
  await kit.join('db');
  await takeOver(both);
  await expect.poll(async () => (await node.beat({ mark }))[0]?.version).not.toBe(null);
  expect(node.pushedBy(planes[1]).map(({ kind }) => kind)).toEqual(['full']);
});

test('a node whose heartbeat came before the next leader was told of it is sent every change by that one', async () => {
  const both = await twoPlanes();
  const { kit, planes } = both;
  const [first, second] = planes;
  await second.fallBehind();
  const node = await nodeIn(both, 'web');
  const [asked] = await node.beat();
  await node.beat({ echo: asked?.challenge });
  await second.services.store.caughtUp([kit.workspace]);
  expect(second.services.liveness.lastSeen(kit.workspace, node.id)).toBeUndefined();
  await first.stop();
  await takeOver(both);
  const next = async () => {
    await expect.poll(() => second.sent.some(({ subject }) => subject.includes(node.id))).toBe(true);
    return node.pushedBy(second);
  };
  expect(await next()).toMatchObject([{ kind: 'full' }]);
  const { id } = await kit.join('db');
  expect(await next()).toMatchObject([{ kind: 'delta', peers: { added: [{ id }] } }]);
});

test('a store that did not answer once is asked again by the next heartbeat', async () => {
  const both = await twoPlanes();
  const [{ services }] = both.planes;
  const node = await nodeIn(both, 'web');
  const { store } = services;
  Object.assign(services, { store: { ...store, workspaces: () => Promise.reject(new Error('no primary')) } });
  expect(await node.beat()).toEqual([]);
  Object.assign(services, { store });
  expect(await node.beat()).toMatchObject([{ by: 'first', challenge: expect.any(String) }]);
});
