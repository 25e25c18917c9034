import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { FirewallEntry, FirewallRules } from '../../../core/model/graph.ts';
import { NOW } from '../../../core/reachability/models.testkit.ts';
import { OPEN, type TestNode, testNodes } from '../../netstack/nodes.testkit.ts';
import { addressOf, HOSTS, model, NOTHING, type Probe, ports, probesOf, rulesOf } from '../verdicts.testkit.ts';

const POLICY_SETS = process.env['MESH_LONG'] ? 100 : 3;
/** Nothing but a barrier: what was sent to a node before it answers here has been judged. */
const BARRIER_PORT = 9;
/** No answer may take this long. */
const PATIENCE_MS = 20_000;

function withBarrier(rules: FirewallRules, sources: readonly string[]): FirewallRules {
  const entries = sources.map(
    (source): FirewallEntry => ({ cidr: `${source}/32`, protocol: 'TCP', from: BARRIER_PORT, to: BARRIER_PORT }),
  );
  return { ...rules, in: [...rules.in, ...entries] };
}

/** Resolves with whether a connection came about; the abort takes an unanswered one back. */
function connects(from: TestNode, address: string, port: number, until: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = from.stack.connect({ address, port });
    const end = (isOpen: boolean) => {
      connection.destroy();
      resolve(isOpen);
    };
    connection.on('connect', () => end(true));
    connection.on('error', () => end(false));
    until.addEventListener('abort', () => end(false));
  });
}

it('lets through exactly what the engine says, judged by the opener and by the other end alone', {
  timeout: 120_000,
}, async () => {
  await using net = await testNodes(HOSTS.length, NOW);
  const nodeOf = (name: string) => net.nodes[HOSTS.indexOf(name)] as TestNode;
  for (const node of net.nodes) {
    for (const port of [...ports, BARRIER_PORT]) await node.stack.listen(port, (connection) => connection.destroy());
  }
  const counts = { allowed: 0, denied: 0 };
  for (const sample of fc.sample(model, POLICY_SETS)) {
    const { reachability, rules } = rulesOf(sample);
    const probes = probesOf(reachability).filter(({ protocol }) => protocol === 'TCP');
    for (const judge of HOSTS) {
      for (const name of HOSTS) await nodeOf(name).apply(OPEN);
      await nodeOf(judge).apply(withBarrier(rules.get(judge) ?? NOTHING, HOSTS.map(addressOf)));
      const some = probes.filter(({ src, dst }) => src === judge || dst === judge);
      const answers = await Promise.all(some.map((probe) => isOpen(nodeOf(probe.src), probe, judge)));
      const wrong = some.filter(({ isAllowed }, index) => answers[index] !== isAllowed);
      expect(wrong).toEqual([]);
      counts.allowed += some.filter(({ isAllowed }) => isAllowed).length;
      counts.denied += some.filter(({ isAllowed }) => !isAllowed).length;
    }
  }
  expect(Math.min(counts.allowed, counts.denied)).toBeGreaterThan(POLICY_SETS);
});

async function isOpen(from: TestNode, { src, address, port, isAllowed }: Probe, judge: string): Promise<boolean> {
  // The opener's own firewall answers at once.
  if (src === judge || isAllowed) return connects(from, address, port, AbortSignal.timeout(PATIENCE_MS));
  const ending = new AbortController();
  const answer = connects(from, address, port, ending.signal);
  expect(await connects(from, address, BARRIER_PORT, AbortSignal.timeout(PATIENCE_MS))).toBe(true);
  ending.abort();
  return answer;
}

it('ends an established connection when its permission goes, and no other', async () => {
  await using net = await testNodes(2);
  const [a, b] = net.nodes as [TestNode, TestNode];
  await Promise.all([a.apply(OPEN), b.apply(OPEN)]);
  for (const port of [80, 81]) await b.stack.listen(port, (connection) => connection.on('error', () => {}).resume());
  const [first, second] = [80, 81].map((port) => a.stack.connect({ address: b.address, port }));
  await Promise.all([first, second].map((one) => new Promise((resolve) => one?.once('connect', resolve))));
  const failure = new Promise((resolve) => first?.once('error', resolve));
  const only81: FirewallRules = { in: [], out: [{ cidr: `${b.address}/32`, protocol: 'TCP', from: 81, to: 81 }] };
  await a.apply(only81);
  expect(await failure).toMatchObject({ code: 'EACCES' });
  expect(second?.destroyed).toBe(false);
  second?.destroy();
  expect(await a.stack.ping(b.address, 1_000)).toBe('policy');
});

it('lets nothing through before it has rules', async () => {
  await using net = await testNodes(2);
  const [a, b] = net.nodes as [TestNode, TestNode];
  expect(await a.stack.ping(b.address, 1_000)).toBe('policy');
  await a.apply(OPEN);
  await b.apply(OPEN);
  expect(await a.stack.ping(b.address, 20_000)).toBeTypeOf('number');
});
