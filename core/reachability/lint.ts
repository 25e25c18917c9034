import { memoize } from '../base/memoize.ts';
import { containsRange, parseCidr } from '../model/cidr.ts';
import { gonePeers } from '../model/peer-lists.ts';
import { type PolicySpec, policySpecSchema } from '../model/policy.ts';
import { DIRECTIONS, namesNoDirection, rulesOf } from '../model/policy-match.ts';
import { isSubset, union } from '../model/ranges.ts';
import { selectsEveryone } from '../model/selector.ts';
import { isEmpty } from './bits.ts';
import type { Direction } from './model.ts';
import type { ActivePolicy } from './program.ts';
import type { Reachability } from './reachability.ts';
import { inhabited, ruleKey, ruleOutcomeOf } from './rule-overlap.ts';

export const LINT_CODES = [
  'UNREADABLE_POLICY',
  'POLICY_HAS_ENDED',
  'SELECTS_NO_PEER',
  'LISTS_GONE_PEER',
  'RULE_MATCHES_NO_ONE',
  'RULE_IS_DENIED',
  'RULE_IS_SHADOWED',
  'RULE_IS_CONTRADICTED',
  'DENY_MATCHES_EVERYTHING',
  'ANY_TO_ANY',
  'CIDR_COVERS_OVERLAY',
  'ISOLATES_BOTH_WAYS',
] as const;
export type LintCode = (typeof LINT_CODES)[number];

/** Something about a policy that is allowed and probably not meant. */
export interface Warning {
  readonly code: LintCode;
  readonly policy: string;
  readonly direction: Direction | null;
  readonly rule_index: number | null;
  /** Why. */
  readonly message: string;
  /** Advice on how to fix it. */
  readonly fix: string;
  /** The policy and those that it meets. */
  readonly policies: readonly string[];
}

const FIXES: Readonly<Record<LintCode, string>> = {
  UNREADABLE_POLICY: 'Write it again.',
  POLICY_HAS_ENDED: 'Delete it, or give it a later expiresAt.',
  SELECTS_NO_PEER: 'Correct its peerSelector, or delete it.',
  LISTS_GONE_PEER: 'Take them off its lists.',
  RULE_MATCHES_NO_ONE: 'Correct its from or to, or remove the rule.',
  RULE_IS_DENIED: 'Remove the rule, or narrow the DENY.',
  RULE_IS_SHADOWED: 'Remove the rule; a DENY that has no other rule goes as a whole.',
  RULE_IS_CONTRADICTED: 'Nothing, if the DENY is meant as an exception; else narrow one of the two.',
  DENY_MATCHES_EVERYTHING: 'Leave its rules out, so that it is the base that ALLOW rules open.',
  ANY_TO_ANY: 'Say who may reach whom: give it a peerSelector, or its rule from or to.',
  CIDR_COVERS_OVERLAY: 'Add the network to its except, or select the peers that are meant.',
  ISOLATES_BOTH_WAYS: 'Give it ingress or egress; a base that isolates is a DENY without rules.',
};

/**
 * Looks at every policy, or at those of a set of names, beside the peers there are now. All rules that it calls shadowed can
 * go at once: of rules that shadow each other, those of the newest policies are named.
 *
 * @param createdAt ms
 */
export function lint(
  reach: Reachability,
  names?: ReadonlySet<string>,
  createdAt: (policy: string) => number = () => 0,
): Warning[] {
  const active = new Set(reach.parts.policies.map(({ name }) => name));
  const ended = reach.model.policies.filter(({ name }) => !active.has(name) && (!names || names.has(name)));
  const needless = new Set<string>();
  const newestFirst = reach.parts.policies.toReversed().sort((a, b) => createdAt(b.name) - createdAt(a.name));
  const found = new Map(newestFirst.map((policy) => [policy, lintOne(policy)]));
  return [...reach.parts.policies.flatMap((policy) => found.get(policy) ?? []), ...ended.map(endedWarning)];

  function lintOne(policy: ActivePolicy): Warning[] {
    if (names && !names.has(policy.name)) return [];
    const parsed = typeof policy.spec === 'object' && policy.spec ? specOf(policy.spec) : { success: false as const };
    if (!parsed.success) {
      return [warning(policy, 'UNREADABLE_POLICY', 'it cannot be read, so it only denies')];
    }
    return [
      ...lintPolicy(reach, policy, parsed.data),
      ...DIRECTIONS.flatMap((direction) => lintRules(reach, policy, parsed.data, direction, needless)),
    ];
  }
}

function endedWarning(policy: Pick<ActivePolicy, 'name'>): Warning {
  return warning(policy, 'POLICY_HAS_ENDED', 'its time is over, so that it does nothing');
}

/** Parsed once for each version of a policy: findings come in pages. */
const specOf = memoize((spec: object) => policySpecSchema.safeParse(spec));

const idsOf = memoize(({ model }: Reachability) => new Set(model.peers.map(({ uid, name }) => uid ?? name)));

function lintPolicy(reach: Reachability, policy: ActivePolicy, spec: PolicySpec): Warning[] {
  const { code } = policy;
  const found: Warning[] = [];
  const subjects = inhabited(reach, reach.parts.space.subjectsOf(code));
  if (isEmpty(subjects)) found.push(warning(policy, 'SELECTS_NO_PEER', 'its peerSelector matches no peer'));
  const gone = gonePeers(spec, (id) => idsOf(reach).has(id));
  if (gone.length > 0) {
    found.push(warning(policy, 'LISTS_GONE_PEER', `it lists peers that are gone and mean nobody: ${gone.join(', ')}`));
  }
  if (code.allow && namesNoDirection(spec)) {
    found.push(
      warning(
        policy,
        'ISOLATES_BOTH_WAYS',
        'an ALLOW with neither ingress nor egress allows nothing and isolates both ways',
      ),
    );
  }
  return found;
}

/** @param needless keys of rules that are called shadowed; more are added */
function lintRules(
  reach: Reachability,
  policy: ActivePolicy,
  spec: PolicySpec,
  direction: Direction,
  needless: Set<string>,
): Warning[] {
  const { space } = reach.parts;
  const rules = policy.code[direction] ?? [];
  const everyone = selectsEveryone(spec.peerSelector);
  const texts = rulesOf(spec, direction) ?? [];
  return rules.flatMap((rule, index) => {
    const found: Warning[] = [];
    const warn = (code: LintCode, message: string, by: readonly string[] = []) =>
      found.push({ ...warning(policy, code, message, by), direction, rule_index: index });
    const blocks =
      texts[index]?.peers.flatMap((entry) => (entry !== '*' && entry.ipBlock ? [entry.ipBlock] : [])) ?? [];
    for (const { cidr, except } of blocks) {
      const covered = reach.model.networks.find((network) => covers(cidr, network.cidr, except));
      if (covered)
        warn(
          'CIDR_COVERS_OVERLAY',
          `${cidr} covers the network ${covered.name}, so it means every peer with an address too`,
        );
    }
    if (everyone && rule.anyone) {
      if (policy.code.allow) warn('ANY_TO_ANY', 'it lets anyone reach every peer');
      else if (reach.parts.ports.describe(rule.ports) === 'ALL') {
        warn(
          'DENY_MATCHES_EVERYTHING',
          'no ALLOW can override it; a DENY without rules is the base that ALLOW rules open',
        );
      }
    }
    if (isEmpty(inhabited(reach, space.othersOf(rule))) && rule.blocks.length === 0) {
      warn('RULE_MATCHES_NO_ONE', 'its peers match no peer');
      return found;
    }
    if (comparesRules(reach) && !isEmpty(inhabited(reach, space.subjectsOf(policy.code)))) {
      const { ending, by } = ruleOutcomeOf(reach, policy, direction, rule, index, needless);
      const names = listed(by);
      if (ending === 'denied') warn('RULE_IS_DENIED', `DENY rules take away everything that it allows: ${names}`, by);
      if (ending === 'shadowed') {
        needless.add(ruleKey(policy.name, direction, index));
        const verb = policy.code.allow ? 'allow' : 'deny';
        const why = `other ${policy.code.allow ? 'ALLOW' : 'DENY'} rules already ${verb} all of it: ${names}`;
        const [only = '', ...more] = by;
        const isEither = more.length === 0 && isShadowedBy(reach, only, direction, policy.name);
        found.push({
          ...warning(policy, 'RULE_IS_SHADOWED', why, by),
          direction,
          rule_index: index,
          ...(isEither && { fix: `The two say the same: remove either, ${policy.name} or ${names}, and never both.` }),
        });
      }
      if (ending === 'contradicted') {
        warn('RULE_IS_CONTRADICTED', `DENY rules take away a part of what it allows: ${names}`, by);
      }
    }
    return found;
  });
}

/** Returns true if a policy has a rule that those of another one alone make needless. */
function isShadowedBy(reach: Reachability, name: string, direction: Direction, other: string): boolean {
  const policy = reach.parts.policies.find((one) => one.name === name);
  return (policy?.code[direction] ?? []).some((rule, index) => {
    if (!policy) return false;
    const { ending, by } = ruleOutcomeOf(reach, policy, direction, rule, index);
    return ending === 'shadowed' && by.length === 1 && by[0] === other;
  });
}

/** Classes times policies above which rules are not compared with each other: that would take seconds. */
const MAX_SHADOW_WORK = 250_000;

/** Returns true if a network is small enough to compare its rules with each other. */
export function comparesRules({ parts }: Reachability): boolean {
  return parts.space.classes.length * parts.policies.length <= MAX_SHADOW_WORK;
}

/** Names shown of those that a rule meets. */
const MAX_NAMES = 5;

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function covers(outer: string, inner: string, except: readonly string[] = []): boolean {
  const [a, b] = [parseCidr(outer), parseCidr(inner)];
  if (a === undefined || b === undefined || !containsRange(a, b)) return false;
  return !isSubset([b], union(except.flatMap((text) => parseCidr(text) ?? [])));
}

function warning(
  { name }: Pick<ActivePolicy, 'name'>,
  code: LintCode,
  message: string,
  by: readonly string[] = [],
): Warning {
  const policies = [...new Set([name, ...by])];
  return { code, policy: name, direction: null, rule_index: null, message, fix: FIXES[code], policies };
}
