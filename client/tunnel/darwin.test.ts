import { expect, it } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { verifies } from '../../test/verifies.ts';
import type { Place } from '../places.ts';
import { macTunnels } from './darwin.ts';
import type { Device } from './device.ts';
import type { DeviceChange } from './uapi.ts';

const OPTIONS = {
  interfaceName: 'utun96',
  privateKey: Buffer.alloc(32, 1),
  listenPort: 0,
  address: '10.96.0.7',
  cidr: '10.96.0.0/24',
  mtu: 1280,
  log: silentLog,
};

/** A Mac whose programs answer as in `answers`, and otherwise without a word. */
function mac(answers: Readonly<Record<string, { code: number; stdout?: string; stderr?: string }>> = {}) {
  const did: string[] = [];
  const device: Device = {
    kind: 'wireguard-go',
    mixesFamilies: false,
    set: async (change: DeviceChange) => void did.push(`set ${Object.keys(change).join(',')}`),
    get: async () => ({ listenPort: 51_820, publicKey: null, peers: [] }),
    ended: Promise.withResolvers<string>().promise,
    remove: async () => void did.push('remove'),
  };
  const tunnels = macTunnels({
    run: async (file, args) => {
      const line = [file, ...args].join(' ');
      did.push(line);
      return { code: 0, stdout: '', stderr: '', ...answers[line] };
    },
    userId: () => 0,
    startDevice: async (name) => {
      did.push(`start ${name}`);
      return device;
    },
    recoverDevice: async (name) => void did.push(`recover ${name}`),
  });
  return { did, tunnels };
}

const ABSENT = { 'ifconfig utun96': { code: 1, stderr: 'ifconfig: interface utun96 does not exist' } };

it('brings up an interface with its address and the route of the overlay alone', async () => {
  const { did, tunnels } = mac(ABSENT);
  const tunnel = await tunnels.open(OPTIONS);
  expect(did).toEqual([
    'ifconfig utun96',
    'start utun96',
    'set privateKey,listenPort',
    'ifconfig utun96 inet 10.96.0.7/32 10.96.0.7 alias',
    'ifconfig utun96 mtu 1280 up',
    'route -q -n add -inet 10.96.0.0/24 -interface utun96',
  ]);
  did.length = 0;
  const [old, present] = ['10.96', '10.97'].map((net) => ({ address: `${net}.0.7`, cidr: `${net}.0.0/24` })) as [
    Place,
    Place,
  ];
  await tunnel.setPlaces([present, old]);
  expect(did.splice(0)).toEqual([
    'ifconfig utun96 inet 10.97.0.7/32 10.97.0.7 alias',
    'route -q -n add -inet 10.97.0.0/24 -interface utun96',
  ]);
  await tunnel.setPlaces([present]);
  await tunnel.close();
  expect(did).toEqual([
    'route -q -n delete -inet 10.96.0.0/24 -interface utun96',
    'ifconfig utun96 inet 10.96.0.7 -alias',
    'remove',
  ]);
});

it('refuses to run beside another client, and touches nothing', async () => {
  verifies('cli-one-mac-client');
  const flags = 'utun96: flags=8051<UP,POINTOPOINT,RUNNING,MULTICAST> mtu 1280\n';
  const { did, tunnels } = mac({ 'ifconfig utun96': { code: 0, stdout: flags } });
  await expect(tunnels.open(OPTIONS)).rejects.toThrow(
    'Another Mesh client holds the interface utun96, perhaps the Mesh application: only one can run on a Mac at a time.',
  );
  expect(did).toEqual(['ifconfig utun96']);
});

it('takes away what it made when a step fails', async () => {
  const command = 'route -q -n add -inet 10.96.0.0/24 -interface utun96';
  const { did, tunnels } = mac({
    ...ABSENT,
    [command]: { code: 1, stderr: 'route: writing to routing socket: File exists' },
  });
  await expect(tunnels.open(OPTIONS)).rejects.toThrow(
    `${command} failed: route: writing to routing socket: File exists`,
  );
  expect(did.at(-1)).toBe('remove');
});

it('takes only names that macOS takes', async () => {
  const { tunnels } = mac(ABSENT);
  const message = 'macOS takes no tunnel named mesh0: it needs utun and a number, as --interface utun96.';
  await expect(tunnels.open({ ...OPTIONS, interfaceName: 'mesh0' })).rejects.toThrow(message);
  await expect(tunnels.recover('mesh0')).rejects.toThrow(message);
});

it('names the overlay routes of another client', async () => {
  const table = 'Destination Gateway Flags Netif Expire\n10.96/24 utun4 USc utun4\n';
  const { tunnels } = mac({ 'netstat -rn -f inet': { code: 0, stdout: table } });
  expect(await tunnels.collisions('10.96.0.0/24', 'utun96')).toEqual(['10.96/24 on utun4']);
});

it('says what is missing', async () => {
  const { tunnels } = mac({ 'wireguard-go --version': { code: 1 } });
  expect(await tunnels.obstacles()).toEqual([
    { missing: 'the program wireguard-go', remedy: 'Install it: brew install wireguard-go' },
  ]);
});
