import { memoize } from '../base/memoize.ts';
import { EVERY_ADDRESS, intersection, isSubset, type Ranges, union, without } from '../model/ranges.ts';
import { andInto, andNotInto, type Bits, eachBit, emptyBits, hasBit, isEmpty, setBit } from './bits.ts';
import type { Direction } from './model.ts';
import { networksOf } from './outside.ts';
import { NO_PORTS, type PortSetId } from './port-sets.ts';
import type { ActivePolicy, RuleCode } from './program.ts';
import type { Reachability } from './reachability.ts';

/**
 * The effect of other rules on one rule, with the policies of those rules. Rules that expire before it do not make it needless:
 * they take a part of it.
 */
export interface RuleOutcome {
  /** Nothing is left of an ALLOW; other rules do all that it does; DENY rules take a part of an ALLOW. */
  readonly ending: 'denied' | 'shadowed' | 'contradicted' | 'counts';
  readonly by: readonly string[];
}

interface OtherRule {
  readonly policy: string;
  readonly allow: boolean;
  /** True where it lasts at least as long as the rule that it is compared with. */
  readonly lasts: boolean;
  readonly code: RuleCode;
  readonly bits: Bits;
  readonly ports: PortSetId;
}

export const ruleKey = (policy: string, direction: Direction, index: number) => `${policy} ${direction} ${index}`;

/**
 * Compares a rule with all others that are about the peers its policy selects, towards all that it is about: peers by class,
 * and addresses outside of the networks.
 *
 * @param needless keys of rules that count as gone
 */
export function ruleOutcomeOf(
  reach: Reachability,
  policy: ActivePolicy,
  direction: Direction,
  rule: RuleCode,
  index: number,
  needless: ReadonlySet<string> = new Set(),
): RuleOutcome {
  const { space, table, policies, ports } = reach.parts;
  const others = inhabited(reach, space.othersOf(rule));
  const addresses = outsideOf(reach, rule);
  const isAllow = policy.code.allow;
  const names = { denied: new Set<string>(), shadowed: new Set<string>(), contradicted: new Set<string>() };
  let [allDenied, allShadowed] = [isAllow, true];
  const seen = new Set<string>();
  eachBit(inhabited(reach, space.subjectsOf(policy.code)), (subject) => {
    const key = table.selecting(subject).join();
    const isAlone = reach.members()[subject]?.length === 1;
    // A peer alone of its class is never the other end of its own connections.
    if (seen.has(isAlone ? `${key} ${subject}` : key)) return;
    seen.add(isAlone ? `${key} ${subject}` : key);
    const rest = table
      .selecting(subject)
      .flatMap((place) => policies[place] ?? [])
      .flatMap((one) =>
        (one.code[direction] ?? []).flatMap((code, at): OtherRule[] =>
          (one === policy && at === index) || needless.has(ruleKey(one.name, direction, at))
            ? []
            : [
                {
                  policy: one.name,
                  allow: one.code.allow,
                  lasts: one.code.expiresAt >= policy.code.expiresAt,
                  code,
                  bits: space.othersOf(code),
                  ports: code.ports,
                },
              ],
        ),
      );
    const denying = rest.filter(({ allow }) => !allow);
    const lasting = rest.filter(({ lasts }) => lasts);
    if (allDenied) {
      allDenied = coversAll(
        lasting.filter(({ allow }) => !allow),
        names.denied,
      );
    }
    if (allShadowed) {
      allShadowed = coversAll(
        lasting.filter(({ allow }) => allow === isAllow),
        names.shadowed,
      );
    }
    if (isAllow) {
      const met = othersFor(subject, isAlone);
      for (const one of denying) if (overlaps(one, met)) names.contradicted.add(one.policy);
    }
  });
  if (allDenied) return { ending: 'denied', by: [...names.denied] };
  if (allShadowed) return { ending: 'shadowed', by: [...names.shadowed] };
  if (names.contradicted.size > 0) return { ending: 'contradicted', by: [...names.contradicted] };
  return { ending: 'counts', by: [] };

  /** First the rules that cover all ports, by bits; what is left is looked at class by class. */
  function coversAll(rules: readonly OtherRule[], by: Set<string>): boolean {
    const left = others.slice();
    let uncovered = addresses;
    for (const one of rules) {
      if (ports.minus(rule.ports, one.ports) !== NO_PORTS) continue;
      if (meets(left, one.bits)) by.add(one.policy);
      andNotInto(left, one.bits);
      const fewer = uncovered.length === 0 ? uncovered : without(uncovered, addressesOf(one.code));
      if (!isSubset(uncovered, fewer)) by.add(one.policy);
      uncovered = fewer;
    }
    let covered = uncovered.length === 0;
    eachBit(left, (other) => {
      if (!covered) return;
      let missing = rule.ports;
      for (const one of rules) {
        if (!hasBit(one.bits, other) || ports.meet(missing, one.ports) === NO_PORTS) continue;
        missing = ports.minus(missing, one.ports);
        by.add(one.policy);
      }
      covered = missing === NO_PORTS;
    });
    return covered;
  }

  function overlaps(one: OtherRule, met: Bits): boolean {
    if (ports.meet(rule.ports, one.ports) === NO_PORTS) return false;
    return meets(met, one.bits) || intersection(addresses, addressesOf(one.code)).length > 0;
  }

  /** Returns the classes that a rule is about and with which a subject can have a connection. */
  function othersFor(subject: number, isAlone: boolean): Bits {
    const met = emptyBits(space.classes.length);
    const { network } = space.classes[subject] ?? {};
    eachBit(others, (other) => {
      const { network: its } = space.classes[other] ?? {};
      if ((its === undefined || its === network) && !(isAlone && other === subject)) setBit(met, other);
    });
    return met;
  }
}

/** The classes of the set that some endpoint is in now; a class may have outlived its last one. */
export function inhabited(reach: Reachability, bits: Bits): Bits {
  const lived = inhabitedClasses(reach).slice();
  andInto(lived, bits);
  return lived;
}

const inhabitedClasses = memoize(({ parts }: Reachability): Bits => {
  const lived = emptyBits(parts.space.classes.length);
  for (const endpoint of parts.endpoints) if (endpoint) setBit(lived, endpoint.classIndex);
  return lived;
});

function meets(a: Bits, b: Bits): boolean {
  const both = a.slice();
  andInto(both, b);
  return !isEmpty(both);
}

/** The addresses that a rule is about and no peer can have. */
function outsideOf(reach: Reachability, rule: RuleCode): Ranges {
  return without(addressesOf(rule), networksOf(reach));
}

/** Returns the addresses that a rule means by its blocks, or by meaning anyone. */
export function addressesOf({ anyone, blocks }: RuleCode): Ranges {
  if (anyone) return EVERY_ADDRESS;
  return union(blocks.flatMap(({ cidr, except }) => without([cidr], union(except))));
}
