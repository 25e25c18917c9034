import { MeshError } from '../../base/errors.ts';
import { formatInstant } from '../../base/time.ts';
import { OUTSIDE } from '../../model/ranges.ts';
import type { Verdict } from '../../reachability/explanation.ts';
import { type OutsideReach, outsideReach } from '../../reachability/outside-reach.ts';
import type { AllowedPorts } from '../../reachability/port-sets.ts';
import type { Reachability } from '../../reachability/reachability.ts';
import { buildCompiler } from '../../state/compiled.ts';
import { groupsOf } from '../../state/peer-groups.ts';
import type { HistoryServices } from '../../state/services.ts';
import type { NetworkState } from '../../state/state.ts';
import { namesOf } from '../../state/terms.ts';
import { changeView, commitAt } from '../commits-between.ts';
import { type NetworkMoments, networkMoments, type StateMoment } from '../network-moments.ts';
import { type CauseOf, decisiveOf, endedAt } from './causes.ts';
import { positionOf, rangeView } from './connection-history.ts';
import { type Identity, identityOf, nameIn } from './identity.ts';
import { type Range, rangeOf } from './range.ts';

export interface ExposureQuestion {
  readonly peer: string;
  /** `inbound` for connections to the peer, `outbound` for those that it could open. */
  readonly direction: 'inbound' | 'outbound';
  readonly from: string;
  readonly to?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** Moments at which anything is computed for one answer: some seconds in a network of 1,000 peers. */
const MAX_MOMENTS = 5_000;
/** The same for the list of changes of one peer, which pages read anew with each change. */
const MAX_PEER_MOMENTS = 1_000;
const DIRECTIONS = ['inbound', 'outbound'] as const;

/** Peers that could reach a peer, or that it could reach, by ports; addresses outside in the fewest words. */
interface Exposure {
  /** Names by the text of their ports. */
  readonly peers: ReadonlyMap<string, readonly string[]>;
  readonly outside: readonly OutsideReach[] | undefined;
  /** Other peers that took part. */
  readonly others: number;
  /** The same for the same exposure: peers by their ids. */
  readonly key: string;
}

/** A span in which the exposure of a peer stayed as it was: up to but without `to`. */
interface Interval {
  readonly from: number;
  readonly to: number;
  /** Undefined where the past is not known. */
  readonly moment: (StateMoment & { readonly exposure: Exposure }) | undefined;
  readonly causes: readonly CauseOf[];
}

/**
 * How exposed a peer was over a range, in intervals that cover it exactly: which peers and addresses outside could reach it,
 * or it them, on which ports, and what began each.
 *
 * @throws MeshError as `rangeOf` and `identityOf` do; `payload_too_large` where too much changed in the range
 */
export async function exposureHistory(services: HistoryServices, workspace: string, asked: ExposureQuestion) {
  const position = positionOf(asked.cursor);
  const to = position ? formatInstant(position.to) : asked.to;
  const range = await rangeOf(services, workspace, { from: asked.from, to });
  const peer = await identityOf(services, workspace, asked.peer, range);
  const intervals = exposuresIn(
    await momentsIn(services, workspace, range),
    range,
    exposureReader(peer, asked.direction),
  );
  const begin = position?.index ?? 0;
  const shown = intervals.slice(begin, begin + asked.limit);
  return {
    src: asked.direction === 'outbound' ? peer.name : null,
    dst: asked.direction === 'inbound' ? peer.name : null,
    range: rangeView(range),
    count: intervals.length,
    intervals: await Promise.all(shown.map((interval) => intervalView(services, workspace, interval))),
    ...(begin + asked.limit < intervals.length && { next_cursor: `${range.to}.${begin + asked.limit}` }),
  };
}

/** A range of one instant is one interval; what held for no time at all is left out. */
function exposuresIn(moments: Iterable<StateMoment>, { from, to, since }: Range, tell: ExposureAt): Interval[] {
  const intervals: Interval[] = since > from ? [{ from, to: since, moment: undefined, causes: [] }] : [];
  let begun: Interval | undefined;
  const end = (at: number) => {
    const before = intervals.at(-1);
    if (!begun || begun.from === at) return;
    if (before?.moment && before.moment.exposure.key === begun.moment?.exposure.key) {
      intervals[intervals.length - 1] = { ...before, to: at };
    } else intervals.push({ ...begun, to: at });
  };
  let last: StateMoment | undefined;
  for (const moment of moments) {
    const exposure = tell(moment.state, moment.at);
    if (last && exposure.key !== begun?.moment?.exposure.key) {
      end(moment.at);
      const isAfter = (state: NetworkState) => tell(state, moment.at).key === exposure.key;
      const causes = moment.changes.length === 0 ? endedAt(moment) : decisiveOf(last.state, moment, isAfter);
      begun = { from: moment.at, to, moment: { ...moment, exposure }, causes };
    }
    begun ??= { from: moment.at, to, moment: { ...moment, exposure }, causes: [] };
    last = moment;
  }
  end(to);
  if (begun && intervals.at(-1)?.to !== to) intervals.push(begun);
  else if (begun && intervals.length === 0) intervals.push(begun);
  return intervals;
}

/**
 * Returns the moments at which a peer was written, or what it reaches or who reaches it became different. Looks at the newest
 * of very many, and returns since when it did.
 */
export function momentsOfPeer({ count, moments }: Pick<NetworkMoments, 'count' | 'moments'>, peer: Identity) {
  const compile = buildCompiler();
  const keyAt = (state: NetworkState, at: number) => {
    const reach = compile(state, at);
    const name = nameIn(state, peer);
    return DIRECTIONS.map((direction) => exposureOf(reach, state, name, direction).key).join();
  };
  const unread = count - MAX_PEER_MOMENTS;
  const found: StateMoment[] = [];
  let before: { readonly key: string; readonly name: string | undefined } | undefined;
  let since: number | undefined;
  let index = 0;
  for (const moment of moments) {
    const { state, at, changes } = moment;
    if (index++ < unread) continue;
    const now = { key: keyAt(state, at), name: nameIn(state, peer) };
    const isOwn = changes.some(
      ({ record: { kind, name } }) => kind === 'MeshPeer' && (name === now.name || name === before?.name),
    );
    if (before && (isOwn || now.key !== before.key)) found.push(moment);
    since ??= at;
    before = now;
  }
  return { found, ...(unread > 0 && since !== undefined && { since }) };
}

type ExposureAt = (state: NetworkState, at: number) => Exposure;

function exposureReader(peer: Identity, direction: ExposureQuestion['direction']): ExposureAt {
  const compile = buildCompiler();
  return (state, at) => exposureOf(compile(state, at), state, nameIn(state, peer), direction);
}

/** @param name of the peer in the state; undefined where it is not there */
function exposureOf(
  reach: Reachability,
  state: NetworkState,
  name: string | undefined,
  direction: ExposureQuestion['direction'],
): Exposure {
  const around = name === undefined ? [] : reach.neighbourhood(name)[direction];
  const texts = around.map((one) => ({ name: one.name, text: JSON.stringify(one.allowed) }));
  const byText = Map.groupBy(texts, ({ text }) => text);
  const peers = new Map([...byText].sort().map(([text, own]) => [text, own.map((one) => one.name)]));
  const outside = name === undefined ? [] : outsideReach(reach, name, direction === 'inbound' ? 'src' : 'dst');
  const ids = [...peers].map(([text, names]) => [text, names.map((one) => state.peers.get(one)?.uid ?? one).sort()]);
  const others = namesOf('*', state).filter((one) => one !== name).length;
  return { peers, outside, others, key: JSON.stringify([ids, outside]) };
}

async function intervalView(services: HistoryServices, workspace: string, { from, to, moment, causes }: Interval) {
  const when = { from: formatInstant(from), to: formatInstant(to) };
  const nothing = { reach: [], outside: [], causes: [], change: null };
  if (!moment) return { ...when, verdict: 'undetermined' as const, ...nothing };
  const { exposure, state, changes, revision } = moment;
  const commit = changes.length > 0 && causes.length > 0 ? await commitAt(services, workspace, revision) : undefined;
  return {
    ...when,
    verdict: verdictOf(exposure),
    reach: [...exposure.peers].map(([text, names]) => {
      return { peers: groupsOf(names, state), peer_count: names.length, allowed: JSON.parse(text) as AllowedPorts };
    }),
    /** Null where policies name more addresses than can be told apart. */
    outside: exposure.outside ?? null,
    causes: [...causes],
    change: commit ? await changeView(services, commit) : null,
  };
}

/** Everyone on every port, nobody, or something between. */
function verdictOf({ peers, outside, others }: Exposure): Verdict {
  const everyPeer = (peers.get('"ALL"')?.length ?? 0) === others;
  const [first, ...more] = outside ?? [];
  const everyAddress = first?.allowed === 'ALL' && first.addresses[0] === OUTSIDE && more.length === 0;
  if (everyPeer && everyAddress) return 'reachable';
  return peers.size === 0 && outside?.length === 0 ? 'unreachable' : 'partial';
}

async function momentsIn(services: HistoryServices, workspace: string, range: Range): Promise<Iterable<StateMoment>> {
  const { count, moments } = await networkMoments(services, workspace, range);
  if (count <= MAX_MOMENTS) return moments;
  const detail = `The network changed ${count} times in this range: ask about a shorter one, or about one pair.`;
  throw new MeshError('payload_too_large', detail);
}
