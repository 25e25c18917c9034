import { expect, it } from 'vitest';
import { natlab } from '../kits/lab/natlab.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';

describePrivileged('the lab', () => {
  it('lets everyone reach the plane, by name where there are two families', async () => {
    await using lab = await natlab({
      routers: { home: { nat: 'easy' }, office: { nat: 'hard' }, inner: { nat: 'easy', behind: 'home' } },
      hosts: {
        a: { behind: 'home' },
        b: { behind: 'office' },
        c: { behind: 'inner' },
        d: { family: 'ipv6' },
        e: { firewall: true },
      },
    });
    const pings = ['a', 'b', 'c', 'd', 'e'].map(async (name) => {
      const family = name === 'd' ? '-6' : '-4';
      return (await lab.host(name).run('ping', [family, '-c1', '-W2', 'plane.test'])).code;
    });
    expect(await Promise.all(pings)).toEqual([0, 0, 0, 0, 0]);
  });

  it('hides what is behind a router', async () => {
    await using lab = await natlab({ routers: { home: { nat: 'easy' } }, hosts: { a: { behind: 'home' }, b: {} } });
    await lab.host('b').must('ip', ['route', 'add', '192.168.1.0/24', 'via', '198.51.100.101']);
    expect(await lab.host('b').ping('192.168.1.10')).toEqual({ sent: 1, received: 0 });
    expect(await lab.host('a').ping('198.51.100.11')).toEqual({ sent: 1, received: 1 });
  });

  it('blocks what it is told to until it is told otherwise', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    const answered = async () => (await lab.host('a').ping('198.51.100.11')).received;
    await lab.host('b').block('meta l4proto icmp');
    expect(await answered()).toBe(0);
    await lab.host('b').unblock();
    expect(await answered()).toBe(1);
  });
});
