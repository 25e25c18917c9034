import { setTimeout as after } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { FirewallEntry } from '../../core/model/graph.ts';
import { natlab } from '../kits/lab/natlab.ts';
import { labParts } from '../kits/lab/natlab-parts.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';

const NOW = Date.UTC(2026, 0, 5);
const [A, B] = ['198.51.100.10', '198.51.100.11'];
const [OPEN_PORT, DENIED_PORT] = [5_000, 5_001];
const FLUSHES = 5;
const BETWEEN_MS = 300;
/** Of the aim, with a machine that has other work. */
const RESTORED_MS = 1_000;
const MANY = 10_000;
const isLong = process.env['MESH_LONG'] === '1';

const permit = (address: string, port: number): FirewallEntry => ({
  cidr: `${address}/32`,
  protocol: 'UDP',
  from: port,
  to: port,
});
const others = Array.from({ length: MANY - 1 }, (_, index) => permit(`10.0.${index >> 8}.${index & 255}`, 53));

/** A flood to a permitted and to a denied port, from `a` to `b`, whose firewall something removes meanwhile. */
async function flooded(rules: readonly FirewallEntry[], remove: readonly string[]) {
  await using lab = await natlab({ hosts: { a: {}, b: {} } });
  const [a, b, counter] = [labParts(lab.host('a')), labParts(lab.host('b'), 'eth0'), labParts(lab.host('b'))];
  await b.keepFirewall({ in: rules, out: [] }, NOW);
  await b.countOn(OPEN_PORT);
  await counter.countOn(DENIED_PORT);
  const forMs = (FLUSHES + 2) * BETWEEN_MS;
  const flood = Promise.all([a.flood(B, OPEN_PORT, forMs), a.flood(B, DENIED_PORT, forMs)]);
  for (let flush = 0; flush < FLUSHES; flush += 1) {
    await after(BETWEEN_MS);
    await lab.host('b').must('nft', remove);
  }
  await flood;
  const seen = { open: await b.counted(), denied: await counter.counted(), restored: await b.restored() };
  await b.stopKeeping();
  const left = await lab.host('b').must('nft', ['list', 'tables']);
  if (isLong) console.log(remove.join(' '), rules.length, JSON.stringify(seen));
  return { ...seen, left };
}

describePrivileged('the firewall of a node whose host loads another', () => {
  it.each([
    ['flush ruleset', ['flush', 'ruleset']],
    ['flush table', ['flush', 'table', 'inet', 'mesh_eth0']],
    ['delete table', ['delete', 'table', 'inet', 'mesh_eth0']],
  ])('lets no denied packet in while %s takes it away, and is back in force at once', async (_, remove) => {
    const { open, denied, restored, left } = await flooded([permit(A, OPEN_PORT)], remove);
    expect([denied?.datagrams, restored, left]).toEqual([0, FLUSHES, '']);
    expect(open?.silenceMs).toBeLessThan(RESTORED_MS);
  });

  it('does so with ten thousand entries', async () => {
    const { open, denied } = await flooded([...others, permit(A, OPEN_PORT)], ['flush', 'ruleset']);
    expect([denied?.datagrams, (open?.datagrams ?? 0) > 0]).toEqual([0, true]);
  });
});
