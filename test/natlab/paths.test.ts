import { expect, it } from 'vitest';
import { describePrivileged } from '../privileged.ts';
import { connectedLab } from './paths-lab.ts';

describePrivileged('paths between real tunnels', () => {
  it('neighbours reach each other directly', async () => {
    await using lab = await connectedLab({
      routers: { home: { nat: 'easy' } },
      hosts: { a: { behind: 'home' }, b: { behind: 'home' } },
    });
    const [a, b] = [lab.node('a'), lab.node('b')];
    await Promise.all([
      a.untilStatus('b', ({ path }) => path === 'direct'),
      b.untilStatus('a', ({ path }) => path === 'direct'),
    ]);
    const ping = await a.host.run('ping', ['-c3', '-i0.2', '-W1', b.address]);
    expect(ping.stdout).toContain(' 0% packet loss');
  });
});
