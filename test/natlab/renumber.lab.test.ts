import { expect, it } from 'vitest';
import type { LabHost } from '../kits/lab/natlab.ts';
import { natlab } from '../kits/lab/natlab.ts';
import { type LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { type LabPlane, startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { freshDirectory } from '../kits/process/meshd.ts';
import { hostIn } from '../kits/process/set-clock.ts';

const ECHO = `require('node:net').createServer((s) => s.on('error', () => {}).pipe(s)).listen(7000, '0.0.0.0', () => console.log('up'))`;
/** Sends a line each 50 ms, and prints each that comes back. */
const talkTo = (address: string) => `
  const socket = require('node:net').connect(7000, '${address}');
  setInterval(() => socket.write('line\\n'), 50);
  socket.on('data', (data) => process.stdout.write(data)).on('error', () => process.exit(1));`;
/** Of a change that the control plane pushes, and of its return, on a busy machine. */
const PATIENCE_MS = 90_000;

/** A program on a host, and how much it has printed. */
function runs(host: LabHost, program: string) {
  const child = host.spawn(process.execPath, ['-e', program]);
  let bytes = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  return {
    bytes: () => bytes,
    /** Until it prints more than it has by now. */
    async goesOn(): Promise<void> {
      const before = bytes;
      await expect.poll(() => bytes, { timeout: PATIENCE_MS }).toBeGreaterThan(before);
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

async function renumber(plane: LabPlane, cidr: string): Promise<void> {
  const held = await plane.api('PUT', '/api/v1/networks/default', { spec: { cidr } });
  expect(held).toMatchObject({ status: 'pending_approval' });
  await plane.api('POST', `/api/v1/workflows/${held.workflow_id}/approve`);
}

const has = (node: LabNode, address: string) => node.until(({ node: own }) => own.address === address, PATIENCE_MS);
const addressesOf = async ({ host, interfaceName }: LabNode) => {
  const [link] = JSON.parse(await host.must('ip', ['-json', '-4', 'address', 'show', 'dev', interfaceName]));
  return link.addr_info.map(({ local }: { local: string }) => local).sort();
};

describePrivileged('a network that is renumbered', () => {
  it('is reached by old and new addresses, goes on where plane and node are killed meanwhile, and ends with the new ones', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {}, u: {} } });
    const clock = hostIn(freshDirectory());
    await using plane = await startLabPlane(lab, clock.env);
    const { a, b } = await labNodes(lab, plane, ['a', 'b'], (node) => node.up());
    const { u } = await labNodes(lab, plane, ['u'], (node) => node.start(['--userspace', '--proxy', '127.0.0.1:0']));
    using echo = runs(b.host, ECHO);
    await echo.goesOn();
    using talk = runs(a.host, talkTo('10.96.0.2'));
    await talk.goesOn();

    await renumber(plane, '10.97.0.0/24');
    await Promise.all([has(a, '10.97.0.1'), has(b, '10.97.0.2'), has(u, '10.97.0.3')]);
    for (const block of ['10.96.0', '10.97.0']) {
      expect([block, await a.host.reaches(`${block}.2`), await b.host.reaches(`${block}.1`)]).toEqual([
        block,
        true,
        true,
      ]);
      expect([block, await a.host.reaches(`${block}.3`)]).toEqual([block, true]);
    }
    // The first may be lost while the others move.
    expect(await u.must(['ping', 'b', '--count', '20'])).toMatch(/^b \(10\.97\.0\.2\)/m);
    await talk.goesOn();

    // Whoever begins again has both addresses too, and the sessions that there were.
    await plane.kill();
    process.kill((await b.status()).node.pid, 'SIGKILL');
    await b.up();
    await has(b, '10.97.0.2');
    expect(await addressesOf(b)).toEqual(['10.96.0.2', '10.97.0.2']);
    await talk.goesOn();
    // It ends what is over as soon as it is there again.
    clock.set('+11m');
    await plane.start();
    await expect.poll(() => addressesOf(a), { timeout: PATIENCE_MS }).toEqual(['10.97.0.1']);
    await expect.poll(() => addressesOf(b), { timeout: PATIENCE_MS }).toEqual(['10.97.0.2']);
    expect(await a.host.reaches('10.97.0.2')).toBe(true);
    expect(await a.host.reaches('10.97.0.3')).toBe(true);
    expect(await a.host.reaches('10.96.0.2', 1)).toBe(false);
    expect((await plane.api('GET', '/api/v1/networks/default')).status.former).toMatchObject({ phase: 'resting' });
    await Promise.all([a.down(), b.down(), u.stop()]);
  });
});
