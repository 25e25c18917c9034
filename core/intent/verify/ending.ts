import { formatSecond } from '../../base/time.ts';
import { zonedText } from '../../base/time-zone.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import { type Effect, type EffectSide, effectOf } from '../../effect/effect.ts';
import { namedTerms } from '../../effect/named-terms.ts';
import { effectTexts } from '../../effect/rows.ts';
import { lookUp } from '../../model/find.ts';
import type { PolicySpec } from '../../model/policy.ts';
import { allRulesOf, beginOf, DIRECTIONS, endOf, isolates } from '../../model/policy-match.ts';
import { sameValue } from '../../model/value.ts';
import { BEGIN_SLACK_MS } from '../../state/begins.ts';
import type { NetworkState } from '../../state/state.ts';
import type { NetworkStates } from '../../state/states.ts';

/** Ends of policies at which it is computed what opens again, and kinds of peers named of each. */
const MAX_ENDS = 3;
const MAX_NAMED = 3;

interface Changed {
  readonly before: NetworkState;
  readonly after: NetworkState;
  /** ms */
  readonly now: number;
}

/** Policies that a change makes, with the spec that they had. */
function madePolicies(changes: readonly NetworkChange[], { policies }: Pick<NetworkState, 'policies'>) {
  return changes.flatMap((change): { name: string; spec: PolicySpec; old: PolicySpec | undefined }[] => {
    if (change.action === 'delete' || change.resource !== 'MeshPolicy') return [];
    return [{ name: change.name, spec: change.spec, old: lookUp(policies, change.name)?.spec }];
  });
}

/** Returns a sentence about the begin of a change as of which its effect and its risk are shown. */
export function beginningTexts(changes: readonly NetworkChange[], at: number, now: number): string[] {
  if (at <= now) return [];
  const names = changes.map(({ name }) => name);
  return [
    `${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''}: nothing changes before ${formatSecond(at)}, and effect and risk are those of then, with this change against without it; approve it before, or it has to be planned again`,
  ];
}

/** Returns a sentence about each policy that is to begin at a time that has come: it begins as soon as it is written. */
export function begunTexts(
  changes: readonly NetworkChange[],
  before: Pick<NetworkState, 'policies'>,
  now: number,
): string[] {
  return madePolicies(changes, before).flatMap(({ name, spec, old }) =>
    old || spec.startsAt === undefined || beginOf(spec) > now + BEGIN_SLACK_MS
      ? []
      : [`${name} begins at once: its begin (${formatSecond(beginOf(spec))}) has come`],
  );
}

/** Returns a sentence without a subject about each policy of which nothing but the end moves. */
export function movedTexts(
  changes: readonly NetworkChange[],
  before: Pick<NetworkState, 'policies'>,
  timeZone = 'UTC',
): string[] {
  return madePolicies(changes, before).flatMap(({ name, spec, old }) => {
    const isMoved = old && old.expiresAt !== spec.expiresAt && sameValue(withoutTimes(old), withoutTimes(spec));
    if (!isMoved) return [];
    return spec.expiresAt === undefined
      ? [`takes the end off ${name}`]
      : [`moves the end of ${name} to ${zonedText(endOf(spec), timeZone)}`];
  });
}

function withoutTimes({ startsAt: _begin, expiresAt: _end, ...spec }: PolicySpec): Omit<PolicySpec, 'startsAt'> {
  return spec;
}

/**
 * Returns sentences about each policy that is given another end: what its old end would have closed or opened, that the time
 * which approval takes is a part of the new one, and what opens again once it is over.
 */
export function endingTexts(
  changes: readonly NetworkChange[],
  { before, after, now }: Changed,
  states: Pick<NetworkStates, 'reachability'>,
): string[] {
  const ending = madePolicies(changes, before).filter(
    ({ spec, old }) => spec.expiresAt !== undefined && spec.expiresAt !== old?.expiresAt,
  );
  const ends = [...new Set(ending.map(({ spec }) => endOf(spec)))].toSorted((a, b) => a - b);
  return [
    ...renewalTexts(changes, { before, after, now }, states),
    ...ending.map(
      ({ name, spec }) =>
        `${name} ends at ${formatSecond(endOf(spec))}${spec.startsAt === undefined ? ': the later it is applied, the less of its time is left' : ''}`,
    ),
    ...ends.slice(0, MAX_ENDS).flatMap((end) => {
      const names = ending.filter(({ spec }) => endOf(spec) === end).map(({ name }) => name);
      return opensAgain(names, end, after, states) ?? [];
    }),
    ...leftText(
      ending.filter(({ spec }) => ends.indexOf(endOf(spec)) >= MAX_ENDS).length,
      'after these, and what opens again then is not computed',
    ),
  ];
}

/** Returns what policies whose end moves later keep open, or closed, beyond their old end. */
function renewalTexts(
  changes: readonly NetworkChange[],
  { before, after, now }: Changed,
  states: Pick<NetworkStates, 'reachability'>,
): string[] {
  const renewed = madePolicies(changes, before).filter(
    ({ spec, old }) => old && endOf(old) > now && endOf(old) < endOf(spec),
  );
  const byOldEnd = [...Map.groupBy(renewed, ({ old }) => old?.expiresAt)];
  const left = byOldEnd.slice(MAX_ENDS).flatMap(([, those]) => those);
  const texts = byOldEnd.slice(0, MAX_ENDS).flatMap(([oldEnd, those]) => {
    const policies = new Map(after.policies);
    for (const { name, spec } of those) {
      const record = lookUp(policies, name);
      if (record) policies.set(record.name, { ...record, spec: { ...spec, expiresAt: oldEnd } });
    }
    const at = endOf({ expiresAt: oldEnd });
    const effect = effectOf(states.reachability({ ...after, policies }, at), states.reachability(after, at));
    const ends = [
      ...new Set(those.map(({ spec }) => (spec.expiresAt === undefined ? 'it is deleted' : formatSecond(endOf(spec))))),
    ].join(', ');
    const names = those.map(({ name }) => name);
    return (['opened', 'closed'] as const).flatMap((side) => {
      const whom = whomOf(effect, side, names, after);
      const word = side === 'opened' ? 'open' : 'closed';
      return whom === undefined ? [] : [`stays ${word} until ${ends}, and not just ${formatSecond(at)}: ${whom}`];
    });
  });
  return [...texts, ...leftText(left.length, 'later than before, and what they keep open or closed is not computed')];
}

/** Returns a sentence about policies for which there are too many ends. */
function leftText(count: number, what: string): string[] {
  if (count === 0) return [];
  return [count === 1 ? `1 more policy ends ${what}` : `${count} more policies end ${what}`];
}

/** Returns what opens at the instant at which policies end. */
function opensAgain(
  names: readonly string[],
  end: number,
  after: NetworkState,
  states: Pick<NetworkStates, 'reachability'>,
): string | undefined {
  const effect = effectOf(states.reachability(after, end - 1), states.reachability(after, end));
  const whom = whomOf(effect, 'opened', names, after);
  return whom && `when ${names.slice(0, MAX_NAMED).join(', ')} ends, this opens again: ${whom}`;
}

/** Returns one side of an effect in words, those that policies name first; undefined where it is empty. */
function whomOf(
  effect: Effect,
  side: EffectSide,
  policies: readonly string[],
  after: NetworkState,
): string | undefined {
  const { rows, omittedRows } = effectTexts(effect, side, after, {
    limit: MAX_NAMED,
    order: 'let in first',
    named: namedTerms({ policies }, after, after),
  });
  if (rows.length === 0) return undefined;
  const whom = rows.map(({ from, to, ports }) => `${from} to ${to} on ${ports}`);
  return `${whom.join('; ')}${omittedRows > 0 ? ` and ${omittedRows} more` : ''}`;
}

/** Returns a sentence about each policy that loses its last rule and goes on isolating its peers. */
export function emptiedTexts(changes: readonly NetworkChange[], before: Pick<NetworkState, 'policies'>): string[] {
  return madePolicies(changes, before).flatMap(({ name, spec, old }) => {
    if (
      spec.action !== 'ALLOW' ||
      old?.action !== 'ALLOW' ||
      allRulesOf(spec).length > 0 ||
      allRulesOf(old).length === 0
    )
      return [];
    const sides = DIRECTIONS.filter((direction) => isolates(spec, direction));
    const text = { ingress: 'closed to everyone', egress: 'closed towards everyone' };
    return [
      `the peers of ${name} stay ${sides.map((side) => text[side]).join(' and ')}: it has no rule left and isolates`,
    ];
  });
}
