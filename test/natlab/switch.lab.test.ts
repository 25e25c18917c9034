import { expect, it } from 'vitest';
import { natlab } from '../kits/lab/natlab.ts';
import { type LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';

/** A cut direct path with traffic is on the relay after this time at the latest. */
const CUT_SECONDS = 1;

describePrivileged('a direct path under traffic', () => {
  it('is on the relay within a second of being cut, and direct again without a lost packet', async () => {
    await using lab = await natlab({ hosts: { one: {}, two: {} } });
    await using plane = await startLabPlane(lab);
    const { one, two } = await labNodes(lab, plane, ['one', 'two']);
    const { address } = await one.untilPeer('two', ({ path }) => path === 'direct');
    await two.untilPeer('one', ({ path }) => path === 'direct');

    // Under traffic before it is cut: an idle path is looked at less often.
    await answers(one, address, 50);
    const during = answers(one, address, 500);
    await lab.host('two').block('udp dport 51820');
    await one.untilPeer('two', ({ path }) => path === 'relayed', 10_000);
    const times = await during;
    expect(longestSilence(times)).toBeLessThan(CUT_SECONDS);
    expect(times.length).toBeGreaterThan(500 - CUT_SECONDS * 100);

    const back = answers(one, address, 800);
    await lab.host('two').unblock();
    await one.mesh(['ping', 'two', '--until-direct', '--timeout', '20']);
    await one.untilPeer('two', ({ path }) => path === 'direct', 20_000);
    expect((await back).length).toBe(800);
    const last = answers(one, address, 200);
    expect((await last).length).toBe(200);
  });
});

/** When each echo that came back did, in seconds, one sent every 10 ms. */
async function answers(node: LabNode, address: string, count: number): Promise<number[]> {
  return (await node.host.echoes(address, { count, intervalMs: 10 })).answeredAt;
}

function longestSilence(times: readonly number[]): number {
  return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
}
