import { judge, type Newcomer } from './matches.ts';
import type { Chain } from './ruleset.ts';

/** What of the host's own rules drops a packet. */
export interface Dropper {
  /** "inet filter". */
  readonly table: string;
  readonly chain: string;
  /** A rule, by its handle and text, or the policy of the chain. */
  readonly rule: { readonly handle: number; readonly text: string } | null;
}

type Verdict = { readonly is: 'accept' | 'return' | 'unsure' } | { readonly is: 'drop'; readonly by: Dropper };

/** Chains that jump to each other in a circle nftables refuses itself. */
const MAX_DEPTH = 16;

/**
 * What drops a packet on its way in, where that is certain: each base chain of the input hook has its say, as in the kernel, and
 * one that drops is enough. Pure.
 */
export function dropperOf(chains: readonly Chain[], packet: Newcomer): Dropper | undefined {
  const bases = chains.filter(({ table, base }) => base?.hook === 'input' && isOfFamily(table, packet));
  for (const chain of bases.toSorted((a, b) => (a.base?.priority ?? 0) - (b.base?.priority ?? 0))) {
    const verdict = verdictOf(chain, chains, packet, 0);
    if (verdict.is === 'drop') return verdict.by;
  }
  return undefined;
}

function isOfFamily(table: string, { from }: Newcomer): boolean {
  const [family = ''] = table.split(' ');
  return family === 'inet' || family === (from.includes(':') ? 'ip6' : 'ip');
}

function verdictOf(chain: Chain, chains: readonly Chain[], packet: Newcomer, depth: number): Verdict {
  if (depth > MAX_DEPTH) return { is: 'unsure' };
  /** A rule before may have left this chain: what drops from here on may not see the packet. */
  let mayHaveLeft = false;
  const sure = (verdict: Verdict): Verdict => (mayHaveLeft && verdict.is !== 'return' ? { is: 'unsure' } : verdict);
  for (const { text, handle } of chain.rules) {
    const { matches, rest } = judge(text, packet);
    if (matches === 'no') continue;
    const verdict = consequence(rest, { table: chain.table, chain: chain.name, rule: { handle, text } }, (name) => {
      const target = chains.find((one) => one.table === chain.table && one.name === name);
      return target ? verdictOf(target, chains, packet, depth + 1) : { is: 'unsure' };
    });
    if (verdict === 'next') continue;
    if (matches === 'yes') {
      if (verdict.is !== 'return' || !rest.startsWith('jump ')) return closing(chain, sure(verdict));
    } else if (verdict.is === 'accept' || verdict.is === 'unsure') return { is: 'unsure' };
    else if (verdict.is === 'return' && !rest.startsWith('jump ')) mayHaveLeft = true;
  }
  return closing(chain, { is: 'return' });
}

/** At the end of a base chain its policy decides. */
function closing({ table, name, base }: Chain, verdict: Verdict): Verdict {
  if (verdict.is !== 'return' || !base) return verdict;
  return base.policy === 'drop' ? { is: 'drop', by: { table, chain: name, rule: null } } : { is: 'accept' };
}

function consequence(rest: string, here: Dropper, jump: (chain: string) => Verdict): Verdict | 'next' {
  const [word = '', target = ''] = rest.split(' ');
  switch (word) {
    case 'accept':
      return { is: 'accept' };
    case 'drop':
    case 'reject':
      return { is: 'drop', by: here };
    case 'return':
      return { is: 'return' };
    case 'jump':
    case 'goto':
      return jump(target);
    case 'queue':
      return { is: 'unsure' };
    default:
      // Marks, logs and the like. A map of verdicts that is not understood may decide anything.
      return here.rule?.text.includes('vmap') ? { is: 'unsure' } : 'next';
  }
}
