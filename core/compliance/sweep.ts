import { MeshError } from '../base/errors.ts';
import type { NetworkMoments, StateMoment } from '../history/network-moments.ts';
import { endOf } from '../history/network-moments.ts';
import { buildCompiler } from '../state/compiled.ts';
import type { NetworkState } from '../state/state.ts';
import type { CheckResult } from './check-result.ts';
import type { StateCheck } from './checks/check.ts';
import type { CheckName } from './checks/index.ts';
import { checkOf } from './checks/index.ts';
import { graceDeadlines } from './checks/people.ts';
import { keyDeadlines } from './checks/transport.ts';
import { ContentKey } from './content-key.ts';
import { type Span, Timeline } from './timeline.ts';
import type { View } from './view.ts';

/** Different states that one assessment looks at; some 10 ms each in a network of 1,000 peers. */
export const MAX_STATES = 5_000;

/** Instants at which time alone changes what a record counts for. */
export const deadlinesOf = (record: Parameters<typeof endOf>[0]): number[] => [
  ...endOf(record),
  ...keyDeadlines(record),
  ...graceDeadlines(record),
];

export interface SweepResult {
  readonly spans: ReadonlyMap<CheckName, readonly Span[]>;
  /** The details of the last state, by check. */
  readonly last: ReadonlyMap<CheckName, string>;
  /** Different states that were looked at. */
  readonly states: number;
}

type ViewAt = (state: NetworkState, at: number) => View;

/** A view with its own compiler, for states that follow one another. */
export function viewer(fixed: Omit<View, 'state' | 'at' | 'reach'>): ViewAt {
  const compile = buildCompiler();
  return (state, at) => {
    let reach: ReturnType<View['reach']> | undefined;
    return {
      ...fixed,
      state,
      at,
      reach: () => {
        reach ??= compile(state, at);
        return reach;
      },
    };
  };
}

/**
 * Asks checks of states at every moment of a period. Moments whose network says the same have the same answers, which are
 * made once.
 *
 * @throws MeshError `payload_too_large` where more than {@link MAX_STATES} differ
 */
export function sweep(
  { start, moments }: Pick<NetworkMoments, 'start' | 'moments'>,
  to: number,
  names: readonly CheckName[],
  viewAt: ViewAt,
): SweepResult {
  const checks = names.flatMap((name): (readonly [CheckName, StateCheck])[] => {
    const check = checkOf(name);
    return check.on === 'state' ? [[name, check]] : [];
  });
  const timelines = new Map(checks.map(([name]) => [name, new Timeline()]));
  const known = new Map<string, ReadonlyMap<CheckName, CheckResult>>();
  const keys = new ContentKey(start);
  let last: StateMoment | undefined;
  for (const moment of moments) {
    const view = viewAt(moment.state, moment.at);
    const key = keys.at(moment);
    let readings = known.get(key);
    if (!readings) {
      if (known.size >= MAX_STATES) throw tooManyStates();
      readings = new Map(checks.flatMap(([name, check]) => (check.atEachMoment ? [] : [[name, check.judge(view)]])));
      known.set(key, readings);
    }
    for (const [name, check] of checks) timelines.get(name)?.add(moment, readings.get(name) ?? check.judge(view));
    last = moment;
  }
  return {
    spans: new Map([...timelines].map(([name, timeline]) => [name, timeline.end(to)])),
    last: last ? detailsOf(checks, viewAt(last.state, Math.max(last.at, to))) : new Map(),
    states: known.size,
  };
}

function detailsOf(checks: readonly (readonly [CheckName, StateCheck])[], view: View): Map<CheckName, string> {
  return new Map(
    checks.map(([name, { judge, detail }]) => {
      const { holds, facts } = judge(view);
      return [name, holds === undefined || !detail ? facts : `${facts} ${detail(view)}`];
    }),
  );
}

function tooManyStates(): MeshError {
  const detail = `The network had more than ${MAX_STATES} different states in this period: assess it in parts.`;
  return new MeshError('payload_too_large', detail);
}
