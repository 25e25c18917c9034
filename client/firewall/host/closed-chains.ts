import { tableNameOf } from '../../ice-port/rules.ts';
import type { runProgram } from '../../run-program.ts';
import { guardTableOf } from '../guard.ts';
import { tableOf } from '../render.ts';
import {
  type Chain,
  chainsOf,
  failureOf,
  isNftName,
  isRecord,
  LEGACY_TABLES,
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

type Decision = { readonly isAccept: boolean; readonly rule: ClosedChain['rule'] } | undefined;
type RulesOf = (chain: string) => Promise<readonly ReadRule[]>;

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
  const legacy = await legacyFilter(run);
  const closed = await closedLegacy(legacy, interfaceName);
  const unread = [legacy, heads].filter((one) => typeof one === 'string');
  const chains = typeof heads === 'string' ? [] : chainsOf(heads);
  const names = [...chains.map(({ name }) => name), ...legacyChains(legacy)];
  const own = [tableOf(interfaceName), guardTableOf(interfaceName), tableNameOf(interfaceName)];
  for (const { table, name, base } of chains) {
    const isMet = base?.type === 'filter' && HOOKS.has(base.hook) && FAMILY.test(table);
    if (!isMet || own.some((one) => table === `inet ${one}`)) continue;
    const rulesOf: RulesOf = async (chain) => {
      const address = `${table} ${chain}`;
      const listed = isNftName(address)
        ? await list(['--terse', 'list', 'chain', ...nftName(address)], MOST_BYTES)
        : `the chain ${JSON.stringify(address)} has a name that is not given to nft`;
      if (typeof listed === 'string') unread.push(listed);
      const [{ rules } = { rules: [] }]: Pick<Chain, 'rules'>[] = typeof listed === 'string' ? [] : chainsOf(listed);
      return rules.map((rule) => readRule(rule, interfaceName));
    };
    const decision = await decisionOf(name, rulesOf, interfaceName);
    if (decision ? decision.isAccept : base.policy === 'accept') continue;
    const siblings = chains.filter((one) => one.table === table).map((one) => one.name);
    closed.push({
      table,
      chain: name,
      rule: decision?.rule ?? null,
      ...managing(managerOf(siblings) ?? 'nft', `${table} ${name}`, interfaceName),
    });
  }
  return { manager: managerOf(names) ?? 'nft', closed, unread };
}

/** "ip filter INPUT (policy drop) of ufw lets in …". */
export function closedText({ table, chain, rule, manager, command }: ClosedChain, interfaceName: string): string {
  const by = rule ? `rule handle ${rule.handle}: ${rule.text}` : 'policy drop';
  return `${table} ${chain} (${by}) of ${manager} lets in from ${interfaceName} only what other rules accept. To open it: ${command}`;
}

/** ufw and firewalld name their chains; whoever else wrote a table, nft or iptables changes it. */
function managerOf(chains: readonly string[]): Opened['tool'] | undefined {
  if (chains.includes('ufw-user-input')) return 'ufw';
  return chains.some((name) => /^(?:filter_)?INPUT_ZONES$/.test(name)) ? 'firewalld' : undefined;
}

function managing(manager: Manager, chain: string, interfaceName: string): Pick<ClosedChain, 'manager' | 'command'> {
  const commands: Readonly<Record<Manager, string>> = {
    ufw: `ufw allow in on ${interfaceName}`,
    firewalld: `firewall-cmd --zone=trusted --add-interface=${interfaceName}`,
    nft:
      chain === 'ip filter INPUT'
        ? `iptables -I INPUT -i ${interfaceName} -j ACCEPT`
        : `nft insert rule ${chain} iifname ${interfaceName} accept`,
    'iptables-legacy': `iptables-legacy -I INPUT -i ${interfaceName} -j ACCEPT`,
  };
  return { manager, command: commands[manager] };
}

/** Follows a packet of the interface that no selective rule is about. @returns undefined where it leaves the chain */
async function decisionOf(chain: string, rulesOf: RulesOf, interfaceName: string, depth = 0): Promise<Decision> {
  // Once some packets went back to the chain that jumped here, a rule for all packets decides the rest alone.
  let leaveSome = false;
  for (const { handle, packets, verdict, target } of await rulesOf(chain)) {
    if (packets === 'some') leaveSome ||= depth > 0 && verdict === 'return';
    else if (verdict === 'jump' || verdict === 'goto') {
      const decision = depth < DEEPEST_JUMP ? await decisionOf(target, rulesOf, interfaceName, depth + 1) : undefined;
      if (decision) return decision;
      if (verdict === 'goto') return undefined;
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

const LEGACY_RULE =
  /^-A (\S+)(?: (!)? ?-i (\S+))?(?: -m comment --comment (?:"[^"]*"|\S+))? -[jg] (\S+)(?: --reject-with \S+)?$/;

/** Lists the filter of iptables-legacy, which nft does not. It is not asked for where it is not loaded: asking loads it. */
async function legacyFilter(run: typeof runProgram): Promise<readonly string[] | string> {
  const { stdout: names } = await run('cat', [LEGACY_TABLES]);
  if (!names.split('\n').includes('filter')) return [];
  const result = await run('iptables-legacy', ['-S'], { maxBytes: MOST_BYTES });
  return result.code === 0 ? result.stdout.split('\n') : failureOf('iptables-legacy', ['-S'], result);
}

function legacyChains(lines: readonly string[] | string): readonly string[] {
  return [lines].flat().flatMap((line) => /^-[NP] (\S+)/.exec(line)?.[1] ?? []);
}

async function closedLegacy(filter: readonly string[] | string, interfaceName: string): Promise<ClosedChain[]> {
  const lines = [filter].flat();
  const rulesOf: RulesOf = async (chain) =>
    lines.filter((line) => line.startsWith(`-A ${chain} `)).map((line, at) => legacyRule(line, at + 1, interfaceName));
  const decision = await decisionOf('INPUT', rulesOf, interfaceName);
  if (decision ? decision.isAccept : !lines.includes('-P INPUT DROP')) return [];
  const where = { table: 'ip filter', chain: 'INPUT', rule: decision?.rule ?? null };
  const manager = managerOf(legacyChains(lines)) ?? 'iptables-legacy';
  return [{ ...where, ...managing(manager, 'ip filter INPUT', interfaceName) }];
}

const LEGACY_VERDICTS: Readonly<Record<string, ReadRule['verdict']>> = {
  ACCEPT: 'accept',
  DROP: 'drop',
  REJECT: 'reject',
  RETURN: 'return',
  LOG: 'none',
};

function legacyRule(line: string, handle: number, interfaceName: string): ReadRule {
  const [, , not, name, target = ''] = LEGACY_RULE.exec(line) ?? [];
  const isRead = target !== '' && (name === undefined || (name === interfaceName) === (not === undefined));
  const verdict = LEGACY_VERDICTS[target] ?? (line.includes(' -g ') ? 'goto' : 'jump');
  if (!isRead) return { handle, packets: 'some', verdict: / -j RETURN$/.test(line) ? 'return' : 'none', target: '' };
  return { handle, packets: name === undefined ? 'all' : 'interface', verdict, target };
}
