import type { runProgram } from '../../../run-program.ts';
import { refused } from '../failure.ts';
import { chainsOf, isRecord, parseListing, type Rule } from '../ruleset.ts';
import { commentOf, mustOf, type Tool } from './tool.ts';

/** A rule at the top of the chains where packets meet the tables that drop, found again by its comment. */
export function nft(interfaceName: string, run: typeof runProgram): Tool {
  const must = mustOf(run);
  /** Its own rules in a chain, "inet filter input"; none where there is no such chain. */
  const ownRules = async (chain: string): Promise<readonly Rule[]> => {
    const args = ['-j', '--terse', 'list', 'chain', ...chain.split(' ')];
    const result = await run('nft', args);
    if (result.code !== 0 && /No such file or directory/.test(result.stderr)) return [];
    const listing = result.code === 0 ? parseListing(result.stdout) : undefined;
    if (!listing) throw refused('nft', args, result);
    return chainsOf(listing).flatMap(({ rules }) => rules.filter((rule) => isOwn(rule, interfaceName)));
  };
  return {
    isActive: async () => true,
    async missing(blockages) {
      const chains = new Set(blockages.map(({ table, base }) => `${table} ${base}`));
      const missing = [];
      for (const chain of chains) if ((await ownRules(chain)).length === 0) missing.push(chain);
      return missing;
    },
    async open(changes) {
      const rules = changes.map(
        (chain) => `insert rule ${chain} iifname "${interfaceName}" accept comment "${commentOf(interfaceName)}"\n`,
      );
      if (rules.length > 0) await must('nft', ['-f', '-'], rules.join(''));
    },
    async close(changes) {
      for (const chain of changes) {
        for (const { handle } of await ownRules(chain)) {
          await must('nft', ['delete', 'rule', ...chain.split(' '), 'handle', `${handle}`]);
        }
      }
    },
  };
}

/** By its comment, and as it was written: a rule that somebody made of it is theirs. */
function isOwn({ comment, statements }: Rule, interfaceName: string): boolean {
  const [first, ...others] = statements.filter((statement) => !('counter' in statement));
  const { match } = first ?? {};
  return (
    comment === commentOf(interfaceName) &&
    isRecord(match) &&
    match['right'] === interfaceName &&
    others.length === 1 &&
    'accept' in (others[0] ?? {})
  );
}
