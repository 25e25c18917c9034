import { expect, it } from 'vitest';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import { freshInterface } from '../../test/kits/lab/natlab.ts';
import { describePrivileged } from '../../test/kits/lab/privileged.ts';
import { linuxProcesses } from './process-table.ts';
import type { DeviceState } from './uapi.ts';
import { getDevice, setDevice } from './uapi-socket.ts';
import { getWithTool, setWithTool } from './wg-tool.ts';
import { startWireGuardGo } from './wireguard-go.ts';

const keys = Array.from({ length: 3 }, () => Buffer.from(generateKeyPair().publicKey).toString('base64'));
const [ONE = '', TWO = '', THREE = ''] = keys;
const peer = (publicKey: string, last: number, port?: number) => ({
  publicKey,
  allowedIps: [`10.96.0.${last}/32`],
  keepalive: 0,
  ...(port !== undefined && { endpoint: { address: '127.0.0.1', port } }),
});

const inOrder = ({ peers }: DeviceState) => peers.toSorted((a, b) => a.publicKey.localeCompare(b.publicKey));

/** `wg` speaks to the kernel and to wireguard-go alike: what it is told here is what it tells the kernel. */
describePrivileged('the wg tool', () => {
  it('does what the configuration socket does', async () => {
    const [tool, socket] = [freshInterface(), freshInterface()];
    const devices = [await startWireGuardGo(tool, linuxProcesses), await startWireGuardGo(socket, linuxProcesses)];
    try {
      const { privateKey } = generateKeyPair();
      const changes = [
        { privateKey, put: [peer(ONE, 1, 9), peer(TWO, 2, 9)] },
        { put: [peer(ONE, 7), peer(THREE, 2, 10)], removed: [TWO] },
        { endpoints: [[ONE, { address: '::1', port: 11 }]] as const },
        { endpoints: [[TWO, { address: '::1', port: 12 }]] as const },
        { privateKey: generateKeyPair().privateKey },
        { removed: [ONE, TWO] },
      ];
      for (const change of changes) {
        await setWithTool(tool, change);
        await setDevice(socket, change);
        const bySocket = inOrder(await getDevice(socket));
        expect(inOrder(await getDevice(tool))).toEqual(bySocket);
        expect(inOrder(await getWithTool(tool))).toEqual(bySocket);
      }
    } finally {
      await Promise.all(devices.map((device) => device.stop()));
    }
  });
});
