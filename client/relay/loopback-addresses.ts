import { networkInterfaces } from 'node:os';
import { formatIp } from '../../net/stun/address.ts';
import { runProgram } from '../run-program.ts';
import { applyRelayRules, removeRelayRules } from './rules.ts';

/** The contract's prefix of a relayed peer's endpoint. */
const PREFIX = [0xfd6c, 0x7270];

/**
 * Where a node's relayed peers seem to live: `fd6c:7270::<wireguard port>:<n>` on the loopback interface, or `127.77.x.y`
 * on a host without IPv6. For a local route the kernel answers from the address that was asked, so one socket can tell all
 * peers apart by the address their packets come from; IPv6 does so only for addresses that the interface has.
 */
export interface LoopbackAddresses {
  readonly family: 'udp6' | 'udp4';
  /** What WireGuard is given for number n. */
  addressOf(n: number): string;
  add(numbers: readonly number[]): Promise<void>;
  remove(numbers: readonly number[]): Promise<void>;
  close(): Promise<void>;
}

/** The address that people are shown for peer number n, whatever lies underneath. */
export function shownAddress(wireguardPort: number, n: number): string {
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  PREFIX.forEach((group, at) => {
    view.setUint16(at * 2, group);
  });
  view.setUint16(12, wireguardPort);
  view.setUint16(14, n);
  return formatIp(bytes);
}

/** Takes away what a crashed agent with this port left, then prepares one of the two forms. */
export async function openLoopbackAddresses(wireguardPort: number): Promise<LoopbackAddresses> {
  return (await openIpv6(wireguardPort)) ?? (await openIpv4());
}

async function openIpv6(wireguardPort: number): Promise<LoopbackAddresses | undefined> {
  const command = (verb: 'add' | 'del', addresses: readonly string[]) =>
    addresses.map((address) => `address ${verb} ${address}/128 dev lo${verb === 'add' ? ' nodad' : ''}`).join('\n');
  const change = async (verb: 'add' | 'del', addresses: readonly string[]) => {
    if (addresses.length === 0) return true;
    const stdin = command(verb, addresses);
    const { code } = await runProgram('ip', ['-6', '-force', '-batch', '-'], { stdin, timeoutMs: 60_000 });
    return code === 0;
  };
  const present = () => ownAddresses(wireguardPort);
  await change('del', present());

  // Before there is anything to reach.
  if (!(await applyRelayRules(wireguardPort))) return undefined;
  const probe = shownAddress(wireguardPort, 0);
  if (!(await change('add', [probe])) || !(await change('del', [probe]))) {
    await removeRelayRules(wireguardPort);
    return undefined;
  }
  const addressOf = (n: number) => shownAddress(wireguardPort, n);
  return {
    family: 'udp6',
    addressOf,
    async add(numbers) {
      await change('add', numbers.map(addressOf));
    },
    async remove(numbers) {
      await change('del', numbers.map(addressOf));
    },
    async close() {
      await change('del', present());
    },
  };
}

const IPV4_BLOCK = '127.77.0.0/16';

/** One route makes the whole block answer from the address asked; the kernel never takes 127/8 from outside. */
async function openIpv4(): Promise<LoopbackAddresses> {
  const route = (verb: 'replace' | 'del') => runProgram('ip', ['route', verb, 'local', IPV4_BLOCK, 'dev', 'lo']);
  await route('replace');
  return {
    family: 'udp4',
    addressOf: (n) => `127.77.${n >> 8}.${n & 0xff}`,
    async add() {
      await route('replace');
    },
    async remove() {},
    async close() {
      await route('del');
    },
  };
}

function ownAddresses(wireguardPort: number): string[] {
  const prefix = shownAddress(wireguardPort, 0xffff).replace(/ffff$/, '');
  return (networkInterfaces()['lo'] ?? [])
    .map(({ address }) => address)
    .filter((address) => address.startsWith(prefix));
}
