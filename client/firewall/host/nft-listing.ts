import { MeshError } from '../../../core/base/errors.ts';
import type { ProgramResult, runProgram } from '../../run-program.ts';

/** A part of a rule as libnftables-json(5) describes it: one key that names it, and its operands. */
export type Statement = Readonly<Record<string, unknown>>;

export interface Rule {
  readonly handle: number;
  readonly comment?: string;
  readonly statements: readonly Statement[];
}

export interface Chain {
  /** "inet filter". */
  readonly table: string;
  readonly name: string;
  /** Null for a chain that packets reach from other chains alone. */
  readonly base: Base | null;
  readonly rules: readonly Rule[];
}

interface Base {
  readonly type: string;
  readonly hook: string;
  readonly policy: 'accept' | 'drop';
}

/** Largest listing that is read while a node is up, some 15,000 rules: a larger one would hold up the agent. */
export const MOST_BYTES = 4 * 1_048_576;
/** Names the tables of iptables-legacy in this network namespace, which nft does not list. */
export const LEGACY_TABLES = '/proc/net/ip_tables_names';
const MOST_CHARACTERS = 300;
const NAME = /^[A-Za-z_][\w.-]*$/;
const FAMILIES: ReadonlySet<string> = new Set(['ip', 'ip6', 'inet', 'arp', 'bridge', 'netdev']);

/** Lists a part of nftables, or says why that cannot be read. */
export function listingOf(run: typeof runProgram) {
  return async (args: readonly string[], maxBytes: number): Promise<readonly Statement[] | string> => {
    const result = await run('nft', ['-j', ...args], { maxBytes });
    if (result.code === 0) return parseListing(result.stdout) ?? `nft ${args.join(' ')} printed no whole listing`;
    if (result.stdout.length >= maxBytes) return `nft ${args.join(' ')} lists more than ${maxBytes / 1_048_576} MiB`;
    return failureOf('nft', ['-j', ...args], result);
  };
}

/** Reads what `nft --json` listed. Pure. @returns undefined for an incomplete listing */
export function parseListing(text: string): readonly Statement[] | undefined {
  try {
    const listing: unknown = JSON.parse(text);
    const objects = isRecord(listing) ? listing['nftables'] : undefined;
    return Array.isArray(objects) ? objects.filter(isRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the chains of a listing, each with its rules in their order. Pure. */
export function chainsOf(listing: readonly Statement[]): Chain[] {
  const chains = new Map<string, Chain & { readonly rules: Rule[] }>();
  for (const { chain, rule } of listing) {
    if (isRecord(chain)) {
      const table = `${chain['family']} ${chain['table']}`;
      chains.set(`${table} ${chain['name']}`, { table, name: String(chain['name']), base: baseOf(chain), rules: [] });
    } else if (isRecord(rule)) {
      const { family, table, chain: name, handle, comment, expr } = rule;
      chains.get(`${family} ${table} ${name}`)?.rules.push({
        handle: Number(handle),
        ...(typeof comment === 'string' && { comment }),
        statements: [expr].flat().map((one) => (isRecord(one) ? one : { unknown: one })),
      });
    }
  }
  return [...chains.values()];
}

function baseOf({ type, hook, policy }: Statement): Base | null {
  if (typeof hook !== 'string') return null;
  return { type: String(type), hook, policy: policy === 'drop' ? 'drop' : 'accept' };
}

/**
 * Reads a table of iptables-legacy, which nft does not list, as chains of nft. It is not asked for where it is not loaded: asking
 * loads it.
 *
 * @returns the reason where it cannot be read
 */
export async function legacyTable(
  table: 'filter' | 'nat',
  maxBytes: number,
  run: typeof runProgram,
): Promise<readonly Chain[] | string> {
  const { stdout: names } = await run('cat', [LEGACY_TABLES]);
  if (!names.split('\n').includes(table)) return [];
  const result = await run('iptables-legacy-save', ['-t', table], { maxBytes });
  if (result.code !== 0) return failureOf('iptables-legacy-save', ['-t', table], result);
  const chains = new Map<string, Chain & { readonly rules: Rule[] }>();
  for (const line of result.stdout.split('\n')) {
    const [, name = '', policy] = /^:(\S+) (\S+)/.exec(line) ?? [];
    if (policy !== undefined) {
      const base = { type: table, hook: name.toLowerCase(), policy: policy === 'DROP' ? 'drop' : 'accept' } as const;
      chains.set(name, { table: `ip ${table}`, name, base: policy === '-' ? null : base, rules: [] });
    }
    const [, of = '', options = ''] = /^-A (\S+) (.*)/.exec(line) ?? [];
    const rules = chains.get(of)?.rules;
    rules?.push({ handle: rules.length + 1, statements: legacyStatements(options, (target) => chains.has(target)) });
  }
  return [...chains.values()];
}

const LEGACY_OPTIONS =
  /(! )?(-[idjg]) (\S+)|(?:-m comment )?--comment (?:"(?:[^"\\]|\\.)*"|\S+)|--reject-with \S+|("(?:[^"\\]|\\.)*"|\S+)/g;
const LEGACY_VERDICTS = new Set(['ACCEPT', 'DROP', 'REJECT', 'RETURN']);

/** Each option that is not known stands as a condition that nobody knows. */
function legacyStatements(options: string, isChain: (target: string) => boolean): readonly Statement[] {
  const conditions: Statement[] = [];
  let verdict: Statement = {};
  for (const [, not, option, value = '', other] of options.matchAll(LEGACY_OPTIONS)) {
    const op = not === undefined ? '==' : '!=';
    const [addr, len = '32'] = value.split('/');
    if (option === '-i')
      conditions.push({ match: { op, left: { meta: { key: 'iifname' } }, right: value.replace(/\+$/, '*') } });
    else if (option === '-d') {
      const left = { payload: { protocol: 'ip', field: 'daddr' } };
      conditions.push({ match: { op, left, right: { prefix: { addr, len: Number(len) } } } });
    } else if (other !== undefined) conditions.push({ xt: { type: 'match', name: other } });
    else if (LEGACY_VERDICTS.has(value)) verdict = { [value.toLowerCase()]: null };
    else if (isChain(value)) verdict = { [option === '-g' ? 'goto' : 'jump']: { target: value } };
    else if (option !== undefined) verdict = { xt: { type: 'target', name: value } };
  }
  return [...conditions, verdict];
}

export function isRecord(value: unknown): value is Statement {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Splits "inet filter input" into words of a command: nft reads its arguments as a script, in which other characters may be
 * commands, and the kernel takes any name from whoever may load rules.
 *
 * @throws MeshError `unavailable` for other names
 */
export function nftName(name: string): readonly string[] {
  if (isNftName(name)) return name.split(' ');
  throw new MeshError('unavailable', `${JSON.stringify(name)} has a name that is not given to nft`);
}

export function isNftName(name: string): boolean {
  const [family = '', ...names] = name.split(' ');
  return FAMILIES.has(family) && names.length > 0 && names.every((one) => NAME.test(one));
}

/** "ufw allow in on mesh0 failed: ERROR: …", with the last words of the program. */
export function failureOf(file: string, args: readonly string[], { code, stdout, stderr }: ProgramResult): string {
  const words = (stderr.trim() || stdout.trim() || `exit code ${code}`).replaceAll(/\s+/g, ' ');
  return `${[file, ...args].join(' ')} failed: ${words.slice(0, MOST_CHARACTERS)}`;
}

/** Returns the error for a program that did not do its work. */
export function refused(file: string, args: readonly string[], result: ProgramResult): MeshError {
  return new MeshError('unavailable', failureOf(file, args, result));
}
