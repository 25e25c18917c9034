/** A chain of nftables, as `nft --handle list ruleset` prints it. */
export interface Chain {
  /** "inet filter". */
  readonly table: string;
  readonly name: string;
  /** Of a base chain: where packets meet it, and what becomes of those that no rule decides. */
  readonly base: { readonly hook: string; readonly priority: number; readonly policy: 'accept' | 'drop' } | null;
  readonly rules: readonly Rule[];
}

export interface Rule {
  readonly text: string;
  readonly handle: number;
}

/** Names of priorities (nft(8), table of standard priorities) that filters of incoming packets have. */
const PRIORITIES: Readonly<Record<string, number>> = { raw: -300, mangle: -150, dstnat: -100, filter: 0, security: 50 };

/** Reads a listing; what is no chain is passed over. Pure. */
export function parseRuleset(listing: string): readonly Chain[] {
  const chains: (Omit<Chain, 'rules' | 'base'> & { base: Chain['base']; rules: Rule[] })[] = [];
  let table = '';
  /** Of blocks, by what they began with. */
  const open: string[] = [];
  for (const line of listing.split('\n').map((one) => one.trim())) {
    const [, begun] = /^([^{]*) \{(?: # [\w ]*)?$/.exec(line) ?? [];
    if (begun !== undefined) {
      open.push(begun);
      if (begun.startsWith('table ')) table = begun.slice('table '.length);
      else if (begun.startsWith('chain '))
        chains.push({ table, name: begun.slice('chain '.length), base: null, rules: [] });
    } else if (line === '}') open.pop();
    else if (open.at(-1)?.startsWith('chain ')) {
      const chain = chains.at(-1);
      const base = baseOf(line);
      const rule = ruleOf(line);
      if (chain && base) chain.base = base;
      else if (chain && rule) chain.rules.push(rule);
    }
  }
  return chains;
}

function baseOf(line: string): Chain['base'] {
  const [, hook, name = '', sign = '+', more = '0', policy] =
    /^type \w+ hook (\w+) (?:device \S+ )?priority (-?\w+)(?: ([+-]) (\d+))?;(?: policy (\w+);)?/.exec(line) ?? [];
  if (hook === undefined) return null;
  const priority = (PRIORITIES[name] ?? Number(name)) + Number(`${sign}${more}`);
  return { hook, priority, policy: policy === 'drop' ? 'drop' : 'accept' };
}

/** `nft --handle` writes it behind each rule. */
const HANDLE = ' # handle ';

function ruleOf(line: string): Rule | undefined {
  const at = line.lastIndexOf(HANDLE);
  return at < 0 ? undefined : { text: line.slice(0, at), handle: Number(line.slice(at + HANDLE.length)) };
}
