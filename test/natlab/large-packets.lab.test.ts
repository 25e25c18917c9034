import { once } from 'node:events';
import { expect, it } from 'vitest';
import { natlab } from '../kits/lab/natlab.ts';
import { labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';

/** From when large packets are lost until the relay has them. */
const LEFT_MS = 5_000;
const BYTES = 4_000_000;
const PORT = 8_080;
const SERVER = `
  require('node:net').createServer((socket) => socket.on('error', () => {}).end(Buffer.alloc(${BYTES})))
    .listen(${PORT}, () => console.log('listening'));
`;
const CLIENT = `
  let bytes = 0;
  require('node:net').connect(${PORT}, process.argv[1]).on('data', (data) => { bytes += data.length; })
    .on('close', () => console.log(bytes));
`;

describePrivileged('a direct path that loses large packets', () => {
  it('is left for the relay within 5 s, says why, and is taken again once it carries them', async () => {
    await using lab = await natlab({ hosts: { one: {}, two: {} } });
    await using plane = await startLabPlane(lab);
    const { one, two } = await labNodes(lab, plane, ['one', 'two']);
    const { address } = await one.untilPeer('two', ({ path }) => path === 'direct');
    await two.untilPeer('one', ({ path }) => path === 'direct');
    const server = two.host.spawn(process.execPath, ['-e', SERVER]);
    await once(server.stdout as NodeJS.ReadableStream, 'data');
    const download = () => one.host.run('timeout', ['60', process.execPath, '-e', CLIENT, address]);
    expect(Number((await download()).stdout)).toBe(BYTES);

    for (const { host } of [one, two]) await host.block('meta l4proto udp meta length > 1300');
    const blockedAt = performance.now();
    const stalled = download();
    const peer = await one.untilPeer('two', ({ path }) => path === 'relayed', LEFT_MS);
    expect(performance.now() - blockedAt).toBeLessThan(LEFT_MS);
    expect(peer.reason).toEqual({
      code: 'large-packets',
      detail: 'Large packets are lost on the direct path; using the relay.',
    });
    expect(Number((await stalled).stdout)).toBe(BYTES);
    for (const command of [['status'], ['ping', 'two', '-c', '1']]) {
      expect((await one.mesh(command)).stdout).toContain('large packets are lost on the direct path; using the relay');
    }

    for (const { host } of [one, two]) await host.unblock();
    await one.untilPeer('two', ({ path }) => path === 'direct', 60_000);
    expect(Number((await download()).stdout)).toBe(BYTES);
    server.kill();
    await Promise.all([one.down(), two.down()]);
  });
});
