import { expect, it } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import { UDP } from '../netstack/connection.ts';
import { Netstack } from '../netstack/netstack.ts';
import { TUNNEL_MTU } from '../tunnel/mtu.ts';
import type { Tunnel } from '../tunnel/tunnel.ts';
import { UserspaceOverlay } from './userspace-overlay.ts';

const ADDRESS = '10.96.0.1';

function open({ parts }: UserspaceOverlay): Promise<Tunnel> {
  const { privateKey } = generateKeyPair();
  const common = { interfaceName: 'mesh0', cidr: '10.96.0.0/24', mtu: TUNNEL_MTU, log: silentLog };
  return parts.platform.open({ ...common, privateKey, listenPort: 0, address: ADDRESS });
}

/** Connects from the node to itself. @returns the first bytes */
function greetingAt(overlay: UserspaceOverlay, port: number): Promise<string> {
  const connection = overlay.node?.connect({ address: ADDRESS, port });
  return new Promise((resolve, reject) => {
    connection?.once('error', reject).once('data', (bytes) => {
      connection.destroy();
      resolve(`${bytes}`);
    });
  });
}

it('serves its ports again after the thread of the stack was lost, but for those that ended', async () => {
  const overlay = new UserspaceOverlay(new Netstack());
  await expect(overlay.listen(80, () => {})).rejects.toThrow('is down');
  const first = await open(overlay);
  expect(first.listenPort).toBeGreaterThan(0);
  await overlay.listen(80, (connection) => connection.on('error', () => {}).write('hello'));
  const stop = await overlay.listen(81, () => {});
  await overlay.listen(80, (flow) => flow.on('error', () => {}).write('hello by UDP'), UDP);
  await expect(overlay.listen(80, () => {}, UDP)).rejects.toThrow('is served already');
  await expect(overlay.listen(80, () => {})).rejects.toThrow('is served already');
  expect(await greetingAt(overlay, 80)).toBe('hello');
  stop();
  await overlay.node?.thread.terminate();
  await first.ended;
  const second = await open(overlay);
  try {
    expect(await greetingAt(overlay, 80)).toBe('hello');
    await expect(greetingAt(overlay, 81)).rejects.toThrow('refused');
    const flow = overlay.node?.connect({ address: ADDRESS, port: 80 }, UDP);
    flow?.on('error', () => {}).write('anything');
    expect(`${await new Promise((resolve) => flow?.once('data', resolve))}`).toBe('hello by UDP');
  } finally {
    await second.close();
  }
});
