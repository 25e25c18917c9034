import { networkInterfaces } from 'node:os';
import { formatIp } from '../../platform/ip.ts';
import type { Family } from '../family.ts';
import { RELAY_ENDPOINTS_IPV4 } from '../relay-endpoints.ts';
import { runProgram } from '../run-program.ts';
import { applyRelayRules, removeRelayRules } from './rules.ts';

/** The contract's prefix of a relayed peer's endpoint. */
const PREFIX = [0xfd6c, 0x7270];

/**
 * Where a node's relayed peers seem to live: `fd6c:7270::<wireguard port>:<n>` on the loopback interface, or `127.77.x.y`.
 * For a local route the kernel answers from the address that was asked, so one socket can tell all peers apart by the address
 * their packets come from; IPv6 does so only for addresses that the interface has.
 */
export interface LoopbackAddresses {
  readonly family: Family;
  /** Returns WireGuard's endpoint for number n. */
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

/** Takes away what a crashed agent with this port left, then prepares one of the two forms; a host may have IPv4 alone. */
export async function openLoopbackAddresses(wireguardPort: number, family: Family): Promise<LoopbackAddresses> {
  await removeLoopbackAddresses(wireguardPort);
  return (family === 'ipv6' && (await openIpv6(wireguardPort))) || (await openIpv4(wireguardPort));
}

async function openIpv6(wireguardPort: number): Promise<LoopbackAddresses | undefined> {
  // Before there is anything to reach.
  if (!(await applyRelayRules(wireguardPort))) return undefined;
  const probe = shownAddress(wireguardPort, 0);
  if (!(await change('add', [probe])) || !(await change('del', [probe]))) {
    await removeRelayRules(wireguardPort);
    return undefined;
  }
  const addressOf = (n: number) => shownAddress(wireguardPort, n);
  return {
    family: 'ipv6',
    addressOf,
    async add(numbers) {
      await change('add', numbers.map(addressOf));
    },
    async remove(numbers) {
      await change('del', numbers.map(addressOf));
    },
    async close() {
      await change('del', ownAddresses(wireguardPort));
    },
  };
}

/** @returns whether all went well */
async function change(verb: 'add' | 'del', addresses: readonly string[]): Promise<boolean> {
  if (addresses.length === 0) return true;
  const how = verb === 'add' ? ' nodad' : '';
  const stdin = addresses.map((address) => `address ${verb} ${address}/128 dev lo${how}`).join('\n');
  return (await runProgram('ip', ['-6', '-force', '-batch', '-'], { stdin, timeoutMs: 60_000 })).code === 0;
}

/** A single route makes the whole block answer from the address asked. Each node of a host has its own, told apart by the metric. */
async function openIpv4(wireguardPort: number): Promise<LoopbackAddresses> {
  const route = (verb: 'replace' | 'del') => localRoute(verb, wireguardPort);
  await route('replace');
  return {
    family: 'ipv4',
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

/** Removes routes, also those of a node that ended without doing so itself. */
export async function removeLoopbackAddresses(wireguardPort: number): Promise<void> {
  await change('del', ownAddresses(wireguardPort));
  await localRoute('del', wireguardPort);
}

function localRoute(verb: 'replace' | 'del', wireguardPort: number) {
  return runProgram('ip', ['route', verb, 'local', RELAY_ENDPOINTS_IPV4, 'dev', 'lo', 'metric', `${wireguardPort}`]);
}

function ownAddresses(wireguardPort: number): string[] {
  const prefix = shownAddress(wireguardPort, 0xffff).replace(/ffff$/, '');
  return (networkInterfaces()['lo'] ?? [])
    .map(({ address }) => address)
    .filter((address) => address.startsWith(prefix));
}
