import { expect, it } from 'vitest';
import type { LabHost, LabSpec } from '../kits/lab/natlab.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { connectedLab, type PathsNode } from './paths-lab.ts';

/** What a pair without a direct path may miss when its relay restarts, and when it dies without a word. */
const DRAIN_MS = 1_000;
const LOSS_MS = 2_000;
const FLOOD_MS = 4_000;
const PATIENCE = { timeout: 15_000, interval: 50 };

const SPEC: LabSpec = {
  routers: { home: { nat: 'hard' }, cafe: { nat: 'hard' } },
  hosts: { a: { behind: 'home' }, b: { behind: 'cafe' }, eu: {}, us: {} },
};
const APART = ['eu', 'us'] as const;

describePrivileged('a pair without a direct path, and several relays', () => {
  it('agrees on one relay whichever is nearer to each, and goes on when it restarts and when the next one dies', async () => {
    await using lab = await connectedLab(SPEC, APART, async (built) => {
      for (const name of ['a', 'b']) await putFarAway(built.host(name), built.host('plane'));
      await putFarAway(built.host('a'), built.host('us'));
      await putFarAway(built.host('b'), built.host('eu'));
    });
    const [a, b] = [lab.node('a'), lab.node('b')];
    const first = await agreedOf(a, b, APART);
    expect([await nearestOf(a), await nearestOf(b)]).toEqual(['eu', 'us']);
    const second = first === 'eu' ? 'us' : 'eu';
    await expect.poll(() => isReady(second, a, b), PATIENCE).toBe(true);

    const restart = await during(a, b, 7_001, () => lab.relay(first).stopRelay());
    expect(restart).toBeLessThan(DRAIN_MS);
    expect(await agreedOf(a, b, [second])).toBe(second);
    await expect.poll(() => isReady('plane', a, b), PATIENCE).toBe(true);

    // Neither an end of the connections nor an answer.
    const death = await during(a, b, 7_002, () =>
      lab.lab
        .host(second)
        .block('tcp dport 6266')
        .then(() => lab.lab.host(second).block('tcp sport 6266')),
    );
    expect(death).toBeLessThan(LOSS_MS);
    expect(await agreedOf(a, b, ['plane'])).toBe('plane');
  });
});

/** The first SYN of each connection from one host to another is lost, so that it takes a second longer. */
function putFarAway(from: LabHost, to: LabHost): Promise<void> {
  const table = `lab_far_${to.name}`;
  return from.nft(`table inet ${table} {
 set seen { type inet_service; flags dynamic, timeout; timeout 60s; }
 chain out { type filter hook output priority -250;
  ip daddr ${to.address} tcp dport 6266 tcp flags & (syn | ack) == syn tcp sport != @seen add @seen { tcp sport } drop
 }
}
`);
}

/** The relay that both ends use, one of these. */
async function agreedOf(a: PathsNode, b: PathsNode, among: readonly string[]): Promise<string> {
  const used = async () => {
    const [[one], [two]] = [(await a.parts.relaysOfPeers()) ?? [], (await b.parts.relaysOfPeers()) ?? []];
    return one !== undefined && one === two && among.includes(one ?? '') ? one : undefined;
  };
  let found: string | null | undefined;
  await expect.poll(async () => (found = await used()), PATIENCE).toBeDefined();
  return found ?? '';
}

async function nearestOf({ parts }: PathsNode): Promise<string | undefined> {
  const measured = ((await parts.relays()) ?? []).filter(({ roundTripMs }) => roundTripMs !== null);
  return measured.sort((one, other) => (one.roundTripMs ?? 0) - (other.roundTripMs ?? 0))[0]?.name;
}

async function isReady(relay: string, ...nodes: PathsNode[]): Promise<boolean> {
  const views = await Promise.all(nodes.map(({ parts }) => parts.relays()));
  return views.every((all) => all?.some(({ name, state }) => name === relay && state === 'ready'));
}

/** @returns the longest silence, ms, of datagrams that come each millisecond, while something happens */
async function during(from: PathsNode, to: PathsNode, port: number, happens: () => Promise<unknown>): Promise<number> {
  await to.parts.countOn(port);
  const flood = from.parts.flood(to.address, port, FLOOD_MS);
  await expect.poll(async () => (await to.parts.counted())?.datagrams, PATIENCE).toBeGreaterThan(200);
  await happens();
  const { datagrams: before = 0 } = (await to.parts.counted()) ?? {};
  await flood;
  const counted = await to.parts.counted();
  expect(counted?.datagrams).toBeGreaterThan(before);
  return counted?.silenceMs ?? Number.POSITIVE_INFINITY;
}
