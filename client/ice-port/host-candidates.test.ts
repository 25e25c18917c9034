import type { NetworkInterfaceInfo } from 'node:os';
import { expect, test } from 'vitest';
import { parseCidr } from '../../core/model/cidr.ts';
import { hostCandidates, mainFamily } from './host-candidates.ts';

const EVERYWHERE = { overlayInterface: 'mesh0', overlay: [], port: 1 };
const OVERLAY = [parseCidr('10.96.0.0/24')].flatMap((range) => range ?? []);

function info(address: string, internal = false): NetworkInterfaceInfo {
  return { address, internal, netmask: '', mac: '', cidr: null, family: 'IPv4' } as NetworkInterfaceInfo;
}

test('addresses that another host could reach are named, those of bridges, links and the overlay are not', () => {
  const interfaces = {
    lo: [info('127.0.0.1', true), info('fd6c:7270::1', true)],
    eth0: [info('192.0.2.7'), info('2001:db8::7'), info('fe80::1')],
    docker0: [info('172.17.0.1')],
    'br-12ab': [info('172.18.0.1')],
    veth3: [info('169.254.3.4')],
    mesh0: [info('10.96.0.2')],
    other: [info('10.96.0.9')],
  };
  const found = hostCandidates(interfaces, { overlayInterface: 'mesh0', overlay: OVERLAY, port: 51_820 });
  expect(found.map(({ type, address, port }) => `${type} ${address} ${port}`)).toEqual([
    'host 192.0.2.7 51820',
    'host 2001:db8::7 51820',
  ]);
});

test('a host with many addresses names eight', () => {
  const many = Array.from({ length: 50 }, (_, n) => info(`192.0.2.${n + 1}`));
  expect(hostCandidates({ eth0: many }, EVERYWHERE)).toHaveLength(8);
});

test('a host that can use one family alone uses IPv4, unless it has IPv6 alone', () => {
  const of = (...addresses: string[]) =>
    mainFamily(hostCandidates({ eth0: addresses.map((address) => info(address)) }, EVERYWHERE));
  expect([of('192.0.2.7', '2001:db8::7'), of('2001:db8::7'), of('2001:db8::7', '169.254.1.1'), of()]).toEqual([
    'ipv4',
    'ipv6',
    'ipv6',
    'ipv4',
  ]);
});
