import { MeshError } from '../../../../core/base/errors.ts';
import type { runProgram } from '../../../run-program.ts';
import { refused } from '../failure.ts';
import { savedRules } from '../iptables.ts';
import { nftName } from '../nft-name.ts';
import { chainsOf, isRecord, parseListing, type Rule } from '../ruleset.ts';
import { commentOf, mustOf, type Tool } from './tool.ts';

/** A rule at the top of the chains where packets meet the tables that drop, found again by its comment. */
export function nft(interfaceName: string, run: typeof runProgram): Tool {
  const must = mustOf(run);
  /** The rules of a chain, "inet filter input", that accept the interface and nothing else; none where there is no such chain. */
  const acceptsOf = async (chain: string): Promise<readonly Rule[]> => {
    const args = ['-j', '--terse', 'list', 'chain', ...nftName(chain)];
    const result = await run('nft', args);
    if (result.code !== 0 && /No such file or directory/.test(result.stderr)) return [];
    const listing = result.code === 0 ? parseListing(result.stdout) : undefined;
    if (!listing) throw refused('nft', args, result);
    const [{ rules } = { rules: [] }] = chainsOf(listing);
    const isRestored = rules.some((rule) => isAccept(rule, interfaceName) && hasXtComment(rule));
    const saved = isRestored ? await savedOf(chain) : [];
    return rules
      .map((rule, at) => (hasXtComment(rule) && saved.length === rules.length ? commented(rule, saved[at]) : rule))
      .filter((rule) => isAccept(rule, interfaceName));
  };
  /** `iptables-restore` turns a comment into an extension, of which nft lists nothing but its name. */
  const savedOf = async (chain: string): Promise<readonly string[]> => {
    const [family, table = '', name = ''] = nftName(chain);
    if (family !== 'ip' && family !== 'ip6') return [];
    const { code, stdout } = await run(`${family}tables-nft-save`, ['-t', table]);
    return code === 0 ? (savedRules(stdout).get(name) ?? []) : [];
  };
  const own = commentOf(interfaceName);
  const ownRules = async (chain: string) => (await acceptsOf(chain)).filter(({ comment }) => comment === own);
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
        (chain) => `insert rule ${nftName(chain).join(' ')} iifname "${interfaceName}" accept comment "${own}"\n`,
      );
      if (rules.length > 0) await must('nft', ['-f', '-'], rules.join(''));
    },
    async close(changes) {
      for (const chain of changes) {
        for (const { handle } of await ownRules(chain)) {
          await must('nft', ['delete', 'rule', ...nftName(chain), 'handle', `${handle}`]);
        }
      }
      for (const chain of changes) refuseLeft(chain, interfaceName, await acceptsOf(chain));
    },
  };
}

/** A rule like the node's own that lost its comment may be its own: nobody is told that the host is closed. */
function refuseLeft(chain: string, interfaceName: string, rules: readonly Rule[]): void {
  const left = rules.find(({ comment = '' }) => comment === '' || comment === commentOf(interfaceName));
  if (!left) return;
  const rule = `${chain} handle ${left.handle}`;
  throw new MeshError(
    'unavailable',
    `a rule without a comment still accepts ${interfaceName}: remove it (nft delete rule ${rule}), or give it a comment if it is yours`,
  );
}

/** Such a rule as a node writes, whoever wrote it and with whatever comment. */
function isAccept({ statements }: Rule, interfaceName: string): boolean {
  const [first, ...others] = statements.filter(
    ({ counter, xt }) => counter === undefined && !(isRecord(xt) && xt['name'] === 'comment'),
  );
  const { match } = first ?? {};
  if (!isRecord(match) || match['op'] !== '==' || !isRecord(match['left'])) return false;
  const { meta } = match['left'];
  const isOnInterface = isRecord(meta) && (meta['key'] === 'iifname' || meta['key'] === 'iif');
  return isOnInterface && match['right'] === interfaceName && others.length === 1 && 'accept' in (others[0] ?? {});
}

function hasXtComment({ statements }: Rule): boolean {
  return statements.some(({ xt }) => isRecord(xt) && xt['name'] === 'comment');
}

/** With the comment that iptables-save has of it. */
function commented(rule: Rule, line = ''): Rule {
  const comment = / --comment (?:"([^"]*)"|(\S+))/.exec(line);
  return comment ? { ...rule, comment: comment[1] ?? comment[2] ?? '' } : rule;
}
