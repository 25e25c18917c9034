import { tableNameOf } from '../../ice-port/rules.ts';
import type { runProgram } from '../../run-program.ts';
import { guardTableOf } from '../guard.ts';
import { tableOf } from '../render.ts';
import { failureOf } from './failure.ts';
import { chainsOf, parseListing, type Statement } from './ruleset.ts';

/** Tables of the host that packets meet on their way in. Most hosts have none. */
export interface MetTables {
  /** "inet filter". */
  readonly tables: readonly string[];
  /** What is there beside them and cannot be read. */
  readonly unread: readonly string[];
}

/** Of one listing: some 15,000 rules. What is larger would hold up the agent while it is read. */
export const MOST_BYTES = 4 * 1_048_576;
/** What iptables-legacy has rules in, of this network namespace. */
export const LEGACY = { iptables: '/proc/net/ip_tables_names', ip6tables: '/proc/net/ip6_tables_names' } as const;
const HOOKS = new Set(['ingress', 'prerouting', 'input']);

/** Never throws. */
export async function metTables(interfaceName: string, run: typeof runProgram): Promise<MetTables> {
  const unread = await legacyTables(run);
  const heads = await listingOf(run)(['list', 'chains'], MOST_BYTES);
  if (typeof heads === 'string') return { tables: [], unread: [...unread, heads] };
  const met = chainsOf(heads).filter(
    ({ table, base }) => HOOKS.has(base?.hook ?? '') && !isOwnTable(table, interfaceName),
  );
  return { tables: [...new Set(met.map(({ table }) => table))], unread };
}

/** Tells whether a host may translate addresses: most hosts do not, and need not load what reads such rules. Never throws. */
export async function mayTranslate(run: typeof runProgram): Promise<boolean> {
  const heads = await listingOf(run)(['list', 'chains'], MOST_BYTES);
  if (typeof heads === 'string' || chainsOf(heads).some(({ base }) => base?.type === 'nat')) return true;
  return (await legacyTables(run)).length > 0;
}

/** Lists a part of nftables, or says why that cannot be read. */
export function listingOf(run: typeof runProgram) {
  return async (args: readonly string[], maxBytes: number): Promise<readonly Statement[] | string> => {
    const result = await run('nft', ['-j', ...args], { maxBytes });
    if (result.code === 0) return parseListing(result.stdout) ?? `nft ${args.join(' ')} printed no whole listing`;
    if (result.stdout.length >= maxBytes) return `nft ${args.join(' ')} lists more than ${maxBytes / 1_048_576} MiB`;
    return failureOf('nft', ['-j', ...args], result);
  };
}

/** Tables of this node alone: its own rules come by the network, and the others drop nothing of a new connection. */
function isOwnTable(table: string, interfaceName: string): boolean {
  const own = [tableOf(interfaceName), guardTableOf(interfaceName), tableNameOf(interfaceName)];
  return own.some((name) => table === `inet ${name}`) || /^inet mesh_relay_\d+$/.test(table);
}

/** nft has none of these rules. */
async function legacyTables(run: typeof runProgram): Promise<string[]> {
  const found = [];
  for (const [program, file] of Object.entries(LEGACY)) {
    const names = (await run('cat', [file])).stdout.trim().split('\n').filter(Boolean);
    if (names.length > 0) found.push(`${program}-legacy has a table ${names.join(', ')}, whose rules are not read`);
  }
  return found;
}
