import { MeshError } from '../../base/errors.ts';
import type { Change, RecordVersion } from '../../base/ports.ts';
import type { StoredRecord } from '../../base/record.ts';
import { formatInstant, parseInstant } from '../../base/time.ts';
import type { Allowed } from '../../reachability/port-sets.ts';
import { buildCompiler } from '../../state/compiled.ts';
import { groupsOf } from '../../state/peer-groups.ts';
import type { HistoryServices, NetworkServices } from '../../state/services.ts';
import { FIELD_OF_KIND, type NetworkState, nextState, type StateKind, stateOf, tracked } from '../../state/state.ts';
import { positionOf, rangeView } from './connection-history.ts';
import { identityOf, nameIn } from './identity.ts';
import { type Range, rangeOf } from './range.ts';

export interface ExposureQuestion {
  readonly peer: string;
  /** Who could open connections to it, or where it could open some. */
  readonly direction: 'inbound' | 'outbound';
  readonly from: string;
  readonly to?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** Moments at which anything is computed for one answer: some seconds in a network of 1,000 peers. */
const MAX_MOMENTS = 5_000;
/** Presence decides nothing here. */
const KINDS: readonly StateKind[] = ['MeshPeer', 'MeshPolicy', 'MeshNetwork', 'AgentIdentity'];

interface Span {
  /** By id: a peer that is renamed stays the same one. */
  readonly uid: string;
  readonly name: string;
  readonly allowed: Allowed;
  readonly from: number;
  readonly to: number;
}

/**
 * Which peers could reach a peer, or it them, in a range, each with the ports and the span. Addresses outside of the
 * network are left out.
 *
 * @throws MeshError as `rangeOf` and `identityOf` do; `payload_too_large` where too much changed in the range
 */
export async function exposureHistory(services: HistoryServices, workspace: string, asked: ExposureQuestion) {
  const position = positionOf(asked.cursor);
  const to = asked.to ?? (position && formatInstant(position.to));
  const range = await rangeOf(services, workspace, { from: asked.from, to });
  const peer = await identityOf(services, workspace, asked.peer, range);
  const spans: Span[] = [];
  const open = new Map<string, Span>();
  let last: NetworkState | undefined;
  const compile = buildCompiler();
  for (const { state, at } of await statesIn(services, workspace, range)) {
    last = state;
    const name = nameIn(state, peer);
    const reach = compile(state, at);
    const around = name === undefined ? [] : reach.neighbourhood(name)[asked.direction];
    const present = new Map(around.map((one) => [state.peers.get(one.name)?.uid ?? one.name, one]));
    for (const [uid, span] of open) {
      const now = present.get(uid);
      if (now && JSON.stringify(now.allowed) === JSON.stringify(span.allowed)) continue;
      open.delete(uid);
      if (span.from < at) spans.push({ ...span, to: at });
    }
    for (const [uid, { name: other, allowed }] of present) {
      if (!open.has(uid)) open.set(uid, { uid, name: other, allowed, from: at, to: range.to });
    }
  }
  spans.push(...open.values());
  const rows = groupedRows(spans, last ?? (await services.states.current(workspace)));
  const begin = position?.index ?? 0;
  return {
    src: asked.direction === 'outbound' ? peer.name : null,
    dst: asked.direction === 'inbound' ? peer.name : null,
    range: rangeView(range),
    count: rows.length,
    rows: rows.slice(begin, begin + asked.limit),
    ...(begin + asked.limit < rows.length && { next_cursor: `${range.to}.${begin + asked.limit}` }),
  };
}

/** The network at the beginning of a range and at each moment at which who reaches whom may change. */
async function statesIn(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  { first, last, since, to }: Range,
): Promise<Iterable<{ readonly state: NetworkState; readonly at: number }>> {
  const [bases, versions] = await Promise.all([
    Promise.all(KINDS.map((kind) => store.list(workspace, kind, { asOf: { revision: first } }))),
    Promise.all(KINDS.map((kind) => store.versions(workspace, kind, { after: first, upTo: last }))),
  ]);
  const base = bases.flatMap(({ items }) => items);
  const written = versions.flatMap((own, index) =>
    own.map((version) => ({ ...version, kind: KINDS[index] ?? 'MeshPeer' })),
  );
  const steps = [...Map.groupBy(written, ({ revision }) => revision)].sort(([a], [b]) => a - b);
  const records = [...base, ...written.flatMap(({ record }) => record ?? [])];
  const ends = [...new Set(records.flatMap(endOf))].filter((at) => at > since && at <= to).sort((a, b) => a - b);
  if (steps.length + ends.length > MAX_MOMENTS) {
    const detail = `The network changed ${steps.length + ends.length} times in this range: ask about a shorter one, or about one pair.`;
    throw new MeshError('payload_too_large', detail);
  }
  return moments(tracked(stateOf(workspace, first, base)), steps, ends, since);
}

type Step = readonly [revision: number, versions: readonly (RecordVersion & { readonly kind: StateKind })[]];

function* moments(start: NetworkState, steps: readonly Step[], ends: readonly number[], since: number) {
  let state = start;
  let next = 0;
  yield { state, at: since };
  for (const [revision, versions] of steps) {
    const at = versions[0]?.at ?? since;
    for (let end = ends[next]; end !== undefined && end <= at; end = ends[++next]) yield { state, at: end };
    const changes = versions.flatMap(({ record, kind, name }): Change[] => {
      const deleted = state[FIELD_OF_KIND[kind]].get(name);
      if (record) return [{ type: 'created', record }];
      return deleted ? [{ type: 'deleted', record: deleted }] : [];
    });
    state = nextState(state, { revision, changes });
    yield { state, at };
  }
  for (let end = ends[next]; end !== undefined; end = ends[++next]) yield { state, at: end };
}

function endOf({ spec }: StoredRecord): number[] {
  const { expiresAt } = spec as { readonly expiresAt?: unknown };
  return typeof expiresAt === 'string' ? [parseInstant(expiresAt)] : [];
}

/** Peers that share ports and span, in few words. */
function groupedRows(spans: readonly Span[], state: NetworkState) {
  const groups = Map.groupBy(spans, ({ from, to, allowed }) => JSON.stringify([from, to, allowed]));
  return [...groups.values()]
    .flatMap((own) => {
      const [span] = own;
      if (!span) return [];
      const { from, to, allowed } = span;
      const names = [...new Set(own.map(({ name }) => name))];
      return [
        {
          from: formatInstant(from),
          to: formatInstant(to),
          allowed,
          peers: groupsOf(names, state),
          peer_count: names.length,
        },
      ];
    })
    .sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : b.peer_count - a.peer_count));
}
