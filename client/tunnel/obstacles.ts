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
  setpriv: 'util-linux',
  unshare: 'util-linux',
} as const;
export const PROGRAMS = Object.keys(PACKAGES) as (keyof typeof PACKAGES)[];

/** The thing that is to run here. A sandbox has namespaces of its own besides. */
export type Purpose = 'node' | 'sandbox';

/** Bits of a set of capabilities, capabilities(7). */
const CAPABILITIES = { CAP_NET_ADMIN: 12n, CAP_SYS_ADMIN: 21n } as const;

const NEEDS = {
  node: {
    capabilities: ['CAP_NET_ADMIN'],
    programs: ['ip', 'nft'],
    remedy:
      'Start the container with --privileged, or with --cap-add NET_ADMIN --device /dev/net/tun, and run it there again.',
  },
  sandbox: {
    capabilities: ['CAP_NET_ADMIN', 'CAP_SYS_ADMIN'],
    programs: ['ip', 'nft', 'setpriv', 'unshare'],
    // AppArmor's profile for containers forbids mounts.
    remedy:
      'Start the container with --privileged, or with --cap-add NET_ADMIN --cap-add SYS_ADMIN --security-opt apparmor=unconfined --device /dev/net/tun, and run it there again.',
  },
} as const;

/** All that is missing, so that the user does not find one after the other. */
export function obstaclesOf(host: HostFacts, purpose: Purpose = 'node'): Obstacle[] {
  const needs = NEEDS[purpose];
  const needed = [...needs.programs, host.hasKernelWireGuard ? 'wg' : 'wireguard-go'] as const;
  const elsewhere = (remedy: string) => (host.isContainer ? needs.remedy : remedy);
  const lacks = (capability: keyof typeof CAPABILITIES) => !hasCapability(host.effectiveCapabilities, capability);
  const isRoot = host.userId === 0;
  return [
    ...(isRoot ? [] : [{ missing: 'superuser rights', remedy: 'Run it as root, for example with sudo.' }]),
    ...(isRoot ? needs.capabilities.filter(lacks) : []).map((capability) => ({
      missing: `the capability ${capability}`,
      remedy: elsewhere('Run it as root with all capabilities.'),
    })),
    ...(!host.hasKernelWireGuard && !host.hasTunDevice && isRoot
      ? [
          {
            missing: 'the device /dev/net/tun (and the kernel has no WireGuard)',
            remedy: elsewhere('Load the kernel module: modprobe tun'),
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

function hasCapability(capabilities: string, capability: keyof typeof CAPABILITIES): boolean {
  return /^[0-9a-f]+$/i.test(capabilities) && ((BigInt(`0x${capabilities}`) >> CAPABILITIES[capability]) & 1n) === 1n;
}
