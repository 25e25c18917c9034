import type { Comparison } from '../../authority/state-after.ts';
import { memoize } from '../../base/memoize.ts';
import { type PortSpan, spansOf, subtract } from '../../effect/port-spans.ts';
import { lookUpById } from '../../model/find.ts';
import { DIRECTIONS } from '../../model/policy-match.ts';
import { intersection } from '../../model/ranges.ts';
import { type Bits, hasBit } from '../../reachability/bits.ts';
import type { ActivePolicy, RuleCode } from '../../reachability/program.ts';
import { addressesOf } from '../../reachability/rule-overlap.ts';

/** A DENY that denied a connection which a change opens, and that connection as an example. */
export interface DeniedBefore {
  readonly policy: string;
  readonly src: string;
  readonly dst: string;
}

type Compared = Pick<Comparison, 'before' | 'after' | 'was' | 'effect'>;

/**
 * Returns the DENY policies that denied any of what a change opens, by whatever change it opens: of the policy, of an ALLOW
 * beside it, or of labels.
 *
 * Example: `no-lab` denies role=lab to role=db, and a plan takes the label from lab and lets it reach db-1: lab to db-1.
 */
export function deniedBefore({ before, after, was, effect }: Compared): DeniedBefore[] {
  const { space, ports, policies, endpoints } = was.parts;
  const classOf = (name: string) => {
    const uid = after.peers.get(name)?.uid;
    const place = was.placeOf((uid === undefined ? undefined : lookUpById(before.peers, uid)?.name) ?? name);
    return place === undefined ? undefined : endpoints[place]?.classIndex;
  };
  const classesOf = memoize((names: readonly string[]) => names.map((name) => [name, classOf(name)] as const));
  const within = (names: readonly string[], bits: Bits) =>
    classesOf(names).flatMap(([name, index]) => (index !== undefined && hasBit(bits, index) ? [name] : []));
  const groups = effect.groups.filter(({ opened }) => opened.length > 0);
  const outside = (effect.outside ?? []).filter(({ opened }) => opened.length > 0);
  return policies.flatMap((policy) => {
    const [first] = policy.code.allow ? [] : openedOf(policy);
    return first ? [{ policy: policy.name, ...first }] : [];
  });

  function openedOf({ code }: ActivePolicy): Omit<DeniedBefore, 'policy'>[] {
    const subjects = space.subjectsOf(code);
    return DIRECTIONS.flatMap((direction) => {
      const isIn = direction === 'ingress';
      return (code[direction] ?? []).flatMap((rule) => {
        const denied = spansOf(ports.describe(rule.ports));
        return [...betweenPeers(rule, denied, subjects, isIn), ...withOutside(rule, denied, subjects, isIn)];
      });
    });
  }

  function betweenPeers(rule: RuleCode, denied: readonly PortSpan[], subjects: Bits, isIn: boolean) {
    const [srcBits, dstBits] = isIn ? [space.othersOf(rule), subjects] : [subjects, space.othersOf(rule)];
    return groups.flatMap(({ src, dst, opened }) => {
      if (!meets(opened, denied)) return [];
      const [from, to] = [within(src, srcBits), within(dst, dstBits)];
      const [one] = from.slice(0, 2).flatMap((name) => to.slice(0, 2).flatMap((other) => pairOf(name, other)));
      return one ? [one] : [];
    });
  }

  function withOutside(rule: RuleCode, denied: readonly PortSpan[], subjects: Bits, isIn: boolean) {
    return outside.flatMap(({ side, ranges, names, peers, opened }) => {
      if ((side === 'src') !== isIn || !meets(opened, denied)) return [];
      const [peer] = intersection(ranges, addressesOf(rule)).length > 0 ? within(peers, subjects) : [];
      const [address = ''] = names;
      if (peer === undefined) return [];
      return [isIn ? { src: address, dst: peer } : { src: peer, dst: address }];
    });
  }
}

function pairOf(src: string, dst: string) {
  return src === dst ? [] : [{ src, dst }];
}

function meets(opened: readonly PortSpan[], denied: readonly PortSpan[]): boolean {
  return denied.length > 0 && subtract(opened, subtract(opened, denied)).length > 0;
}
