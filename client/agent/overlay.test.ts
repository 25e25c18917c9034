import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import type { UsedAddress } from '../routes/judge-route.ts';
import { graphOf, peerOf, type Recorded, recordedParts } from './overlay.testkit.ts';
import { Overlay, RouteRefused } from './overlay.ts';

let recorded: Recorded;
let troubles: Error[];
let expired: number;
let overlay: Overlay;
let used: UsedAddress[];
beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  recorded = recordedParts();
  troubles = [];
  expired = 0;
  used = [];
  const silent = () => {};
  overlay = new Overlay(
    {
      parts: recorded.parts,
      interfaceName: 'mesh0',
      listenPort: 51_820,
      opensHost: false,
      routeFacts: async () => ({ accepted: [], used }),
      workspaceId: 'w',
      known: { all: new Map(), remember: silent, keep: silent },
      lookup: async () => [],
      clock: { now: Date.now },
      log: { error: silent, warn: silent, info: silent, debug: silent },
      publish: silent,
      onUp: silent,
      onTrouble: (error) => troubles.push(error),
      onExpired: () => {
        expired += 1;
      },
      onCredentialExpired: silent,
      onPath: silent,
    },
    generateKeyPair(),
  );
});
afterEach(async () => {
  await overlay.close();
  vi.useRealTimers();
});

/** Returns the calls since the last look. */
const calls = () => recorded.calls.splice(0);
const oneRule = { in: [{ cidr: '10.96.0.2/32', protocol: 'ALL' } as const], out: [] };
const at = (seconds: number) => new Date(seconds * 1_000).toISOString();

async function want(graph: Parameters<Overlay['want']>[0]): Promise<string[]> {
  overlay.want(graph);
  await overlay.settled();
  return calls();
}

test('the first graph makes tunnel, firewall and paths before any peer is let in', async () => {
  expect(await want(graphOf(['a', 'b']))).toEqual([
    'recover',
    'tunnel 10.96.0.1',
    'firewall of 10.96.0.1: in 0',
    'paths',
    'peers +[key-a@relay,key-b@relay] -[]',
    'connect a,b',
  ]);
});

test('a change takes peers away before the firewall forgets them, and lets others in after it', async () => {
  await want(graphOf(['a', 'b'], {}, oneRule));
  const next = graphOf(['x', 'b', 'c'], { version: 2 });
  expect(await want({ ...next, peers: next.peers.slice(1) })).toEqual([
    'peers +[] -[key-a]',
    'firewall of 10.96.0.1: in 0',
    'peers +[key-c@relay] -[]',
    'connect b,c',
  ]);
});

test('a peer whose addresses changed keeps its endpoint', async () => {
  await want(graphOf(['a']));
  const moved = { ...peerOf('a', 0), allowedIps: ['10.96.0.9/32'] };
  expect(await want(graphOf([], { peers: [moved] }))).toEqual(['peers +[key-a@-] -[]', 'connect a']);
});

test('another address of this node goes to the interface that is there, and to its firewall', async () => {
  await want(graphOf([]));
  const self = { ...graphOf([]).self, address: '10.96.0.7' };
  expect(await want(graphOf([], { self }))).toEqual(['address 10.96.0.7', 'firewall of 10.96.0.7: in 0', 'connect']);
});

test('without a graph everything is taken away, paths first', async () => {
  await want(graphOf(['a']));
  expect(await want(undefined)).toEqual(['paths closed', 'tunnel closed', 'firewall closed']);
});

test('peers and rules go at their end by the clock of the node alone', async () => {
  const peers = [{ ...peerOf('a', 0), expiresAt: at(30) }, peerOf('b', 1)];
  const rules = {
    in: [{ ...oneRule.in[0], cidr: '10.96.0.2/32', protocol: 'ALL' as const, expiresAt: at(90) }],
    out: [],
  };
  await want(graphOf([], { peers }, rules));
  calls();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(calls()).toEqual(['peers +[] -[key-a]', 'connect b']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(calls()).toEqual(['firewall of 10.96.0.1: in 0', 'connect b']);
});

test('a node whose own time is over takes its overlay down by itself', async () => {
  await want(graphOf(['a'], { self: { ...graphOf([]).self, expiresAt: at(120) } }));
  calls();
  await vi.advanceTimersByTimeAsync(119_000);
  expect([calls().filter((call) => call.includes('closed')), expired]).toEqual([[], 0]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([calls(), expired]).toEqual([['paths closed', 'tunnel closed', 'firewall closed'], 1]);
});

test('a clock that is ahead takes the overlay down, has it asked ever more rarely whether that is so, and ends nothing', async () => {
  const graph = graphOf(['a'], { self: { ...graphOf([]).self, expiresAt: at(120) } });
  await want(graph);
  vi.setSystemTime(86_400_000);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([overlay.up, expired]).toEqual([undefined, 1]);
  // The control plane knows better, and sends the graph as it is.
  await want(graph);
  expect(expired).toBe(1);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(expired).toBe(13);
  vi.setSystemTime(1_000);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(overlay.up?.graph).toEqual(graph);
  await vi.advanceTimersByTimeAsync(59_000);
  expect([overlay.up, expired]).toEqual([undefined, 14]);
});

test('what was over by a clock that was ahead is in force again once the clock is right', async () => {
  const [a, b] = graphOf(['a', 'b']).peers;
  await want(graphOf([], { peers: [{ ...(a as typeof b & {}), expiresAt: at(120) }, b as typeof b & {}] }));
  vi.setSystemTime(86_400_000);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(overlay.up?.graph.peers.map(({ name }) => name)).toEqual(['b']);
  vi.setSystemTime(0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(overlay.up?.graph.peers.map(({ name }) => name)).toEqual(['a', 'b']);
});

test('a step that failed is tried again, and the peers are not let in before the firewall is in force', async () => {
  recorded.failNext('firewall');
  expect(await want(graphOf(['a']))).toEqual([
    'recover',
    'tunnel 10.96.0.1',
    'firewall of 10.96.0.1: in 0',
    'tunnel closed',
    'firewall closed',
  ]);
  expect(troubles.map(({ message }) => message)).toEqual(['firewall failed']);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(calls().at(-1)).toBe('connect a');
});

test('a tunnel whose paths cannot be started is taken away before its firewall', async () => {
  recorded.failNext('paths');
  expect((await want(graphOf(['a']))).slice(-3)).toEqual(['paths', 'tunnel closed', 'firewall closed']);
  expect(troubles.map(({ message }) => message)).toEqual(['paths failed']);
});

test('an interface that is gone is made again with all its peers', async () => {
  await want(graphOf(['a']));
  recorded.endTunnel('deleted');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(calls()).toEqual([
    'paths closed',
    'tunnel closed',
    'firewall closed',
    'recover',
    'tunnel 10.96.0.1',
    'firewall of 10.96.0.1: in 0',
    'paths',
    'peers +[key-a@relay] -[]',
    'connect a',
  ]);
  expect(troubles.map(({ message }) => message)).toEqual(['the interface mesh0 is gone: deleted']);
});

test('whoever removes the firewall is found out within 5 s, and the rules of the paths are put back too', async () => {
  await want(graphOf(['a']));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(calls()).toEqual([]);
  recorded.isFirewallFlushed = true;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(calls()).toEqual(['paths restored']);
});

test('a firewall that cannot be renewed is told of until it can', async () => {
  await want(graphOf(['a']));
  recorded.failNext('maintain');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(overlay.up?.firewallKeeper.trouble).toMatch(
    /^the firewall could not be renewed \(maintain failed\); .* mesh0 lets nothing through$/,
  );
  await vi.advanceTimersByTimeAsync(5_000);
  expect(overlay.up?.firewallKeeper.trouble).toBe('');
});

test('an overlay that collides with a route of the host changes nothing and names both', async () => {
  recorded.collisions = ['10.96.0.0/16 dev eth0'];
  expect(await want(graphOf(['a']))).toEqual(['left removed']);
  expect(troubles[0]).toBeInstanceOf(RouteRefused);
  expect(troubles[0]?.message).toMatch(
    /^The block 10\.96\.0\.0\/24 is not routed: it overlaps a route of this host: 10\.96\.0\.0\/16 dev eth0\. /,
  );
});

test('an overlay whose addresses the host translates is not made, and comes up once it does not', async () => {
  recorded.translations = ['10.96.0.1 (chain KUBE-SERVICES of the table ip nat)'];
  expect(await want(graphOf(['a']))).toEqual(['left removed']);
  expect(troubles[0]).toBeInstanceOf(RouteRefused);
  recorded.translations = [];
  expect((await want(graphOf(['a']))).at(-1)).toBe('connect a');
});

test('an overlay that is up stays when the host begins to translate its addresses, also when its interface is lost', async () => {
  await want(graphOf(['a']));
  recorded.translations = ['10.96.0.1 (chain KUBE-SERVICES of the table ip nat)'];
  overlay.judgeAgain();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(calls()).not.toContain('tunnel closed');
  recorded.endTunnel('deleted');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(calls().at(-1)).toBe('connect a');
});

test('a network that moves to a block of this host takes no route of it away: the overlay is down, and up again with the next', async () => {
  await want(graphOf(['a']));
  recorded.collisions = ['192.168.7.0/24 on eth0'];
  const self = { ...graphOf([]).self, address: '192.168.7.5', cidr: '192.168.7.0/24' };
  expect(await want(graphOf(['a'], { self }))).toEqual(['paths closed', 'tunnel closed', 'firewall closed']);
  expect(troubles[0]).toBeInstanceOf(RouteRefused);
  recorded.collisions = [];
  expect((await want(graphOf(['a']))).at(-1)).toBe('connect a');
});

const inBlock = (cidr: string, address: string) => ({ self: { ...graphOf([]).self, cidr, address } });

test.each([
  ['128.0.0.0/1', '128.0.0.5', 'too-wide'],
  ['169.254.0.0/16', '169.254.0.5', 'special'],
  ['8.8.8.0/24', '8.8.8.5', 'not-accepted'],
  ['10.5.0.0/16', '10.5.0.5', 'control-plane'],
])(
  'a graph whose block is %s takes no address and no route, and the next graph with a private one does',
  async (cidr, address, code) => {
    used = [{ of: 'the control plane', address: '10.5.7.1' }];
    await want(graphOf(['a']));
    expect(await want(graphOf(['a'], inBlock(cidr, address)))).toEqual([
      'paths closed',
      'tunnel closed',
      'firewall closed',
    ]);
    expect(overlay.route).toMatchObject({ refusal: { cidr, code } });
    expect(troubles[0]).toBeInstanceOf(RouteRefused);
    expect((await want(graphOf(['a']))).at(-1)).toBe('connect a');
    expect(overlay.route).toEqual({});
  },
);

test('a node that comes up refused, or waits for approval, removes once what an earlier agent left', async () => {
  used = [{ of: 'the bus', address: '10.96.0.9' }];
  expect(await want(graphOf(['a']))).toEqual(['left removed']);
  expect(await want(graphOf(['a'], { version: 2 }))).toEqual([]);
  expect(overlay.isClean).toBe(true);
});

test('what an earlier agent left and cannot be removed is tried again, and is known until then', async () => {
  recorded.failNext('left removed');
  expect(await want(undefined)).toEqual(['left removed']);
  expect(overlay.isClean).toBe(false);
  await overlay.close();
  expect([calls(), overlay.isClean]).toEqual([['left removed'], true]);
});

test('what speaks against a block later takes it away, and brings it back when it is gone', async () => {
  await want(graphOf(['a']));
  used = [{ of: 'the bus', address: '10.96.0.9' }];
  overlay.judgeAgain();
  await overlay.settled();
  expect(calls()).toEqual(['paths closed', 'tunnel closed', 'firewall closed']);
  used = [];
  overlay.judgeAgain();
  await overlay.settled();
  expect(calls().at(-1)).toBe('connect a');
});

test('a host that joins a network with the block loses no route: the overlay goes, and is back once that is gone', async () => {
  await want(graphOf(['a']));
  recorded.collisions = ['10.96.0.0/24 on wlan0'];
  overlay.networkChanged();
  await overlay.settled();
  expect(calls()).toEqual(['paths closed', 'tunnel closed', 'firewall closed']);
  expect(overlay.route).toMatchObject({ refusal: { code: 'own-network' } });
  recorded.collisions = [];
  overlay.networkChanged();
  await overlay.settled();
  expect(calls().at(-1)).toBe('connect a');
  expect(overlay.route).toEqual({});
});

test('a change of the network does not hurry an overlay that fails to come up', async () => {
  recorded.failNext('tunnel');
  await want(graphOf(['a']));
  overlay.networkChanged();
  await overlay.settled();
  expect(calls()).toEqual([]);
});

test('a host whose routes cannot be read keeps the block that is in use, and is asked again', async () => {
  await want(graphOf(['a']));
  const { platform } = recorded.parts;
  const { collisions } = platform;
  Object.assign(platform, { collisions: () => Promise.reject(new Error('ip failed')) });
  overlay.networkChanged();
  await overlay.settled();
  expect(calls()).toEqual([]);
  expect(troubles.map(({ message }) => message)).toEqual(['ip failed']);
  Object.assign(platform, { collisions });
  recorded.collisions = ['10.96.0.0/24 on wlan0'];
  await vi.advanceTimersByTimeAsync(1_500);
  expect(calls()).toEqual(['paths closed', 'tunnel closed', 'firewall closed']);
});

test('in another block paths begin anew, so that none leads to an endpoint inside it', async () => {
  await want(graphOf(['a']));
  const moved = await want(graphOf(['a'], inBlock('10.97.0.0/24', '10.97.0.5')));
  expect(moved).toEqual([
    'paths closed',
    'paths',
    'peers +[] -[key-a]',
    'address 10.97.0.5',
    'firewall of 10.97.0.5: in 0',
    'peers +[key-a@relay] -[]',
    'connect a',
  ]);
});

test('while its network is renumbered a node has both addresses, and the old one goes without a new beginning of paths', async () => {
  await want(graphOf(['a']));
  const former = { address: '10.96.0.1', cidr: '10.96.0.0/24' };
  const { self } = inBlock('10.97.0.0/24', '10.97.0.1');
  expect(await want(graphOf(['a'], { self: { ...self, former } }))).toEqual([
    'paths closed',
    'paths',
    'peers +[] -[key-a]',
    'address 10.97.0.1 10.96.0.1',
    'firewall of 10.97.0.1: in 0',
    'peers +[key-a@relay] -[]',
    'connect a',
  ]);
  expect(await want(graphOf(['a'], { self }))).toEqual([
    'address 10.97.0.1',
    'firewall of 10.97.0.1: in 0',
    'connect a',
  ]);
});

test('a block before a renumbering that this node does not route is left out, and the new one is in force', async () => {
  await want(graphOf(['a']));
  const former = { address: '11.0.0.1', cidr: '11.0.0.0/24' };
  const { self } = inBlock('10.97.0.0/24', '10.97.0.1');
  await want(graphOf(['a'], { self: { ...self, former } }));
  expect(overlay.up?.graph.self).toEqual(self);
  expect(overlay.route).toEqual({});
});

test('rules that go go although the tunnel takes no change, and peers are tried again', async () => {
  await want(graphOf(['a', 'b'], {}, oneRule));
  recorded.failNext('peers');
  expect(await want(graphOf(['a']))).toEqual(['peers +[] -[key-b]', 'firewall of 10.96.0.1: in 0']);
  expect(troubles.map(({ message }) => message)).toEqual(['peers failed']);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(calls()).toEqual(['peers +[] -[key-b]', 'connect a']);
});

test('after rules that were refused those before are put in force anew', async () => {
  await want(graphOf([], {}, oneRule));
  recorded.failNext('firewall');
  await want(graphOf([]));
  expect(await want(graphOf([], {}, oneRule))).toEqual(['firewall of 10.96.0.1: in 1', 'connect']);
});

test('another key goes to the interface that is there, and every peer gets its endpoint from the new paths', async () => {
  await want(graphOf(['a']));
  overlay.rekey(generateKeyPair());
  await overlay.settled();
  expect(calls()).toEqual([
    'paths closed',
    'key',
    'paths',
    'peers +[] -[key-a]',
    'peers +[key-a@relay] -[]',
    'connect a',
  ]);
});

test('of many graphs at once the last one counts', async () => {
  await want(graphOf([]));
  for (let version = 0; version < 100; version += 1) overlay.want(graphOf(['a', 'b', 'c'].slice(0, version % 4)));
  await overlay.settled();
  expect(calls().at(-1)).toBe('connect a,b,c');
  expect(calls()).toEqual([]);
});
