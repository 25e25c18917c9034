import { invalidInput, MeshError } from '../base/errors.ts';
import { formatInstant, formatSecond } from '../base/time.ts';
import { lookUp, lookUpById } from '../model/find.ts';
import type { Protocol } from '../model/policy.ts';
import type { Ranges } from '../model/ranges.ts';
import type { PeerRecord } from '../model/resources.ts';
import { explain } from '../reachability/explain.ts';
import { explainOutside } from '../reachability/explain-outside.ts';
import type { ConnectivityQuery, Explanation, Verdict } from '../reachability/explanation.ts';
import { lookUpPeerOrHost, outsideOf, peerNotFound } from '../state/find-peer.ts';
import type { HistoryServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { beginNote } from './begin-note.ts';
import type { NetworkCommit } from './blame.ts';
import { decidingCommit } from './deciding-commit.ts';
import type { Identity } from './pair/identity.ts';
import { type VerdictSpan, verdictSpan } from './pair/verdict-span.ts';
import { type Point, pointOf, stateAt } from './point.ts';
import { type FixStep, wouldFix } from './would-fix.ts';

export interface ConnectivityQuestion {
  /** Name in any case, id, overlay address or unique host name of a peer; or addresses outside of all networks. */
  readonly src: string;
  readonly dst: string;
  readonly protocol?: Protocol | undefined;
  readonly port?: number | undefined;
  readonly at?: string | undefined;
  readonly snapshot_id?: string | undefined;
}

type Online = 'online' | 'offline' | 'unknown';

/** An {@link Explanation} set in time. */
export interface ConnectivityAnswer {
  readonly verdict: Verdict | 'undetermined';
  readonly presence: { readonly src: Online; readonly dst: Online };
  /** Allowed in part at least, and both ends were online. */
  readonly usable: boolean;
  readonly at: string;
  readonly snapshot_id: string | null;
  readonly revision: number | null;
  /** The time in which the verdict and its ports hold; null = not known, or still. */
  readonly valid_from: string | null;
  readonly valid_to: string | null;
  /** In place of a begin that lies beyond what was searched or is kept: the verdict holds at least since then. */
  readonly at_least_from?: string;
  readonly steps: Explanation['steps'];
  readonly allowed: Explanation['allowed'];
  readonly blocked_by: Explanation['blocked_by'];
  /** Changes in order, which together are computed to open the connection. */
  readonly would_fix: readonly FixStep[];
  /** Caveat of an answer about outside addresses, of an unknown end, or what policies change that wait. */
  readonly note?: string;
  readonly now: { readonly verdict: Verdict; readonly changed_by: NetworkCommit | null };
}

/**
 * Returns who could reach whom at an instant, a snapshot, or now, and which rule decided it.
 *
 * @throws MeshError `invalid_input` for an instant ahead of the clock; `not_found` for an unknown snapshot, or for a peer that
 * existed neither then nor now; `not_found` or `expired` for a peer that does not exist now and a time that is not known
 */
export async function connectivity(
  services: HistoryServices,
  workspace: string,
  question: ConnectivityQuestion,
): Promise<ConnectivityAnswer> {
  const { states, clock } = services;
  const point = await pointOf(services, workspace, question);
  const now = clock.now();
  const current = await states.current(workspace);
  const instant = point?.instant ?? now;
  const when = { at: formatInstant(instant), snapshot_id: point?.snapshot?.uid ?? null };
  const state = point ? await stateOrGap(services, workspace, point) : current;
  const known = 'reason' in state ? [current] : [state, current];
  // Without a state of that time, a name that no present peer has cannot be resolved.
  if ('reason' in state && [question.src, question.dst].some((end) => !endIn(known, end))) throw state.error;
  const ends = endsIn(known, question);
  const judge = (each: NetworkState, then: number) => explainIn(services, each, { ...question, ...ends }, then);
  const today = judge(current, now).verdict;
  if ('reason' in state) {
    return { ...undetermined(state, question), ...when, now: { verdict: today, changed_by: null } };
  }
  const { verdict, steps, allowed, blocked_by } = judge(state, instant);
  const presence = { src: onlineIn(state, ends.src), dst: onlineIn(state, ends.dst) };
  const span = await verdictSpan(services, state, instant, {
    ...question,
    src: identityOf(ends.src),
    dst: identityOf(ends.dst),
  });
  const peers = [ends.src, ends.dst].flatMap((end) => (isOutside(end) ? [] : [end]));
  const notes = [
    ...(point ? [] : [beginNote(state, peers, judge)].flatMap((text) => text ?? [])),
    ...(isOutside(ends.src) || isOutside(ends.dst) ? [OUTSIDE_NOTE] : []),
    ...(span.to?.isExact === false ? [`It is so at least until ${formatSecond(span.to.at)}.`] : []),
  ];
  const verdictIn = (past: NetworkState, then: number) => judge(past, then).verdict;
  const changed = today === verdict ? null : await decidingCommit(services, state, current, verdictIn, today);
  return {
    verdict,
    presence,
    usable: verdict !== 'unreachable' && presence.src === 'online' && presence.dst === 'online',
    ...when,
    revision: state.revision,
    ...spanView(span),
    steps,
    allowed,
    blocked_by,
    ...(isOutside(ends.src) || isOutside(ends.dst)
      ? { would_fix: [] }
      : {
          would_fix: [
            ...wouldFix(states, state, queryIn(state, { ...question, ...ends }), instant),
            ...(point ? [] : onlineSteps(presence, { src: ends.src, dst: ends.dst })),
          ],
        }),
    ...(notes.length > 0 && { note: notes.join(' ') }),
    now: { verdict: today, changed_by: changed },
  };
}

const OUTSIDE_NOTE =
  'Whether an address outside is there is not known: usable is false. Where policies tell the addresses apart, steps and blocked_by are of a part that may use least, and allowed is what each may use. would_fix proposes nothing for addresses outside: plan an ipBlock.';

type End = PeerRecord | OutsideEnd;
/** Addresses outside of all networks, as they were asked for. */
interface OutsideEnd {
  readonly term: string;
  readonly ranges: Ranges;
}
type ResolvedQuestion = Omit<ConnectivityQuestion, 'src' | 'dst'> & { readonly src: End; readonly dst: End };

function identityOf(end: End): Identity {
  return isOutside(end) ? { uid: end.term, name: end.term, ranges: end.ranges } : end;
}

function spanView({ from, to }: VerdictSpan): Pick<ConnectivityAnswer, 'valid_from' | 'valid_to' | 'at_least_from'> {
  return {
    valid_from: from.isExact ? formatInstant(from.at) : null,
    valid_to: to?.isExact ? formatInstant(to.at) : null,
    ...(!from.isExact && { at_least_from: formatInstant(from.at) }),
  };
}

function isOutside(end: End): end is OutsideEnd {
  return 'ranges' in end;
}

function explainIn(
  { states }: Pick<HistoryServices, 'states'>,
  state: NetworkState,
  asked: ResolvedQuestion,
  instant: number,
): Explanation {
  const reach = states.reachability(state, instant);
  const query = queryIn(state, asked);
  for (const side of ['src', 'dst'] as const) {
    const end = asked[side];
    if (isOutside(end)) return explainOutside(reach, { ...query, side, ranges: end.ranges });
  }
  return explain(reach, query);
}

/** Judges all ports of a pair in a state at instants; an end that the state does not have keeps the name that was given. */
export function verdictsIn(
  services: Pick<HistoryServices, 'states'>,
  state: NetworkState,
  { src, dst }: Pick<ConnectivityQuestion, 'src' | 'dst'>,
) {
  const ends = { src: endIn([state], src), dst: endIn([state], dst) };
  const nameOf = (end: End | undefined, given: string) => (end ? nameIn(state, end) : given);
  const names = { src: nameOf(ends.src, src), dst: nameOf(ends.dst, dst) };
  const reach = (at: number) => services.states.reachability(state, at);
  const outside = (['src', 'dst'] as const).flatMap((side) => {
    const end = ends[side];
    return end && isOutside(end) ? [{ ...names, side, ranges: end.ranges }] : [];
  })[0];
  const judge = (at: number): Explanation =>
    ends.src && ends.dst ? explainIn(services, state, { src: ends.src, dst: ends.dst }, at) : explain(reach(at), names);
  return Object.assign(judge, { names, reach, outside });
}

function queryIn(state: NetworkState, { src, dst, protocol, port }: ResolvedQuestion): ConnectivityQuery {
  return { src: nameIn(state, src), dst: nameIn(state, dst), protocol, port };
}

/** Peers that have to be there for a connection that is allowed. */
function onlineSteps(
  presence: ConnectivityAnswer['presence'],
  { src, dst }: Record<'src' | 'dst', PeerRecord>,
): FixStep[] {
  const missing = [
    ...(presence.src === 'offline' ? [src.name] : []),
    ...(presence.dst === 'offline' ? [dst.name] : []),
  ];
  return missing.map((peer) => ({
    change: 'come_online',
    peer,
    by: 'the device',
    detail: `${peer} is offline: start the node there (mesh up).`,
  }));
}

function endsIn(known: readonly NetworkState[], { src, dst }: ConnectivityQuestion): Record<'src' | 'dst', End> {
  const endOf = (given: string): End => {
    const end = endIn(known, given);
    if (end) return end;
    throw peerNotFound(known[0] ?? { peers: new Map() }, given);
  };
  const ends = { src: endOf(src), dst: endOf(dst) };
  if (isOutside(ends.src) && isOutside(ends.dst)) throw bothOutside();
  return ends;
}

/** Refuses a question of which neither end is in a network. */
export function bothOutside(): MeshError {
  const detail = 'One end has to be a peer: what is outside talks to what is outside without this network.';
  return invalidInput([{ pointer: '/dst', detail }], `/dst: ${detail}`);
}

/** The peer or the addresses that a text means, by the names of the time asked about and then by those of today. */
function endIn(states: readonly NetworkState[], given: string): End | undefined {
  for (const state of states) {
    const peer = lookUpPeerOrHost(state, given);
    if (peer) return peer;
  }
  const [first] = states;
  const ranges = first && outsideOf(first, given);
  return ranges && { term: given, ranges };
}

/** Returns the name of a peer in another state: a renamed peer keeps its id, one that joined again its name. */
function nameIn({ peers }: NetworkState, end: End): string {
  if (isOutside(end)) return end.term;
  const { uid, name } = end;
  return (lookUpById(peers, uid) ?? lookUp(peers, name))?.name ?? name;
}

function onlineIn(state: NetworkState, peer: End): Online {
  if (isOutside(peer)) return 'unknown';
  const name = nameIn(state, peer);
  if (!state.peers.has(name)) return 'unknown';
  return state.presence.get(name)?.spec.online ? 'online' : 'offline';
}

/** Why nothing is known of an instant, and since when something is. */
interface Gap {
  readonly reason: 'NO_SNAPSHOT' | 'SNAPSHOT_GAP';
  readonly known_since: unknown;
  readonly error: MeshError;
}

/** Before the workspace there was nothing to record; after it, what was recorded may no longer be kept. */
async function stateOrGap(services: HistoryServices, workspace: string, point: Point): Promise<NetworkState | Gap> {
  try {
    return await stateAt(services, workspace, point);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const known_since = error.details['known_since'];
    if (error.code === 'not_found') return { reason: 'NO_SNAPSHOT', known_since, error };
    if (error.code === 'expired') return { reason: 'SNAPSHOT_GAP', known_since, error };
    throw error;
  }
}

function undetermined(
  { reason, known_since }: Gap,
  { src }: ConnectivityQuestion,
): Omit<ConnectivityAnswer, 'at' | 'snapshot_id' | 'now'> {
  const what = { stage: 'known', direction: null, reason_code: reason, policy: null, rule_index: null } as const;
  const cause = { ...what, ...(known_since !== undefined && { known_since }) };
  return {
    verdict: 'undetermined',
    presence: { src: 'unknown', dst: 'unknown' },
    usable: false,
    revision: null,
    valid_from: null,
    valid_to: null,
    steps: [{ ...cause, result: 'fail', subject: src }],
    allowed: [],
    blocked_by: [cause],
    would_fix: [],
  };
}
