import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { natlab, PLANE_NAME } from '../kits/lab/natlab.ts';
import { labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';

/** Maximum for a netcheck without DNS, including a slow start of Node; glibc alone would wait for 10 s. */
const MOST_MS = 9_000;

describePrivileged('a host whose DNS server is away', () => {
  it('is told so by netcheck, which does not wait for it, and its node comes back to control plane and bus', async () => {
    await using lab = await natlab({ hosts: { one: {} } });
    await using plane = await startLabPlane(lab);
    const { one } = await labNodes(lab, plane, ['one']);
    await one.until(({ control }) => control.bus.isUp);
    await one.stop();
    const etc = `/etc/netns/${one.host.namespace}`;
    const hosts = readFileSync(`${etc}/hosts`, 'utf8').split('\n');
    writeFileSync(`${etc}/hosts`, hosts.filter((line) => !line.includes(PLANE_NAME)).join('\n'));
    writeFileSync(`${etc}/resolv.conf`, 'nameserver 198.51.100.77\noptions timeout:5 attempts:4\n');
    await one.host.block('udp dport 53');

    const begun = performance.now();
    const { code, stdout } = await one.mesh(['netcheck']);
    expect([code, stdout]).toEqual([1, expect.stringContaining(`DNS            no address of ${PLANE_NAME}: `)]);
    expect(performance.now() - begun).toBeLessThan(MOST_MS);

    one.start();
    const { control } = await one.until((status) => status.control.bus.isUp && status.control.heardAt !== null);
    expect(control).toMatchObject({ standing: 'ready', trouble: '' });
    expect(await one.stop()).toBe(0);
  });
});
