import { expect, it } from 'vitest';
import { verifies } from '../../test/verifies.ts';
import { type HostFacts, obstaclesOf } from './obstacles.ts';

const EVERYTHING: HostFacts = {
  userId: 0,
  effectiveCapabilities: '000001ffffffffff',
  isContainer: false,
  hasKernelWireGuard: false,
  hasTunDevice: true,
  programs: new Set(['ip', 'nft', 'wireguard-go']),
};
const CONTAINER =
  'Start the container with --privileged, or with --cap-add NET_ADMIN --device /dev/net/tun, and run it there again.';

it('finds none where everything is there', () => {
  expect(obstaclesOf(EVERYTHING)).toEqual([]);
  expect(
    obstaclesOf({
      ...EVERYTHING,
      hasKernelWireGuard: true,
      hasTunDevice: false,
      programs: new Set(['ip', 'nft', 'wg']),
    }),
  ).toEqual([]);
});

it('asks for superuser rights before anything that only they can tell', () => {
  const facts = { ...EVERYTHING, userId: 1000, effectiveCapabilities: '0000000000000000', hasTunDevice: false };
  expect(obstaclesOf(facts)).toEqual([
    { missing: 'superuser rights', remedy: 'Run it as root, for example with sudo.' },
  ]);
});

it('tells a container to start privileged, for each thing it lacks', () => {
  verifies('cli-privileged');
  // Capabilities that Docker gives a container that is not privileged.
  const facts = { ...EVERYTHING, isContainer: true, effectiveCapabilities: '00000000a80425fb', hasTunDevice: false };
  expect(obstaclesOf(facts)).toEqual([
    { missing: 'the capability CAP_NET_ADMIN', remedy: CONTAINER },
    { missing: 'the device /dev/net/tun (and the kernel has no WireGuard)', remedy: CONTAINER, isOfDevice: true },
  ]);
});

it('says how a host gets the device', () => {
  expect(obstaclesOf({ ...EVERYTHING, hasTunDevice: false })).toEqual([
    {
      missing: 'the device /dev/net/tun (and the kernel has no WireGuard)',
      remedy: 'Load the kernel module: modprobe tun',
      isOfDevice: true,
    },
  ]);
});

it('names the package of each program that is missing, and only those needed', () => {
  expect(obstaclesOf({ ...EVERYTHING, programs: new Set() })).toEqual([
    { missing: 'the program ip', remedy: 'Install it; on Debian: apt-get install iproute2' },
    { missing: 'the program nft', remedy: 'Install it; on Debian: apt-get install nftables' },
    { missing: 'the program wireguard-go', remedy: 'Install it; on Debian: apt-get install wireguard-go' },
  ]);
  expect(obstaclesOf({ ...EVERYTHING, hasKernelWireGuard: true, programs: new Set(['ip', 'nft']) })).toEqual([
    { missing: 'the program wg', remedy: 'Install it; on Debian: apt-get install wireguard-tools' },
  ]);
});
