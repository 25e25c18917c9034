import type { runProgram } from '../../run-program.ts';
import { conditionsOf, savedRules } from './iptables.ts';
import { listingOf, type MetTables, MOST_BYTES } from './met-tables.ts';
import { isNftName, nftName } from './nft-name.ts';
import { type Chain, chainsOf, type Elements, isRecord, type Ruleset, type Statement } from './ruleset.ts';

/** Of the elements of one set: some 20,000. */
const MOST_SET_BYTES = 1_048_576;
const MOST_SETS = 32;
/** The rules of those tables, as far as they can be read: what cannot is named. Never throws. */
export async function readRuleset({ tables, unread: before }: MetTables, run: typeof runProgram): Promise<Ruleset> {
  const unread = [...before];
  const list = listingOf(run);
  const chains: Chain[] = [];
  for (const table of tables) {
    if (!isNftName(table)) {
      unread.push(`the table ${JSON.stringify(table)} has a name that is not given to nft`);
      continue;
    }
    const listed = await list(['--terse', 'list', 'table', ...nftName(table)], MOST_BYTES);
    if (typeof listed === 'string') unread.push(listed);
    else if (!(hasFlags(listed) && (await isAsleep(table, run))))
      chains.push(...(await translated(table, chainsOf(listed), run)));
  }
  const filled = filledSets(chains);
  const sets = new Map<string, Elements>();
  for (const name of [...namedSets(chains)].slice(0, MOST_SETS)) {
    if (filled.has(name)) {
      sets.set(name, `the set ${name.split(' ')[2]}, which packets fill`);
      continue;
    }
    const listed = isNftName(name) ? await list(['list', 'set', ...nftName(name)], MOST_SET_BYTES) : name;
    const map =
      typeof listed === 'string' && isNftName(name)
        ? await list(['list', 'map', ...nftName(name)], MOST_SET_BYTES)
        : listed;
    sets.set(name, typeof map === 'string' ? `the set ${name} is not read` : elementsOf(map));
  }
  return { chains, sets, unread };
}

function hasFlags(listing: readonly Statement[]): boolean {
  return listing.some(({ table }) => isRecord(table) && table['flags'] !== undefined);
}

/** Chains of a table that is dormant see no packets. What nft 1.0.6 says of flags in JSON is no flag, so its text is asked. */
async function isAsleep(table: string, run: typeof runProgram): Promise<boolean> {
  const { stdout } = await run('nft', ['--terse', 'list', 'table', ...nftName(table)], { maxBytes: MOST_BYTES });
  const [first = ''] = stdout
    .slice(stdout.indexOf('{') + 1)
    .trimStart()
    .split('\n', 1);
  return first.startsWith('flags ') && first.includes('dormant');
}

/** Rules of iptables in nftables: nft has of their extensions the names alone, and iptables-save the rest. */
async function translated(table: string, chains: readonly Chain[], run: typeof runProgram): Promise<readonly Chain[]> {
  if (!chains.some(({ rules }) => rules.some(hasExtension))) return chains;
  const [family, name = ''] = table.split(' ');
  const { code, stdout } = await run(`${family === 'ip6' ? 'ip6' : 'ip'}tables-nft-save`, ['-t', name], {
    maxBytes: MOST_BYTES,
  });
  const saved = code === 0 ? savedRules(stdout) : new Map<string, readonly string[]>();
  return chains.map((chain) => {
    const lines = saved.get(chain.name) ?? [];
    // Changed in between: which line is of which rule is not known.
    if (lines.length !== chain.rules.length) return chain;
    const rules = chain.rules.map((rule, at) =>
      hasExtension(rule)
        ? {
            ...rule,
            statements: [
              ...conditionsOf(lines[at] ?? '', family === 'ip6' ? 'ip6' : 'ip'),
              ...rule.statements.filter(isTarget),
            ],
          }
        : rule,
    );
    return { ...chain, rules };
  });
}

function hasExtension({ statements }: Chain['rules'][number]): boolean {
  return statements.some((statement) => 'xt' in statement);
}

/** What becomes of the packets that a rule is about. */
function isTarget({ match, vmap, limit, xt, ...rest }: Statement): boolean {
  return (isRecord(xt) && xt['type'] === 'target') || Object.keys(rest).length > 0;
}

/** As rules name them, "@friends", with the table that they are in. */
function namedSets(chains: readonly Chain[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { table, rules } of chains) {
    for (const { statements } of rules) {
      for (const { match, vmap } of statements) {
        const name = isRecord(match) ? match['right'] : isRecord(vmap) ? vmap['data'] : undefined;
        if (typeof name === 'string' && name.startsWith('@')) found.add(`${table} ${name.slice(1)}`);
      }
    }
  }
  return found;
}

/** Of sets that rules add to: what they hold is another in a moment. */
function filledSets(chains: readonly Chain[]): ReadonlySet<string> {
  const added = chains.flatMap(({ table, rules }) =>
    rules.flatMap(({ statements }) =>
      statements.flatMap(({ set }) => (isRecord(set) ? [`${table} ${String(set['set']).replace(/^@/, '')}`] : [])),
    ),
  );
  return new Set(added);
}

function elementsOf(listing: readonly Statement[]): Elements {
  const set = listing.map((one) => one['set'] ?? one['map']).find(isRecord);
  if (!set) return 'a set that is not there';
  return Array.isArray(set['elem']) ? set['elem'] : [];
}
