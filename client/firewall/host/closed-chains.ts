import { tableNameOf } from '../../ice-port/rules.ts';
import type { runProgram } from '../../run-program.ts';
import { guardTableOf } from '../guard.ts';
import { tableOf } from '../render.ts';
import {
  type Chain,
  chainsOf,
  isNftName,
  isRecord,
  legacyTable,
  listingOf,
  MOST_BYTES,
  nftName,
  type Rule,
  type Statement,
} from './nft-listing.ts';
import type { Opened } from './opened.ts';

/** A base chain of the host that drops packets from the overlay unless some other rule of it accepts them. */
export interface ClosedChain {
  /** "inet filter". */
  readonly table: string;
  readonly chain: string;
  /** Null where the policy of the chain drops. */
  readonly rule: { readonly handle: number; readonly text: string } | null;
  readonly manager: Manager;
  /** Command of that manager which has the chain accept the overlay. */
  readonly command: string;
}

export interface Judgement {
  /** The tool by which the host is opened: nft where neither ufw nor firewalld is active. */
  readonly manager: Opened['tool'];
  readonly closed: readonly ClosedChain[];
  /** Reasons why chains of the host are not known. */
  readonly unread: readonly string[];
}

export type Manager = Opened['tool'] | 'iptables-legacy';

/** A rule as far as it is read: whether it applies to each packet, to each of the interface, or to some. */
interface ReadRule {
  readonly handle: number;
  readonly packets: 'all' | 'interface' | 'some';
  readonly verdict: 'accept' | 'drop' | 'reject' | 'return' | 'jump' | 'goto' | 'none';
  /** Chain of a jump. */
  readonly target: string;
}

interface Decision {
  readonly isAccept: boolean;
  readonly rule: ClosedChain['rule'];
}

const HOOKS: ReadonlySet<string> = new Set(['prerouting', 'input']);
/** The overlay is IPv4. */
const FAMILY = /^(?:ip|inet) /;
const DEEPEST_JUMP = 8;
const VERDICTS = ['accept', 'drop', 'reject', 'return', 'jump', 'goto'] as const;
/** Statements that neither select packets nor decide. */
const ASIDE: ReadonlySet<string> = new Set(['counter', 'log', 'last', 'comment', ...VERDICTS]);

/**
 * Finds the base chains of incoming packets that let in from the interface only what some of their rules accept. Two kinds of
 * rules are read, those for all packets and those for all of the interface: which packets another rule selects is its owner's
 * business. Never throws.
 */
export async function closedChains(interfaceName: string, run: typeof runProgram): Promise<Judgement> {
  const list = listingOf(run);
  const heads = await list(['list', 'chains'], MOST_BYTES);
  const legacy = await legacyTable('filter', MOST_BYTES, run);
  const unread = [heads, legacy].filter((one) => typeof one === 'string');
  const names = typeof heads === 'string' ? [] : chainsOf(heads);
  const legacyChains = typeof legacy === 'string' ? [] : legacy;
  const own = [tableOf(interfaceName), guardTableOf(interfaceName), tableNameOf(interfaceName)];
  const tables = new Set(names.filter(isMet).map(({ table }) => table));
  for (const name of own) tables.delete(`inet ${name}`);
  const chains: Chain[] = [];
  for (const table of tables) {
    const listed = isNftName(table)
      ? await list(['--terse', 'list', 'table', ...nftName(table)], MOST_BYTES)
      : `the table ${JSON.stringify(table)} has a name that is not given to nft`;
    if (typeof listed === 'string') unread.push(listed);
    else chains.push(...chainsOf(listed));
  }
  return {
    manager: managerOf([...names, ...legacyChains]) ?? 'nft',
    closed: [
      ...closedAmong(chains, 'nft', interfaceName),
      ...closedAmong(legacyChains, 'iptables-legacy', interfaceName),
    ],
    unread,
  };
}

function isMet({ table, base }: Chain): boolean {
  return base?.type === 'filter' && HOOKS.has(base.hook) && FAMILY.test(table);
}

/** @param otherwise manager of the tables that are neither of ufw nor of firewalld */
function closedAmong(chains: readonly Chain[], otherwise: Manager, interfaceName: string): ClosedChain[] {
  return chains.filter(isMet).flatMap((chain) => {
    const { table, name } = chain;
    const siblings = new Map(chains.filter((one) => one.table === table).map((one) => [one.name, one]));
    const decision = decisionOf(chain, siblings, interfaceName);
    const isOpen = decision ? decision.isAccept : chain.base?.policy === 'accept';
    // The command names the chain: other names are nobody's to run.
    if (isOpen || !isNftName(`${table} ${name}`)) return [];
    const manager = managerOf([...siblings.values()]) ?? otherwise;
    const command = commandOf(manager, `${table} ${name}`, interfaceName);
    return [{ table, chain: name, rule: decision?.rule ?? null, manager, command }];
  });
}

/** "ip filter INPUT (policy drop) of ufw lets in …". */
export function closedText({ table, chain, rule, manager, command }: ClosedChain, interfaceName: string): string {
  const by = rule ? `rule handle ${rule.handle}: ${rule.text}` : 'policy drop';
  return `${table} ${chain} (${by}) of ${manager} lets in from ${interfaceName} only what other rules accept. To open it: ${command}`;
}

/** ufw and firewalld name their chains; whoever else wrote a table, nft or iptables changes it. */
function managerOf(chains: readonly Pick<Chain, 'name'>[]): Opened['tool'] | undefined {
  if (chains.some(({ name }) => name === 'ufw-user-input')) return 'ufw';
  return chains.some(({ name }) => /^(?:filter_)?INPUT_ZONES$/.test(name)) ? 'firewalld' : undefined;
}

function commandOf(manager: Manager, chain: string, interfaceName: string): string {
  if (manager === 'ufw') return `ufw allow in on ${interfaceName}`;
  if (manager === 'firewalld') return `firewall-cmd --zone=trusted --add-interface=${interfaceName}`;
  if (manager === 'nft' && chain !== 'ip filter INPUT')
    return `nft insert rule ${chain} iifname ${interfaceName} accept`;
  return `${manager === 'nft' ? 'iptables' : manager} -I INPUT -i ${interfaceName} -j ACCEPT`;
}

/** Follows a packet of the interface that no selective rule is about. @returns undefined where it leaves the chain */
function decisionOf(
  chain: Chain,
  siblings: ReadonlyMap<string, Chain>,
  interfaceName: string,
  depth = 0,
): Decision | undefined {
  // Once some packets went back to the chain that jumped here, a rule for all packets decides the rest alone.
  let leaveSome = false;
  for (const rule of chain.rules) {
    const { handle, packets, verdict, target } = readRule(rule, interfaceName);
    const next = siblings.get(target);
    if (packets === 'some') leaveSome ||= depth > 0 && verdict === 'return';
    else if (verdict === 'jump' || verdict === 'goto') {
      const decision = next && depth < DEEPEST_JUMP ? decisionOf(next, siblings, interfaceName, depth + 1) : undefined;
      if (decision || verdict === 'goto') return decision;
    } else if (verdict === 'return') return undefined;
    else if (verdict !== 'none' && !(leaveSome && packets === 'all')) {
      const text = packets === 'all' ? verdict : `iifname "${interfaceName}" ${verdict}`;
      return { isAccept: verdict === 'accept', rule: { handle, text } };
    }
  }
  return undefined;
}

function readRule({ handle, statements }: Rule, interfaceName: string): ReadRule {
  const conditions = statements.filter(
    (one) => !isXt(one, 'target') && !isComment(one) && !Object.keys(one).every((key) => ASIDE.has(key)),
  );
  const isAll = conditions.every((one) => isOnInterface(one, interfaceName));
  const packets = conditions.length === 0 ? 'all' : isAll ? 'interface' : 'some';
  const last = statements.at(-1) ?? {};
  const isReject = isXt(last, 'target') && isRecord(last['xt']) && last['xt']['name'] === 'REJECT';
  const verdict = isReject ? 'reject' : (VERDICTS.find((one) => one in last) ?? 'none');
  const jump = last[verdict];
  return { handle, packets, verdict, target: isRecord(jump) ? String(jump['target']) : '' };
}

function isXt({ xt }: Statement, type: 'match' | 'target'): boolean {
  return isRecord(xt) && xt['type'] === type;
}

function isComment(statement: Statement): boolean {
  return isXt(statement, 'match') && isRecord(statement['xt']) && statement['xt']['name'] === 'comment';
}

/** True for a condition that each packet of the interface meets, such as `iifname { "lo", "mesh0" }` or `iifname != "eth0"`. */
export function isOnInterface({ match }: Statement, interfaceName: string): boolean {
  if (!isRecord(match) || !isRecord(match['left'])) return false;
  const { meta } = match['left'];
  if (!isRecord(meta) || (meta['key'] !== 'iifname' && meta['key'] !== 'iif')) return false;
  const { op, right } = match;
  const names = [isRecord(right) ? right['set'] : right].flat().map(String);
  if (names.some((name) => name.startsWith('@'))) return false;
  const isNamed = names.some((name) =>
    name.endsWith('*') ? interfaceName.startsWith(name.slice(0, -1)) : name === interfaceName,
  );
  return op === (isNamed ? '==' : '!=');
}
