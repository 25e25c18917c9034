import { expect, it } from 'vitest';
import { type LabHost, natlab } from '../kits/lab/natlab.ts';
import { base64, labParts } from '../kits/lab/natlab-parts.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';

describePrivileged('the loopback endpoints of relayed peers', () => {
  it('tell a thousand peers apart, and are gone at the end', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    const a = lab.host('a');
    const agent = labParts(a);
    const report = await agent.openLoopback(51_820, 1_000);
    expect(report).toMatchObject({
      returned: 1_000,
      misplaced: 0,
      crossed: 0,
      endpoint: 'fd6c:7270::ca6c:1',
      shown: 'fd6c:7270::ca6c:1',
    });
    expect(report.admitMs).toBeLessThan(10_000);
    expect((await addresses(a)).length).toBe(1_000);
    await agent.closeLoopback();
    expect(await addresses(a)).toEqual([]);
  });

  it('that a crash left are taken away by the next agent, and nobody else is touched', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    const a = lab.host('a');
    const [other, crashed] = [labParts(a), labParts(a)];
    await other.openLoopback(51_821, 2);
    await crashed.openLoopback(51_820, 3);
    await crashed.kill();
    expect((await addresses(a)).length).toBe(5);
    await labParts(a).openLoopback(51_820, 1);
    expect((await addresses(a)).sort()).toEqual(['fd6c:7270::ca6c:1', 'fd6c:7270::ca6d:1', 'fd6c:7270::ca6d:2']);
  });

  it('hand WireGuard no handshake initiation twice', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    const agent = labParts(lab.host('a'));
    await agent.openLoopback(51_820, 1);
    const initiation = (mark: number) => base64(Buffer.alloc(148, mark).fill(1, 0, 1));
    const data = (mark: number) => base64(Buffer.alloc(148, mark).fill(4, 0, 1));
    const sent = [initiation(7), initiation(7), data(7), data(7), initiation(8), initiation(8), data(9)];
    const got = [initiation(7), data(7), data(7), initiation(8), data(9)];
    expect(await agent.deliverByLoopback(sent)).toEqual(got);
  });

  it('cannot be reached by a neighbour', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await labParts(lab.host('a')).openLoopback(51_820, 1);
    const route = ['-6', 'route', 'add', 'fd6c:7270::/64', 'via', '2001:db8:1::10'];
    await lab.host('b').must('ip', route);
    const ping = () => lab.host('b').ping('fd6c:7270::ca6c:1');
    expect(await ping()).toEqual({ sent: 1, received: 0 });
    await lab.host('a').must('nft', ['delete', 'table', 'inet', 'mesh_relay_51820']);
    expect(await ping()).toEqual({ sent: 1, received: 1 });
  });

  it('lie in 127.77.0.0/16 on a host without IPv6, and are shown as the contract says', async () => {
    await using lab = await natlab({ hosts: { a: { family: 'ipv4' } } });
    const a = lab.host('a');
    await a.must('sh', ['-c', 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6']);
    const agent = labParts(a);
    const report = await agent.openLoopback(51_820, 300, 'ipv6', 'ipv4');
    expect(report).toMatchObject({ returned: 300, misplaced: 0, endpoint: '127.77.0.1', shown: 'fd6c:7270::ca6c:1' });
    await agent.closeLoopback();
    expect(await a.must('ip', ['route', 'show', 'table', 'local'])).not.toContain('127.77');
  });

  it('of IPv4 stay with one node of a host when another ends', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    const a = lab.host('a');
    const [ending, staying] = [labParts(a), labParts(a)];
    for (const [agent, port] of [[ending, 51_820] as const, [staying, 51_821] as const]) {
      const expected = { returned: 2, misplaced: 0, endpoint: '127.77.0.1' };
      expect(await agent.openLoopback(port, 2, 'ipv4')).toMatchObject(expected);
    }
    await ending.closeLoopback();
    expect(await a.must('ip', ['route', 'get', '127.77.0.1'])).toContain('src 127.77.0.1');
  });

  it('of IPv4 cannot be reached by a neighbour, even where 127/8 is routed', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await labParts(lab.host('a')).openLoopback(51_820, 1, 'ipv4');
    for (const name of ['a', 'b']) await lab.host(name).must('sysctl', ['-qw', 'net.ipv4.conf.all.route_localnet=1']);
    await lab.host('b').must('ip', ['route', 'delete', 'table', 'local', 'local', '127.0.0.0/8', 'dev', 'lo']);
    await lab.host('b').must('ip', ['route', 'add', '127.77.0.0/16', 'via', lab.host('a').address ?? '']);
    const ping = () => lab.host('b').ping('127.77.0.1');
    expect(await ping()).toEqual({ sent: 1, received: 0 });
    await lab.host('a').must('nft', ['delete', 'table', 'inet', 'mesh_relay_51820']);
    expect(await ping()).toEqual({ sent: 1, received: 1 });
  });
});

async function addresses(host: LabHost): Promise<string[]> {
  const shown = await host.must('ip', ['-6', '-o', 'address', 'show', 'dev', 'lo']);
  return [...shown.matchAll(/(fd6c:7270::[0-9a-f:]+)\/128/g)].map(([, address = '']) => address);
}
