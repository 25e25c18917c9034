import { MeshError } from '../../../core/base/errors.ts';
import type { ProgramResult, runProgram } from '../../run-program.ts';
import { type ClosedChain, isOnInterface } from './closed-chains.ts';
import { chainsOf, isRecord, nftName, parseListing, type Rule, refused } from './nft-listing.ts';
import type { Opened } from './opened.ts';

/** A program that manages packet rules of the host, and has it accept an interface. */
export interface Tool {
  /** Returns the changes that are still to be made, whoever made the others. @throws MeshError */
  missing(closed: readonly ClosedChain[]): Promise<readonly string[]>;
  /** Makes such changes. @throws MeshError with the words of the program */
  open(changes: readonly string[]): Promise<void>;
  /** Takes such changes away, where they still are and are a node's own. Idempotent. @throws MeshError */
  close(changes: readonly string[]): Promise<void>;
}

/** Long enough for ufw and firewalld, which write files and load all rules anew. */
const TIMEOUT_MS = 30_000;

export function toolOf(name: Opened['tool'], interfaceName: string, run: typeof runProgram): Tool {
  return { ufw, firewalld, nft }[name](interfaceName, run);
}

/** Marks a rule as a node's own. */
const commentOf = (interfaceName: string) => `mesh ${interfaceName}`;

/** Runs a program that has to end with 0. */
function mustOf(run: typeof runProgram) {
  return async (file: string, args: readonly string[], stdin?: string): Promise<ProgramResult> => {
    const result = await run(file, args, { timeoutMs: TIMEOUT_MS, ...(stdin !== undefined && { stdin }) });
    if (result.code !== 0) throw refused(file, args, result);
    return result;
  };
}

/** A rule of ufw, recognized by its comment. */
function ufw(interfaceName: string, run: typeof runProgram): Tool {
  const must = mustOf(run);
  const rule = ['allow', 'in', 'on', interfaceName] as const;
  /** Returns the rule as ufw shows it. */
  const added = async () => {
    const { stdout } = await must('ufw', ['show', 'added']);
    const lines = stdout.split('\n').map((line) => line.trim());
    return lines.find((line) => line === `ufw ${rule.join(' ')}` || line.startsWith(`ufw ${rule.join(' ')} comment `));
  };
  return {
    missing: async () => ((await added()) === undefined ? ['rule'] : []),
    async open() {
      await must('ufw', [...rule, 'comment', commentOf(interfaceName)]);
    },
    async close() {
      // A host without ufw has none of its rules.
      if ((await run('ufw', ['version'])).isMissing) return;
      if ((await added())?.endsWith(` comment '${commentOf(interfaceName)}'`))
        await must('ufw', ['--force', 'delete', ...rule]);
    },
  };
}

/** Options for the rules in force, and for those of each start. */
const FIREWALLD_SCOPES = { now: [], permanent: ['--permanent'] } as const;
type Scope = keyof typeof FIREWALLD_SCOPES;
const SCOPES: readonly Scope[] = ['now', 'permanent'];

/** The interface in firewalld's zone `trusted`. */
function firewalld(interfaceName: string, run: typeof runProgram): Tool {
  const must = mustOf(run);
  const zone = (scope: Scope, verb: 'add' | 'remove' | 'query') =>
    [...FIREWALLD_SCOPES[scope], '--zone=trusted', `--${verb}-interface=${interfaceName}`] as const;
  const isThere = async (scope: Scope) => {
    const args = zone(scope, 'query');
    const result = await run('firewall-cmd', args);
    if (result.code !== 0 && result.stdout.trim() !== 'no') throw refused('firewall-cmd', args, result);
    return result.code === 0;
  };
  return {
    async missing() {
      const missing = [];
      for (const scope of SCOPES) if (!(await isThere(scope))) missing.push(scope);
      return missing;
    },
    async open(changes) {
      for (const scope of SCOPES.filter((one) => changes.includes(one))) await must('firewall-cmd', zone(scope, 'add'));
    },
    async close(changes) {
      const made = SCOPES.filter((one) => changes.includes(one));
      if ((await run('firewall-cmd', ['--state'])).code === 0) {
        for (const scope of made) if (await isThere(scope)) await must('firewall-cmd', zone(scope, 'remove'));
      } else if (made.includes('permanent') && !(await run('firewall-offline-cmd', ['--version'])).isMissing) {
        // It does not run, and would load the interface at its next start.
        await must('firewall-offline-cmd', zone('now', 'remove'));
      }
    },
  };
}

/** A rule at the top of each closed chain, recognized by its comment. */
function nft(interfaceName: string, run: typeof runProgram): Tool {
  const must = mustOf(run);
  const own = commentOf(interfaceName);
  /** Returns the rules of a chain, "inet filter input", that accept the interface and nothing else. */
  const acceptsOf = async (chain: string): Promise<readonly Rule[]> => {
    const args = ['-j', '--terse', 'list', 'chain', ...nftName(chain)];
    const result = await run('nft', args);
    if (result.code !== 0 && /No such file or directory/.test(result.stderr)) return [];
    const listing = result.code === 0 ? parseListing(result.stdout) : undefined;
    if (!listing) throw refused('nft', args, result);
    const [{ rules } = { rules: [] }] = chainsOf(listing);
    const isRestored = rules.some((rule) => isAccept(rule, interfaceName) && hasXtComment(rule));
    const saved = isRestored ? await savedRules(chain) : [];
    return rules
      .map((rule, at) => (hasXtComment(rule) && saved.length === rules.length ? withComment(rule, saved[at]) : rule))
      .filter((rule) => isAccept(rule, interfaceName));
  };
  /** `iptables-restore` turns a comment into an extension, of which nft lists nothing but its name. */
  const savedRules = async (chain: string): Promise<readonly string[]> => {
    const [family, table = '', name = ''] = nftName(chain);
    if (family !== 'ip' && family !== 'ip6') return [];
    const { code, stdout } = await run(`${family}tables-nft-save`, ['-t', table]);
    return code === 0 ? stdout.split('\n').filter((line) => line.startsWith(`-A ${name} `)) : [];
  };
  const ownRules = async (chain: string) => (await acceptsOf(chain)).filter(({ comment }) => comment === own);
  return {
    async missing(closed) {
      const missing = [];
      for (const { table, chain } of closed)
        if ((await ownRules(`${table} ${chain}`)).length === 0) missing.push(`${table} ${chain}`);
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

/** A rule like the node's own that lost its comment may be its own: no host counts as closed while it is there. */
function refuseLeft(chain: string, interfaceName: string, rules: readonly Rule[]): void {
  const left = rules.find(({ comment = '' }) => comment === '' || comment === commentOf(interfaceName));
  if (!left) return;
  const rule = `${chain} handle ${left.handle}`;
  throw new MeshError(
    'unavailable',
    `a rule without a comment still accepts ${interfaceName}: remove it (nft delete rule ${rule}), or give it a comment if it is yours`,
  );
}

/** True for such a rule as a node writes, whoever wrote it and with whatever comment. */
function isAccept({ statements }: Rule, interfaceName: string): boolean {
  const [first, ...others] = statements.filter(
    ({ counter, xt }) => counter === undefined && !(isRecord(xt) && xt['name'] === 'comment'),
  );
  const match = first?.['match'];
  if (!first || !isRecord(match) || match['right'] !== interfaceName || !isOnInterface(first, interfaceName))
    return false;
  return others.length === 1 && 'accept' in (others[0] ?? {});
}

function hasXtComment({ statements }: Rule): boolean {
  return statements.some(({ xt }) => isRecord(xt) && xt['name'] === 'comment');
}

/** Returns the rule with the comment that iptables-save has for it. */
function withComment(rule: Rule, line = ''): Rule {
  const comment = / --comment (?:"([^"]*)"|(\S+))/.exec(line);
  return comment ? { ...rule, comment: comment[1] ?? comment[2] ?? '' } : rule;
}
