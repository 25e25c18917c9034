import { once } from 'node:events';
import { expect, it } from 'vitest';
import type { LabHost } from '../kits/lab/natlab.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { connectedLab } from './paths-lab.ts';

/** Of the stream; each side sends some 5 checks and answers a second. */
const SECONDS = 15;
/** How long Linux waits for more datagrams to coalesce: what it does for network cards that interrupt as rarely. */
const COALESCE_NS = 200_000;
/** Without the rule that keeps checks apart it was 1 of 20, of some 150. */
const MOST_LOST = 2;
const IS_CHECK = '@th,96,32 0x2112a442';

describePrivileged('checks where Linux coalesces datagrams on arrival', () => {
  it('reach the agent between the packets of a stream', async () => {
    await using lab = await connectedLab({ hosts: { a: { family: 'ipv4' }, b: { family: 'ipv4' } } });
    const [a, b] = [lab.node('a'), lab.node('b')];
    for (const { host } of [a, b]) {
      await host.must('ethtool', ['-K', 'eth0', 'gro', 'on', 'tx-udp-segmentation', 'off']);
      await host.must('sh', ['-c', `echo ${COALESCE_NS} > /sys/class/net/eth0/gro_flush_timeout`]);
    }
    const ports = 'cd /sys/class/net && for port in p*; do ethtool -K $port tso off; done';
    await lab.lab.host('internet').must('sh', ['-c', ports]);
    await Promise.all([
      a.untilStatus('b', ({ path }) => path === 'direct'),
      b.untilStatus('a', ({ path }) => path === 'direct'),
    ]);
    for (const { host } of [a, b]) await countChecks(host);

    const server = b.host.spawn('iperf3', ['-s', '-1', '-B', b.address, '--forceflush']);
    if (server.stdout) await once(server.stdout, 'data');
    await a.host.must('iperf3', ['-c', b.address, '-t', `${SECONDS}`], { timeoutMs: 30_000 });

    const counted = await Promise.all([counts(a.host), counts(b.host)]);
    expect(counted[1].coalesced).toBeGreaterThan(1_000);
    const [sent, received] = (['sent', 'received'] as const).map((what) => counted[0][what] + counted[1][what]);
    expect(sent).toBeGreaterThan(5 * SECONDS);
    expect((sent ?? 0) - (received ?? 0)).toBeLessThanOrEqual(MOST_LOST);
  });
});

/** Behind the rule that changes the port of what leaves, before that of what arrives. */
async function countChecks(host: LabHost): Promise<void> {
  await host.nft(`table inet lab_checks {
 chain sent { type filter hook output priority 0; udp sport 51820 ${IS_CHECK} counter
 }
 chain received { type filter hook input priority 0; udp dport 51820 ${IS_CHECK} counter
 }
 chain coalesced { type filter hook input priority 0; udp dport 51820 meta length > 2000 counter
 }
}
`);
}

async function counts(host: LabHost): Promise<{ sent: number; received: number; coalesced: number }> {
  const listed = await host.must('nft', ['list', 'table', 'inet', 'lab_checks']);
  const [sent = 0, received = 0, coalesced = 0] = [...listed.matchAll(/packets (\d+)/g)].map(([, n]) => Number(n));
  return { sent, received, coalesced };
}
