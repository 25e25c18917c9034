import { lookUp } from '../model/find.ts';
import { explain } from '../reachability/explain.ts';
import {
  countPairs,
  examplesOf,
  type PlaceGroups,
  pairsBetween,
  placeGroups,
  splitPorts,
} from '../reachability/pairs-between.ts';
import { NO_PORTS } from '../reachability/port-sets.ts';
import type { Reachability } from '../reachability/reachability.ts';
import type { ReasonCode } from '../reachability/reasons.ts';
import type { NetworkState } from '../state/state.ts';
import { namesOf } from '../state/terms.ts';
import { type AssertionSpec, assertionText } from './assertion.ts';

/** Why an assertion does not hold, shown by one pair. */
export interface Flaw {
  readonly detail: string;
  /** Names of two peers that show it; null where no two are meant. */
  readonly from: string | null;
  readonly to: string | null;
  /** How many ordered pairs of peers it is wrong for. */
  readonly pairs: number;
  readonly reason_code: ReasonCode | null;
  /** The policy and its rule that decide it, where one does. */
  readonly policy: string | null;
  readonly rule_index: number | null;
}

/** Checks assertions against one state and what was compiled of it; terms that several share are resolved once. */
export function checker(state: NetworkState, reach: Reachability): (spec: AssertionSpec) => Flaw | undefined {
  const groups = new Map<string, PlaceGroups>();
  const groupsOf = (term: string): PlaceGroups => {
    const known = groups.get(term);
    if (known) return known;
    const made = placeGroups(reach, namesOf(term, state));
    groups.set(term, made);
    return made;
  };
  return (spec) => {
    const { src, dst, protocol, port, endPort, expect } = spec;
    const unknown = [src, dst].find((term) => isUnknownPeer(term, state));
    if (unknown !== undefined) return nothing(`there is no peer ${unknown}`);
    const { ports } = reach.parts;
    const asked = ports.ofEntries(
      protocol === undefined ? [] : [{ protocol, ...(port !== undefined && { port, endPort: endPort ?? port }) }],
    );
    let shown: Flaw | undefined;
    let pairs = 0;
    let met = 0;
    for (const group of pairsBetween(reach, groupsOf(src), groupsOf(dst))) {
      met += 1;
      const { open, closed } = splitPorts(reach, asked, group.ports);
      if ((expect === 'reachable' ? closed : open) === NO_PORTS) continue;
      pairs += countPairs(group);
      const [example] = shown ? [] : examplesOf(reach, group, 1);
      if (example) shown = flawOf(reach, spec, ...example);
    }
    if (met === 0 && expect === 'reachable') return nothing('no two peers that are ready are meant');
    return shown && { ...shown, pairs };
  };
}

/** A misspelt name would make every `unreachable` hold; a label that no peer has yet is a rule for those to come. */
function isUnknownPeer(term: string, { peers }: NetworkState): boolean {
  return term !== '*' && !term.includes('=') && lookUp(peers, term) === undefined;
}

function flawOf(reach: Reachability, spec: AssertionSpec, from: string, to: string): Flaw {
  const { steps, blocked_by: blockers } = explain(reach, {
    src: from,
    dst: to,
    protocol: spec.protocol,
    port: spec.port,
  });
  const [blocker] = blockers;
  // The ingress of the destination is the last to decide whether a connection is allowed.
  const opener = steps.findLast(({ reason_code: code }) => code === 'ALLOWED_BY_RULE') ?? steps.at(-1);
  const decided = spec.expect === 'reachable' ? blocker : opener;
  const policy = decided?.policy ?? null;
  const index = decided?.rule_index ?? null;
  const verb = spec.expect === 'reachable' ? 'could not' : 'could';
  const because =
    policy === null ? '' : ` because of the policy ${policy}${index === null ? '' : ` (rule ${index + 1})`}`;
  return {
    detail: `${assertionText(spec)}, but ${from} ${verb} reach ${to}${because}`,
    from,
    to,
    pairs: 0,
    reason_code: decided?.reason_code ?? null,
    policy,
    rule_index: index,
  };
}

function nothing(detail: string): Flaw {
  return { detail, from: null, to: null, pairs: 0, reason_code: null, policy: null, rule_index: null };
}
