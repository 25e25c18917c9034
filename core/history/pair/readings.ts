import type { Change } from '../../base/ports.ts';
import type { Protocol } from '../../model/policy.ts';
import { createEngine } from '../../reachability/engine.ts';
import { explain } from '../../reachability/explain.ts';
import { explainOutside } from '../../reachability/explain-outside.ts';
import type { ConnectivityQuery, Explanation } from '../../reachability/explanation.ts';
import type { Reachability } from '../../reachability/reachability.ts';
import { modelOf } from '../../state/network-model.ts';
import { type NetworkState, nextState } from '../../state/state.ts';
import { type Identity, nameIn } from './identity.ts';
import type { PairRecords } from './pair-records.ts';

/** A connection as it is asked about. */
export interface PairQuestion {
  readonly src: Identity;
  readonly dst: Identity;
  readonly protocol?: Protocol | undefined;
  readonly port?: number | undefined;
}

type Online = 'online' | 'offline' | 'unknown';

/** The state of a connection at a moment. */
export interface Reading extends Pick<Explanation, 'verdict' | 'allowed' | 'steps' | 'blocked_by'> {
  readonly presence: { readonly src: Online; readonly dst: Online };
  /** Something of it was allowed, and both ends were online. */
  readonly usable: boolean;
}

/** A moment at which a connection may have changed. */
export interface Moment {
  readonly at: number;
  /** In force from then on. */
  readonly revision: number;
  /** Changes of the revision; none where time alone may have changed the connection. */
  readonly changes: readonly Change[];
  readonly state: NetworkState;
  readonly reading: Reading;
}

/**
 * Judges one connection in a state at an instant. Where states of one `epoch` differ in presence alone, no time that
 * decides has run out between them.
 */
export type ReadingAt = (state: NetworkState, at: number, epoch?: number) => Reading;

export function readerOf(question: PairQuestion): ReadingAt {
  const engine = createEngine();
  let last: { readonly state: NetworkState; readonly epoch: number; readonly explanation: Explanation } | undefined;
  return (state, at, epoch = at) => {
    const explanation =
      last && last.epoch === epoch && isSameButPresence(last.state, state)
        ? last.explanation
        : explained(engine.compile(modelOf(state, at)), state, question);
    last = { state, epoch, explanation };
    return withPresence(explanation, state, question);
  };
}

/** Returns the reading of a connection in a network that is compiled already. */
export function readingIn(reach: Reachability, state: NetworkState, question: PairQuestion): Reading {
  return withPresence(explained(reach, state, question), state, question);
}

function explained(reach: Reachability, state: NetworkState, question: PairQuestion): Explanation {
  const query = queryIn(state, question);
  for (const side of ['src', 'dst'] as const) {
    const { ranges } = question[side];
    if (ranges) return explainOutside(reach, { ...query, side, ranges });
  }
  return explain(reach, query);
}

/** By the names of that state. */
function queryIn(state: NetworkState, { src, dst, protocol, port }: PairQuestion): ConnectivityQuery {
  return { src: nameIn(state, src) ?? src.name, dst: nameIn(state, dst) ?? dst.name, protocol, port };
}

function withPresence(
  { verdict, allowed, steps, blocked_by }: Explanation,
  state: NetworkState,
  { src, dst }: PairQuestion,
): Reading {
  const presence = { src: onlineIn(state, nameIn(state, src)), dst: onlineIn(state, nameIn(state, dst)) };
  const usable = verdict !== 'unreachable' && presence.src === 'online' && presence.dst === 'online';
  return { verdict, allowed, steps, blocked_by, presence, usable };
}

/** Two readings say the same of a connection that works, or does not, on the same ports. */
export function sameReading(a: Reading, b: Reading): boolean {
  return a.verdict === b.verdict && a.usable === b.usable && JSON.stringify(a.allowed) === JSON.stringify(b.allowed);
}

/**
 * The connection at the beginning of a range and at each moment after it, in order. Where the time of a record is over in
 * the instant of a commit, that comes first.
 */
export function* momentsOf(
  { start, steps, ends }: PairRecords,
  since: number,
  judge: ReadingAt,
): Generator<Moment, void, undefined> {
  let state = start;
  let next = 0;
  yield { at: since, revision: start.revision, changes: [], state, reading: judge(state, since, next) };
  for (const { revision, at, changes } of steps) {
    for (let end = ends[next]; end !== undefined && end <= at; end = ends[next]) yield ending(end);
    state = nextState(state, { revision, changes });
    yield { at, revision, changes, state, reading: judge(state, at, next) };
  }
  for (let end = ends[next]; end !== undefined; end = ends[next]) yield ending(end);

  function ending(at: number): Moment {
    next += 1;
    return { at, revision: state.revision, changes: [], state, reading: judge(state, at, next) };
  }
}

function isSameButPresence(a: NetworkState, b: NetworkState): boolean {
  return a.peers === b.peers && a.policies === b.policies && a.networks === b.networks && a.agents === b.agents;
}

function onlineIn(state: NetworkState, name: string | undefined): Online {
  if (name === undefined) return 'unknown';
  return state.presence.get(name)?.spec.online ? 'online' : 'offline';
}
