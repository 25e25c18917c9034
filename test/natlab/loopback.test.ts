import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { type LabHost, natlab } from '../natlab.ts';
import { describePrivileged } from '../privileged.ts';

const SCRIPT = path.join(import.meta.dirname, 'loopback-node.ts');

describePrivileged('the loopback endpoints of relayed peers', () => {
  it('tell a thousand peers apart, and are gone at the end', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    const a = lab.host('a');
    const { report, child } = await start(a, 51_820, 1_000);
    expect(report).toMatchObject({
      returned: 1_000,
      misplaced: 0,
      crossed: 0,
      endpoint: 'fd6c:7270::ca6c:1',
      shown: 'fd6c:7270::ca6c:1',
    });
    expect(report.admitMs).toBeLessThan(10_000);
    expect((await addresses(a)).length).toBe(1_000);
    child.stdin?.end();
    await once(child, 'exit');
    expect(await addresses(a)).toEqual([]);
  });

  it('that a crash left are taken away by the next agent, and nobody else is touched', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    const a = lab.host('a');
    const other = await start(a, 51_821, 2);
    const crashed = await start(a, 51_820, 3);
    crashed.child.kill('SIGKILL');
    await once(crashed.child, 'exit');
    expect((await addresses(a)).length).toBe(5);
    const next = await start(a, 51_820, 1);
    expect((await addresses(a)).sort()).toEqual(['fd6c:7270::ca6c:1', 'fd6c:7270::ca6d:1', 'fd6c:7270::ca6d:2']);
    for (const { child } of [other, next]) {
      child.stdin?.end();
      await once(child, 'exit');
    }
  });

  it('cannot be reached by a neighbour', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    const { child } = await start(lab.host('a'), 51_820, 1);
    const route = ['-6', 'route', 'add', 'fd6c:7270::/64', 'via', '2001:db8:1::10'];
    await lab.host('b').must('ip', route);
    expect((await lab.host('b').run('ping', ['-6', '-c1', '-W1', 'fd6c:7270::ca6c:1'])).code).toBe(1);
    child.stdin?.end();
    await once(child, 'exit');
  });

  it('lie in 127.77.0.0/16 on a host without IPv6, and are shown as the contract says', async () => {
    await using lab = await natlab({ hosts: { a: { family: 'ipv4' } } });
    const a = lab.host('a');
    await a.must('sh', ['-c', 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6']);
    const { report, child } = await start(a, 51_820, 300, { FAMILY: '4' });
    expect(report).toMatchObject({ returned: 300, misplaced: 0, endpoint: '127.77.0.1', shown: 'fd6c:7270::ca6c:1' });
    child.stdin?.end();
    await once(child, 'exit');
    expect(await a.must('ip', ['route', 'show', 'table', 'local'])).not.toContain('127.77');
  });
});

async function start(host: LabHost, port: number, peers: number, env: Readonly<Record<string, string>> = {}) {
  const child = host.spawn('node', [SCRIPT, String(port), String(peers)], env);
  let errors = '';
  child.stderr?.on('data', (data) => {
    errors += data;
  });
  if (!child.stdout) throw new Error('no output');
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close')]);
  if (line === undefined) throw new Error(`The loopback did not come up:\n${errors}`);
  return { child, report: JSON.parse(String(line)) };
}

async function addresses(host: LabHost): Promise<string[]> {
  const shown = await host.must('ip', ['-6', '-o', 'address', 'show', 'dev', 'lo']);
  return [...shown.matchAll(/(fd6c:7270::[0-9a-f:]+)\/128/g)].map(([, address = '']) => address);
}
