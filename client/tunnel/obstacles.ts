import type { Obstacle } from './tunnel.ts';

export interface HostFacts {
  readonly userId: number;
  /** The line `CapEff` of /proc/self/status, in hex. */
  readonly effectiveCapabilities: string;
  readonly isContainer: boolean;
  readonly hasKernelWireGuard: boolean;
  /** True where /dev/net/tun can be opened. */
  readonly hasTunDevice: boolean;
  readonly programs: ReadonlySet<string>;
}

/** Debian's package of each program that is called. */
const PACKAGES = {
  ip: 'iproute2',
  nft: 'nftables',
  wg: 'wireguard-tools',
  'wireguard-go': 'wireguard-go',
} as const;
export const PROGRAMS = Object.keys(PACKAGES) as (keyof typeof PACKAGES)[];

/** Bit of a set of capabilities, capabilities(7). */
const CAP_NET_ADMIN = 12n;
const IN_CONTAINER =
  'Start the container with --privileged, or with --cap-add NET_ADMIN --device /dev/net/tun, and run it there again.';

/** All that is missing, so that the user does not find one after the other. */
export function obstaclesOf(host: HostFacts): Obstacle[] {
  const needed = ['ip', 'nft', host.hasKernelWireGuard ? 'wg' : 'wireguard-go'] as const;
  const elsewhere = (remedy: string) => (host.isContainer ? IN_CONTAINER : remedy);
  const isRoot = host.userId === 0;
  return [
    ...(isRoot ? [] : [{ missing: 'superuser rights', remedy: 'Run it as root, for example with sudo.' }]),
    ...(isRoot && !mayAdministerNetworks(host.effectiveCapabilities)
      ? [
          {
            missing: 'the capability CAP_NET_ADMIN',
            remedy: elsewhere('Run it as root with all capabilities.'),
          },
        ]
      : []),
    ...(!host.hasKernelWireGuard && !host.hasTunDevice && isRoot
      ? [
          {
            missing: 'the device /dev/net/tun (and the kernel has no WireGuard)',
            remedy: elsewhere('Load the kernel module: modprobe tun'),
            isOfDevice: true as const,
          },
        ]
      : []),
    ...needed
      .filter((program) => !host.programs.has(program))
      .map((program) => ({
        missing: `the program ${program}`,
        remedy: `Install it; on Debian: apt-get install ${PACKAGES[program]}`,
      })),
  ];
}

function mayAdministerNetworks(capabilities: string): boolean {
  return /^[0-9a-f]+$/i.test(capabilities) && ((BigInt(`0x${capabilities}`) >> CAP_NET_ADMIN) & 1n) === 1n;
}
