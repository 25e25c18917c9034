import {
  brokenControls,
  type ControlFlip,
  frameworksInForce,
  type Side,
  touchedControls,
} from '../compliance/flips.ts';
import { scopeRule } from '../compliance/scope.ts';
import { allRulesOf } from '../model/policy-match.ts';
import type { WorkspaceSettings } from '../model/workspaces.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { beginsOf, stateAt } from '../state/begins.ts';
import type { NetworkState } from '../state/state.ts';
import type { NetworkStates } from '../state/states.ts';
import { type JoinGrant, labelsJoining, type NamedLabels, namedLabels } from './label-sets.ts';
import { MAX_NEWCOMERS, withThoseOf } from './newcomers.ts';
import type { Comparison } from './state-after.ts';

interface Later {
  /** Labels that devices get from the tokens that are out. */
  readonly joins: readonly JoinGrant[];
  /** Labels from the tokens that the change makes. */
  readonly made?: readonly JoinGrant[];
  readonly settings: Pick<WorkspaceSettings, 'compliance'>;
  readonly states: Pick<NetworkStates, 'reachability'>;
}

/**
 * Returns the controls that a change flips now, and those that fail later: when devices have joined with the tokens that
 * are out, when policies have begun, and when policies have ended. Two views of policies that end miss no order of ends that opens something: one in
 * which all have ended, and one in which those that let somebody in still stand.
 */
export function controlsOfChange(
  { before, after, now }: Pick<Comparison, 'before' | 'after' | 'now'>,
  { joins, made = [], settings, states }: Later,
): ControlFlip[] {
  const side = (state: NetworkState): Side => ({ state, at: now, reach: () => states.reachability(state, now) });
  const flips = touchedControls(side(before), side(after), settings);
  const known = new Set(brokenControls(flips));
  const all = [...joins, ...made];
  const scopes = (['cde', 'ephi'] as const).flatMap((scope) => scopeRule(scope, settings).selectors);
  const named = namedLabels([before, after].map(last), scopes);
  const [old, next] = [withThoseOf(before, joins, named), withThoseOf(after, all, named)];
  // Too many devices to judge count as failing; policies that end are judged without those devices then.
  if (!old || !next) flips.push(...tooManyToJudge([before, after], all, settings, named));
  const joined = [old ?? before, next ?? after] as const;
  for (const [when, was, is] of viewsOf(joined, joined[0] !== before || joined[1] !== after)) {
    for (const flip of touchedControls(side(was), side(is), settings)) {
      if (flip.to !== 'fail' || known.has(flip.control)) continue;
      known.add(flip.control);
      flips.push({ ...flip, evidence: `${when}, ${flip.evidence}` });
    }
  }
  return flips;
}

const last = (state: NetworkState) => stateAt(state, Number.POSITIVE_INFINITY);

/** Returns a failing control for each framework that concerns a peer or a device that may join. */
function tooManyToJudge(
  states: readonly NetworkState[],
  joins: readonly JoinGrant[],
  settings: Later['settings'],
  named: NamedLabels,
) {
  const evidence = `tokens with more than ${MAX_NEWCOMERS} different sets of labels are out, so what devices that join would do to controls cannot be judged.`;
  const peers = states.flatMap((state) => [...state.peers.values()]);
  const single = joins.flatMap((one) =>
    (one.deviceLabels ?? []).flatMap((grant) => [...labelsJoining([{ ...one, deviceLabels: [grant] }], named)]),
  );
  return frameworksInForce(settings, [...peers, ...joins, ...single]).map((framework): ControlFlip => {
    const control = `${framework.toUpperCase()}-tokens`;
    return { framework, control, title: 'Devices that may join', from: 'pass', to: 'fail', evidence };
  });
}

function* viewsOf([before, after]: States, hasJoined: boolean): Generator<readonly [string, ...States]> {
  if (hasJoined) yield ['once devices have joined with the tokens that are out', before, after];
  yield* endedViews('once policies have ended', [before, after]);
  // Each by itself: what opens at one begin, a later one may close again.
  for (const at of beginsOf(before, after)) {
    const begun = [stateAt(before, at), stateAt(after, at)] as const;
    yield ['once policies have begun', ...begun];
    yield* endedViews('once policies have begun and others have ended', begun);
  }
}

type States = readonly [before: NetworkState, after: NetworkState];

function* endedViews(when: string, [before, after]: States): Generator<readonly [string, ...States]> {
  if (![before, after].some(({ policies }) => [...policies.values()].some(ends))) return;
  const left = (state: NetworkState, stays: (policy: Policy) => boolean): NetworkState => ({
    ...state,
    policies: new Map([...state.policies].filter(([, policy]) => !ends(policy) || stays(policy))),
  });
  yield [when, left(before, () => false), left(after, () => false)];
  yield [when, left(before, letsIn), left(after, letsIn)];
}

type Policy = NetworkState['policies'] extends ReadonlyMap<string, infer P> ? P : never;

function ends({ spec, annotations }: Policy): boolean {
  return spec.expiresAt !== undefined || annotations[WRITTEN_BY] !== undefined;
}

function letsIn({ spec }: Policy): boolean {
  return spec.action === 'ALLOW' && allRulesOf(spec).length > 0;
}
