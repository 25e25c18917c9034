import { createInterface } from 'node:readline';
import { setTimeout as after } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { FirewallEntry, FirewallRules } from '../../core/model/graph.ts';
import { natlab } from '../../test/kits/lab/natlab.ts';
import { labParts } from '../../test/kits/lab/natlab-parts.ts';
import { describePrivileged } from '../../test/kits/lab/privileged.ts';

const NOW = Date.UTC(2026, 0, 5);
const TABLE = 'mesh_eth0';
const CHANGES = 20;
/** Time of one look at the table. */
const LOOK_MS = 5;
/** Generous, for machines with other work: without the watch nothing would put them back here. */
const RESTORED_MS = 20_000;

const rules = (entries: number): FirewallRules => ({
  in: Array.from(
    { length: entries },
    (_, index): FirewallEntry => ({
      cidr: `10.0.${index >> 8}.${index & 255}/32`,
      protocol: 'TCP',
      from: index + 1,
      to: index + 1,
    }),
  ),
  out: [],
});

/** A node's firewall as its agent keeps it, on a host of its own whose nftables is watched beside it. */
async function kept() {
  const lab = await natlab({ hosts: { a: {} } });
  const [host, parts] = [lab.host('a'), labParts(lab.host('a'), 'eth0')];
  await parts.keepFirewall(rules(1), NOW);
  const said: string[] = [];
  const monitor = host.spawn('nft', ['monitor', 'destroy']);
  if (monitor.stdout) createInterface({ input: monitor.stdout }).on('line', (line) => said.push(line));
  // It watches once it tells of something.
  while (said.length === 0) {
    await host.nft('add table inet other\ndelete table inet other\n');
    await after(LOOK_MS);
  }
  return {
    host,
    parts,
    /** The number of the last load that was seen. */
    loads: () =>
      Math.max(0, ...said.map((line) => Number(/^delete table inet mesh_eth0\/end\/\w+\/(\d+)/.exec(line)?.[1] ?? 0))),
    isWhole: async () =>
      /type filter hook input .*\n.*accept\n/.test((await host.run('nft', ['list', 'table', 'inet', TABLE])).stdout),
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  };
}

describePrivileged('a firewall that is watched', () => {
  it('takes none of its own changes for a removal, and loads each of them once', async () => {
    await using node = await kept();
    for (let change = 1; change <= CHANGES; change += 1) await node.parts.apply(rules(change * 50), NOW);
    await expect.poll(node.loads).toBe(CHANGES + 1);
    // A look that is asked for comes after whatever a change of its own would have caused.
    await node.parts.maintain();
    expect([await node.parts.restored(), node.loads(), await node.isWhole()]).toEqual([0, CHANGES + 1, true]);
    await node.parts.stopKeeping();
  });

  it('puts back what others remove while it loads its own rules', async () => {
    await using node = await kept();
    const slowest = [];
    for (let change = 1; change <= CHANGES; change += 1) {
      const applied = node.parts.apply(rules(2_000 + change), NOW);
      // Now before the load, now within it, now right after it.
      const removed = after(change * 2).then(() => node.host.must('nft', ['flush', 'ruleset']));
      const [{ elapsedMs }] = await Promise.all([applied, removed]);
      const from = performance.now();
      while (!(await node.isWhole())) await after(LOOK_MS);
      // They are loaded again: that takes as long as it just did.
      slowest.push(Math.round(performance.now() - from - elapsedMs));
    }
    expect(Math.max(...slowest)).toBeLessThan(RESTORED_MS);
    await node.parts.stopKeeping();
    expect(await node.host.must('nft', ['list', 'tables'])).toBe('');
  });
});
