import { once } from '../base/once.ts';
import { containsRange, parseCidr } from '../model/cidr.ts';
import { rulesOf } from '../model/meaning.ts';
import { gonePeers } from '../model/peer-lists.ts';
import { type PolicySpec, policySpecSchema } from '../model/policy.ts';
import { isSubset, union } from '../model/ranges.ts';
import { selectsEveryone } from '../model/selector.ts';
import { andInto, andNotInto, type Bits, eachBit, emptyBits, hasBit, isEmpty, setBit } from './bits.ts';
import type { Direction } from './model.ts';
import { NO_PORTS, type PortSetId } from './port-sets.ts';
import type { ActivePolicy, RuleCode } from './program.ts';
import type { Reachability } from './reachability.ts';

export const LINT_CODES = [
  'UNREADABLE_POLICY',
  'SELECTS_NO_PEER',
  'LISTS_GONE_PEER',
  'RULE_MATCHES_NO_ONE',
  'RULE_IS_DENIED',
  'RULE_IS_SHADOWED',
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
  readonly message: string;
}

/** Looks at every policy in force, or at those of a set of names, beside the peers there are now. */
export function lint(reach: Reachability, names?: ReadonlySet<string>): Warning[] {
  return reach.parts.policies.flatMap((policy) => {
    if (names && !names.has(policy.name)) return [];
    const parsed = policySpecSchema.safeParse(policy.spec);
    if (!parsed.success) {
      return [warning(policy, 'UNREADABLE_POLICY', 'it cannot be read, so it only denies: write it again')];
    }
    return [
      ...lintPolicy(reach, policy, parsed.data),
      ...directions.flatMap((direction) => lintRules(reach, policy, parsed.data, direction)),
    ];
  });
}

const directions = ['ingress', 'egress'] as const satisfies Direction[];

const idsOf = once(({ model }: Reachability) => new Set(model.peers.map(({ uid, name }) => uid ?? name)));

function lintPolicy(reach: Reachability, policy: ActivePolicy, spec: PolicySpec): Warning[] {
  const { code } = policy;
  const found: Warning[] = [];
  const subjects = inhabited(reach, reach.parts.space.subjectsOf(code));
  if (isEmpty(subjects)) found.push(warning(policy, 'SELECTS_NO_PEER', 'its peerSelector matches no peer'));
  const gone = gonePeers(spec, (id) => idsOf(reach).has(id));
  if (gone.length > 0) {
    found.push(warning(policy, 'LISTS_GONE_PEER', `it lists peers that are gone and mean nobody: ${gone.join(', ')}`));
  }
  if (code.allow && spec.ingress === undefined && spec.egress === undefined) {
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

function lintRules(reach: Reachability, policy: ActivePolicy, spec: PolicySpec, direction: Direction): Warning[] {
  const { space } = reach.parts;
  const rules = policy.code[direction] ?? [];
  const everyone = selectsEveryone(spec.peerSelector);
  const texts = rulesOf(spec, direction) ?? [];
  return rules.flatMap((rule, index) => {
    const found: Warning[] = [];
    const warn = (code: LintCode, message: string) =>
      found.push({ ...warning(policy, code, message), direction, rule_index: index });
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
    const small = space.classes.length * reach.parts.policies.length <= MAX_SHADOW_WORK;
    if (
      small &&
      policy.code.allow &&
      rule.blocks.length === 0 &&
      !isEmpty(inhabited(reach, space.subjectsOf(policy.code)))
    ) {
      const ending = endingOf(reach, policy, direction, rule, index);
      if (ending === 'denied') warn('RULE_IS_DENIED', 'DENY rules take away everything that it allows');
      if (ending === 'shadowed') warn('RULE_IS_SHADOWED', 'other ALLOW rules already allow all of it');
    }
    return found;
  });
}

/** Classes times policies above which rules are not compared with each other: that would take seconds. */
const MAX_SHADOW_WORK = 250_000;

/** Whether every pair of classes that an ALLOW rule is about is denied anyway, or allowed without it. */
function endingOf(
  reach: Reachability,
  policy: ActivePolicy,
  direction: Direction,
  rule: RuleCode,
  index: number,
): 'denied' | 'shadowed' | 'counts' {
  const { space, table, policies, ports } = reach.parts;
  const others = inhabited(reach, space.othersOf(rule));
  const seen = new Set<string>();
  let allDenied = true;
  let allShadowed = true;
  eachBit(inhabited(reach, space.subjectsOf(policy.code)), (subject) => {
    const key = table.selecting(subject).join();
    if ((!allDenied && !allShadowed) || seen.has(key)) return;
    seen.add(key);
    const rest: { readonly allow: boolean; readonly bits: Bits; readonly ports: PortSetId }[] = table
      .selecting(subject)
      .flatMap((place) => policies[place] ?? [])
      .flatMap((one) =>
        (one.code[direction] ?? [])
          .filter((other, at) => (one !== policy || at !== index) && (!rule.anyone || other.anyone))
          .map((other) => ({ allow: one.code.allow, bits: space.othersOf(other), ports: other.ports })),
      );
    if (allDenied) allDenied = coversAll(rest.filter(({ allow }) => !allow));
    if (allShadowed) allShadowed = coversAll(rest.filter(({ allow }) => allow));
  });
  return allDenied ? 'denied' : allShadowed ? 'shadowed' : 'counts';

  /** First the rules that cover all ports, by bits; what is left is looked at class by class. */
  function coversAll(rules: readonly { readonly bits: Bits; readonly ports: PortSetId }[]): boolean {
    const left = others.slice();
    for (const one of rules) if (ports.minus(rule.ports, one.ports) === NO_PORTS) andNotInto(left, one.bits);
    let covered = true;
    eachBit(left, (other) => {
      if (!covered) return;
      const missing = rules.reduce(
        (set, { bits, ports: theirs }) => (hasBit(bits, other) ? ports.minus(set, theirs) : set),
        rule.ports,
      );
      covered = missing === NO_PORTS;
    });
    return covered;
  }
}

/** The classes of the set that some endpoint is in now; a class may have outlived its last one. */
function inhabited(reach: Reachability, bits: Bits): Bits {
  const lived = emptyBits(reach.parts.space.classes.length);
  for (const endpoint of reach.parts.endpoints) if (endpoint) setBit(lived, endpoint.classIndex);
  andInto(lived, bits);
  return lived;
}

function covers(outer: string, inner: string, except: readonly string[] = []): boolean {
  const [a, b] = [parseCidr(outer), parseCidr(inner)];
  if (a === undefined || b === undefined || !containsRange(a, b)) return false;
  return !isSubset([b], union(except.flatMap((text) => parseCidr(text) ?? [])));
}

function warning({ name }: ActivePolicy, code: LintCode, message: string): Warning {
  return { code, policy: name, direction: null, rule_index: null, message };
}
