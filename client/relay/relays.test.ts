import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { mintCredential, relayKeysOf, workspaceTagOf } from '../../net/relay/credential.ts';
import { peerIdOf } from '../../net/relay/frame.ts';
import type { RelayLimits } from '../../net/relay/limits.ts';
import { RelayListener } from '../../net/relay/listener.ts';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import type { RelayCosts } from '../../net/signal/relay-costs.ts';
import { askDns } from '../lookup.ts';
import { Relays } from './relays.ts';

const TOKEN = 'relay-token-of-this-test';
const PATIENCE = { timeout: 10_000 };
const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

describe('several relays', () => {
  it('nodes with different nearest relays use the one that is nearest to both', async () => {
    const ports = await relays('main', 'eu', 'us');
    const { one, two } = await pairOn(ports, { main: 300, eu: 10, us: 90 }, { main: 300, eu: 120, us: 15 });
    await agreed('us', one, two);
    one.say('there');
    two.say('back');
    await expect.poll(() => [one.heard, two.heard]).toEqual([['back'], ['there']]);
    expect(one.relays.views.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'main ready',
      'eu ready',
      'us ready',
    ]);
  });

  it('a relay that no node and no pair needs has no session', async () => {
    const ports = await relays('main', 'eu', 'us', 'asia');
    const { one, two } = await pairOn(
      ports,
      { main: 30, eu: 10, us: 90, asia: 200 },
      { main: 30, eu: 10, us: 90, asia: 200 },
    );
    await agreed('eu', one, two);
    expect(one.relays.views.map(({ state }) => state)).toEqual(['ready', 'ready', 'spare', 'spare']);
  });

  it('when the relay in use dies, the next packets take the next one', async () => {
    const ports = await relays('main', 'eu');
    const { one, two } = await pairOn(ports, { main: 90, eu: 10 }, { main: 90, eu: 10 });
    await agreed('eu', one, two);
    await ports.eu.relay.stop();
    await agreed('main', one, two);
    one.say('still here');
    await expect.poll(() => two.heard).toEqual(['still here']);
    expect(one.relays.state).toBe('ready');
    expect(one.told.at(-1)).toEqual(new Map([['main', 90]]));
  });

  it('a relay that takes packets and gives none is passed by, and tried again once it answers', async () => {
    const ports = await relays('main', 'eu');
    const stalling = await stallingProxy(ports.eu.port);
    const behind = { ...ports, eu: { ...ports.eu, port: stalling.port } };
    const { one, two } = await pairOn(behind, { main: 90, eu: 10 }, { main: 90, eu: 10 });
    await agreed('eu', one, two);
    stalling.stall();
    const before = one.told.length;
    // Again and again: what each says of its relays reaches the other within a second, and the first packets may go by another.
    const noticed = () => {
      one.say('lost');
      return one.told.slice(before).some((costs) => !costs.has('eu'));
    };
    await expect.poll(noticed, PATIENCE).toBe(true);
    expect(one.relays.routeOf(two.publicKey)).toBe('main');
    one.say('by another');
    await expect.poll(() => two.heard, PATIENCE).toContain('by another');
    stalling.resume();
    // The last choice for some seconds.
    await expect.poll(() => one.told.map((costs) => costs.get('eu')), PATIENCE).toContain(20_010);
  });

  it('a relay that is full refuses a node, which goes elsewhere with its peers', async () => {
    const ports = await relays('main', { name: 'eu', limits: { maxSessions: 1 } });
    const { one, two } = await pairOn(ports, { main: 90, eu: 10 }, { main: 90, eu: 10 });
    await agreed('main', one, two);
    const states = [one, two].map(({ relays: of }) => of.views[1]);
    expect(states.map((view) => view?.state).sort()).toEqual(['away', 'ready']);
    expect(states.map((view) => view?.reason)).toContain('limit');
    two.say('by main');
    await expect.poll(() => one.heard).toEqual(['by main']);
  });

  it('a node that knows one relay is found at the first', async () => {
    const ports = await relays('main', 'eu');
    const one = node({ main: 90, eu: 10 });
    const old = node({ main: 90 });
    one.use(ports);
    old.use({ main: ports.main });
    for (const [own, other] of [
      [one, old],
      [old, one],
    ] as const) {
      own.know(other);
      await expect.poll(() => own.relays.routeOf(other.publicKey)).toBe('main');
    }
    await expect.poll(() => one.relays.state).toBe('ready');
    old.say('hello');
    await expect.poll(() => one.heard).toEqual(['hello']);
    one.say('yes');
    await expect.poll(() => old.heard).toEqual(['yes']);
    expect(old.told).toEqual([]);
  });

  it('a graph that names another set of relays keeps the sessions with those that stay', async () => {
    const ports = await relays('main', 'eu', 'us');
    const { one, two } = await pairOn(
      { main: ports.main, eu: ports.eu },
      { main: 90, eu: 10, us: 5 },
      { main: 90, eu: 10, us: 5 },
    );
    await agreed('eu', one, two);
    for (const end of [one, two]) end.use({ main: ports.main, us: ports.us });
    await agreed('us', one, two);
    expect(ports.eu.relay.metrics().ready).toBe(0);
    expect(ports.main.relay.metrics().joined).toBe(2);
  });
});

interface Running {
  readonly relay: RelayListener;
  readonly port: number;
}
type Ports<Name extends string = string> = Readonly<Record<Name, Running>>;

async function relays<const N extends string>(
  ...wanted: (N | { readonly name: N; readonly limits: Partial<RelayLimits> })[]
): Promise<Ports<N>> {
  const started = wanted.map(async (each) => {
    const { name, limits = {} } = typeof each === 'string' ? { name: each } : each;
    const clock = { now: () => Date.now() };
    const relay = new RelayListener({ host: '127.0.0.1', port: 0, token: TOKEN, clock, drainMs: 50, limits });
    const { port } = await relay.start();
    cleanUps.push(() => relay.stop());
    return [name, { relay, port }] as const;
  });
  return Object.fromEntries(await Promise.all(started)) as Ports<N>;
}

type Distances = Readonly<Record<string, number>>;

/** Two nodes that hear what each says of its relays. */
async function pairOn(ports: Ports, ofOne: Distances, ofTwo: Distances) {
  const [one, two] = [node(ofOne), node(ofTwo)];
  one.know(two);
  two.know(one);
  for (const end of [one, two]) end.use(ports);
  return { one, two };
}

/** Both send there, and can. */
async function agreed(name: string, one: Node, two: Node): Promise<void> {
  const routes = () => [one.relays.routeOf(two.publicKey), two.relays.routeOf(one.publicKey)];
  await expect.poll(routes, PATIENCE).toEqual([name, name]);
  const states = () => [one, two].map(({ relays: of }) => of.views.find((view) => view.name === name)?.state);
  await expect.poll(states, PATIENCE).toEqual(['ready', 'ready']);
}

interface Node {
  readonly publicKey: string;
  readonly relayId: bigint;
  readonly relays: Relays;
  readonly heard: string[];
  /** Its relay costs. */
  readonly told: RelayCosts[];
  know(peer: Node): void;
  use(ports: Ports): void;
  say(text: string): void;
}

function node(distances: Distances): Node {
  const keyPair = generateKeyPair();
  const publicKey = Buffer.from(keyPair.publicKey).toString('base64');
  const grant = { workspace: workspaceTagOf('w'), publicKey: keyPair.publicKey, expiresAt: Date.now() + 3_600_000 };
  const credential = mintCredential(relayKeysOf(TOKEN), grant);
  const heard: string[] = [];
  const told: RelayCosts[] = [];
  let peer: Node | undefined;
  let names = new Map<number, string>();
  const made = new Relays({
    lookup: askDns,
    keyPair,
    now: () => performance.now(),
    random: Math.random,
    log: silentLog,
    measure: async ({ port }) => distances[names.get(port) ?? ''],
    relayIdOf: (key) => (key === peer?.publicKey ? peer.relayId : undefined),
    publicKeyOf: (relayId) => (relayId === peer?.relayId ? peer.publicKey : undefined),
    onState: () => {},
    onPackets: (_from, packets) => heard.push(Buffer.from(packets).toString()),
    onProbed: () => {},
    onExpired: () => {},
    onCosts(costs) {
      told.push(costs);
      peer?.relays.peerCosts(publicKey, costs);
    },
  });
  cleanUps.push(() => made.close());
  return {
    publicKey,
    relayId: peerIdOf(keyPair.publicKey),
    relays: made,
    heard,
    told,
    know(other) {
      peer = other;
      made.keep(new Set([other.publicKey]));
    },
    use(ports) {
      names = new Map(Object.entries(ports).map(([name, { port }]) => [port, name]));
      const places = Object.entries(ports).map(([name, { port }]) => {
        const address = { host: '127.0.0.1', port, secure: false, credential };
        return { name, region: undefined, capacity: 1, address };
      });
      made.use(places);
    },
    say(text) {
      if (peer) made.forward(peer.publicKey, peer.relayId, Buffer.from(text), 0);
    },
  };
}

/** Before a relay: whoever connects is served until it stalls. */
async function stallingProxy(port: number) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const onward = connect({ host: '127.0.0.1', port });
    for (const end of [socket, onward]) end.on('error', () => {});
    socket.pipe(onward).pipe(socket);
    sockets.push(socket, onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    stall: () => sockets.map((socket) => socket.pause()),
    resume: () => sockets.map((socket) => socket.resume()),
  };
}
