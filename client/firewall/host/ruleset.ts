/** What is judged of nftables, as libnftables-json(5) describes it. */

/** A statement of a rule: one key that names it, and what it is given. */
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
  /** Of a base chain: where packets meet it, and what becomes of those that no rule decides. */
  readonly base: Base | null;
  readonly rules: readonly Rule[];
}

export interface Base {
  readonly type: string;
  readonly hook: string;
  readonly priority: number;
  readonly policy: 'accept' | 'drop';
  /** Of the family netdev. */
  readonly devices: readonly string[];
}

/** What a set or a map holds; a reason where that is not known. */
export type Elements = readonly unknown[] | string;

export interface Ruleset {
  readonly chains: readonly Chain[];
  /** By table and name, "inet filter friends". */
  readonly sets: ReadonlyMap<string, Elements>;
  /** Why tables are not judged: "inet filter has more than 4 MiB of rules". */
  readonly unread: readonly string[];
}

/** Reads what `nft --json` listed. Pure. @returns undefined for what is no whole listing */
export function parseListing(text: string): readonly Statement[] | undefined {
  try {
    const objects = (JSON.parse(text) as { nftables?: unknown } | null)?.nftables;
    return Array.isArray(objects) ? objects.filter(isRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** The chains of a listing, each with its rules in their order; what is no chain and no rule is passed over. Pure. */
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
        // Of a rule without a list nothing is known.
        statements: Array.isArray(expr)
          ? expr.map((one) => (isRecord(one) ? one : { unknown: one }))
          : [{ unknown: expr }],
      });
    }
  }
  return [...chains.values()];
}

function baseOf({ type, hook, prio, policy, dev }: Statement): Base | null {
  if (typeof hook !== 'string') return null;
  return {
    type: String(type),
    hook,
    priority: Number(prio),
    policy: policy === 'drop' ? 'drop' : 'accept',
    devices: [dev].flat().filter((one) => typeof one === 'string'),
  };
}

export function isRecord(value: unknown): value is Statement {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
