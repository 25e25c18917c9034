import { type IpRange, overlaps, parseAddress, parseCidr, rangeBetween } from '../../../core/model/cidr.ts';
import type { runProgram } from '../../run-program.ts';
import {
  type Chain,
  chainsOf,
  isNftName,
  isRecord,
  legacyTable,
  listingOf,
  nftName,
  parseListing,
  type Statement,
} from './nft-listing.ts';

/** Elements of sets and maps by name. */
type Sets = ReadonlyMap<string, readonly unknown[]>;

/** The NAT of one table. */
interface Nat {
  /** "the table ip nat". */
  readonly name: string;
  readonly chains: readonly Chain[];
  readonly sets: Sets;
}

const HOOKS: ReadonlySet<string> = new Set(['prerouting', 'output']);
const MOST_NAMED = 4;
const BY_NUMBER = new Intl.Collator('en', { numeric: true });

/**
 * Returns which addresses of a block this host translates into others, each with the rules that do, as Kubernetes does for its
 * services. No route tells of such addresses. A table that is too large to be read is named, too. Never throws.
 *
 * @param maxBytes of the listing of one table
 */
export async function translationsInto(
  cidr: string,
  maxBytes: number,
  run: typeof runProgram,
): Promise<readonly string[]> {
  const block = parseCidr(cidr);
  const list = listingOf(run);
  const heads = await list(['list', 'chains'], maxBytes);
  if (!block || typeof heads === 'string') return [];
  const tables = new Set(
    chainsOf(heads).flatMap(({ table, base }) => (base?.type === 'nat' && HOOKS.has(base.hook) ? [table] : [])),
  );
  const found: string[] = [];
  for (const table of tables) {
    if (!isNftName(table)) continue;
    const result = await run('nft', ['-j', 'list', 'table', ...nftName(table)], { maxBytes });
    if (result.stdout.length >= maxBytes) {
      found.push(`some of the table ${table}, which has more than ${maxBytes / 1_048_576} MiB of rules`);
      continue;
    }
    const listing = natOf(table, result.stdout);
    if (listing) found.push(...translationsOf(listing, block));
  }
  const legacy = await legacyTable('nat', maxBytes, run);
  if (typeof legacy === 'string') return found;
  return [
    ...found,
    ...translationsOf({ name: 'the table nat of iptables-legacy', chains: legacy, sets: new Map() }, block),
  ];
}

/** Reads the listing of a table. Pure. */
function natOf(table: string, json: string): Nat | undefined {
  const listing = parseListing(json);
  return listing && { name: `the table ${table}`, chains: chainsOf(listing), sets: setsOf(listing) };
}

/** Returns the translated addresses of a block, with the chain of each rule. Pure. */
function translationsOf({ name, chains, sets }: Nat, block: IpRange): readonly string[] {
  const byName = new Map(chains.map((chain) => [chain.name, chain]));
  const reached = reachedFrom(
    chains.filter(({ base }) => base?.type === 'nat' && HOOKS.has(base.hook)),
    byName,
    sets,
  );
  const translating = translatingChains(chains, sets);
  return [...reached].flatMap((chain) => {
    const texts = chain.rules.flatMap(({ statements }) => translated(statements, block, sets, translating));
    // nft lists sets in no order.
    const named = [...new Set(texts)].sort(BY_NUMBER.compare);
    if (named.length === 0) return [];
    const more = named.length > MOST_NAMED ? ` and ${named.length - MOST_NAMED} more` : '';
    const where = isNftName(`ip ${chain.name}`) ? chain.name : JSON.stringify(chain.name);
    return [`${named.slice(0, MOST_NAMED).join(', ')}${more} (chain ${where} of ${name})`];
  });
}

/** Addresses of the block that one rule is about, where it translates or leads to what does. */
function translated(
  statements: readonly Statement[],
  block: IpRange,
  sets: Sets,
  translating: ReadonlySet<string>,
): readonly string[] {
  const isWhole = statements.some(translates) || jumpsOf(statements).some((target) => translating.has(target));
  return statements.flatMap((statement) => {
    const { match, vmap, dnat } = statement;
    if (isWhole && isRecord(match) && match['op'] === '==') {
      return elementsOf(match['right'], sets).flatMap((value) => addressIn(match['left'], value, block));
    }
    const map = isRecord(vmap) ? vmap : isRecord(dnat) && isRecord(dnat['addr']) ? dnat['addr']['map'] : undefined;
    if (!isRecord(map)) return [];
    return elementsOf(map['data'], sets).flatMap((element) => {
      const [key, verdict] = Array.isArray(element) ? element : [];
      const leads = map !== vmap || targetsOf(verdict).some((target) => translating.has(target));
      return leads ? addressIn(map['key'], bare(key), block) : [];
    });
  });
}

/** The destination that an expression compares with a value, where it is in the block. */
function addressIn(expression: unknown, value: unknown, block: IpRange): readonly string[] {
  const concat = isRecord(expression) ? expression['concat'] : undefined;
  if (Array.isArray(concat)) {
    const values = isRecord(value) && Array.isArray(value['concat']) ? value['concat'] : [];
    return concat.flatMap((each, at) => addressIn(each, bare(values[at]), block));
  }
  const payload = isRecord(expression) ? expression['payload'] : undefined;
  if (!isRecord(payload) || payload['protocol'] !== 'ip' || payload['field'] !== 'daddr') return [];
  const range = addressesOf(value);
  return range && overlaps(range, block) ? [textOf(value)] : [];
}

/** Returns the addresses of a value of nft: one, a range or a prefix. */
function addressesOf(value: unknown): IpRange | undefined {
  if (typeof value === 'string') return parseAddress(value);
  const { prefix, range } = isRecord(value) ? value : {};
  if (isRecord(prefix)) return parseCidr(`${prefix['addr']}/${prefix['len']}`);
  const [from, to] = Array.isArray(range) ? range : [];
  return typeof from === 'string' && typeof to === 'string' ? rangeBetween(from, to) : undefined;
}

/** Returns an element without its counters and comments. */
function bare(element: unknown): unknown {
  const within = isRecord(element) ? element['elem'] : undefined;
  return isRecord(within) ? within['val'] : element;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const { prefix, range } = isRecord(value) ? value : {};
  if (isRecord(prefix)) return `${prefix['addr']}/${prefix['len']}`;
  return Array.isArray(range) ? range.join('-') : '';
}

/** Chains that packets reach, starting at the base chains. */
function reachedFrom(bases: readonly Chain[], byName: ReadonlyMap<string, Chain>, sets: Sets): ReadonlySet<Chain> {
  const reached = new Set(bases);
  // A set goes on with what is added meanwhile.
  for (const { rules } of reached) {
    for (const { statements } of rules) {
      for (const target of [...jumpsOf(statements), ...mappedTargets(statements, sets)]) {
        const chain = byName.get(target);
        if (chain) reached.add(chain);
      }
    }
  }
  return reached;
}

/** Chains that translate, or lead to one that does. */
function translatingChains(chains: readonly Chain[], sets: Sets): ReadonlySet<string> {
  const callers = new Map<string, string[]>();
  const found = new Set<string>();
  for (const { name, rules } of chains) {
    for (const { statements } of rules) {
      if (statements.some(translates)) found.add(name);
      for (const target of [...jumpsOf(statements), ...mappedTargets(statements, sets)]) {
        callers.set(target, [...(callers.get(target) ?? []), name]);
      }
    }
  }
  for (const name of found) for (const caller of callers.get(name) ?? []) found.add(caller);
  return found;
}

function translates({ dnat, redirect, xt }: Statement): boolean {
  if (dnat !== undefined) return !(isRecord(dnat) && isRecord(dnat['addr']) && 'map' in dnat['addr']);
  if (redirect !== undefined) return true;
  return isRecord(xt) && xt['type'] === 'target' && ['DNAT', 'REDIRECT', 'NETMAP'].includes(String(xt['name']));
}

function jumpsOf(statements: readonly Statement[]): readonly string[] {
  return statements.flatMap(targetsOf);
}

function targetsOf(verdict: unknown): readonly string[] {
  const { jump, goto } = isRecord(verdict) ? verdict : {};
  return [jump, goto].flatMap((one) => (isRecord(one) && typeof one['target'] === 'string' ? [one['target']] : []));
}

function mappedTargets(statements: readonly Statement[], sets: Sets): readonly string[] {
  return statements.flatMap(({ vmap }) =>
    isRecord(vmap)
      ? elementsOf(vmap['data'], sets).flatMap((element) => (Array.isArray(element) ? targetsOf(element[1]) : []))
      : [],
  );
}

/** Elements of a set or map; any other value is one element. */
function elementsOf(value: unknown, sets: Sets): readonly unknown[] {
  if (typeof value === 'string' && value.startsWith('@')) return sets.get(value.slice(1)) ?? [];
  const set = isRecord(value) ? value['set'] : undefined;
  return (Array.isArray(set) ? set : [value]).map((element) => (Array.isArray(element) ? element : bare(element)));
}

function setsOf(listing: readonly Statement[]): Sets {
  return new Map(
    listing.flatMap(({ set, map }) =>
      [set, map].filter(isRecord).flatMap(({ name, elem }) => {
        return Array.isArray(elem) ? [[String(name), elem] as const] : [];
      }),
    ),
  );
}
