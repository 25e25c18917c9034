import { actorsNamed } from '../base/actor.ts';
import { MeshError } from '../base/errors.ts';
import type { Kind, StoredRecord } from '../base/record.ts';
import { formatInstant } from '../base/time.ts';
import { effectOf, effectOnPeer, outsidePairs } from '../effect/effect.ts';
import { namedTerms } from '../effect/named-terms.ts';
import { effectTexts } from '../effect/rows.ts';
import type { NetworkServices } from '../state/services.ts';
import { type NetworkState, recordsOf, type StateKind } from '../state/state.ts';
import { commitView } from './blame.ts';
import { commitAt } from './commits-between.ts';
import { endOf, type NetworkStep, networkMoments, type StateMoment } from './network-moments.ts';
import { newNames, withNewNames } from './new-names.ts';
import { momentsOfPeer } from './pair/exposure.ts';
import { type Identity, identityOf, nameIn } from './pair/identity.ts';
import type { Range } from './pair/range.ts';

/** Instants that are told beside a page: where a reader can go. */
export const MAX_INSTANTS = 2_000;
/** Kinds of connections named on each side of an effect. */
const MAX_ROWS = 3;
/** Entries of the audit log that one page of a search by actor may read at once, and in all. */
const AUDIT_PAGE = 1_000;
const MAX_AUDITED = 50_000;

export interface ChangeFilter {
  readonly kind?: DecidingKind | undefined;
  /** Name of a changed record. */
  readonly name?: string | undefined;
  /** Such as `user:ada`, or `ada`. */
  readonly actor?: string | undefined;
  /** A peer that was written, or whose connections opened or closed. */
  readonly peer?: string | undefined;
}

export type DecidingKind = Exclude<StateKind, 'Presence'>;

interface RecordChange {
  readonly type: 'created' | 'updated' | 'deleted' | 'ended';
  readonly kind: DecidingKind;
  readonly name: string;
}

/** A revision that wrote to the network, or an instant at which the time of something was over. */
interface Entry {
  readonly at: number;
  /** None where time alone did it. */
  readonly revision: number | undefined;
  readonly touched: readonly RecordChange[];
}

type Services = Pick<NetworkServices, 'store' | 'states'>;

/**
 * A page of what changed the network in a range, newest first, each with what it alone opened and closed. Where time ended
 * something that is an entry too, without a commit.
 *
 * @param left entries that the page before left, all of them older than its own; undefined at the beginning
 * @returns `readSince`: since when changes were looked at for a `peer`, where they were too many for the whole range
 * @throws MeshError `not_found` for a `peer` that nothing in the range is called
 */
export async function changeList(
  services: Services,
  workspace: string,
  range: Range,
  { filter, left, limit }: { readonly filter: ChangeFilter; readonly left: number | undefined; readonly limit: number },
) {
  const network = await networkMoments(services, workspace, range);
  const { start, steps, ends, moments } = network;
  const entries = entriesOf(start, steps, ends);
  const peer = filter.peer === undefined ? undefined : await identityOf(services, workspace, filter.peer, range);
  const ofPeer = peer && momentsOfPeer(network, peer);
  const keys = ofPeer && new Set(ofPeer.found.map(keyOfMoment));
  const revisions =
    filter.actor === undefined ? undefined : await revisionsBy(services, workspace, filter.actor, range);
  const { kind, name } = filter;
  const found = entries.filter((entry) => {
    const { revision, touched } = entry;
    if (keys && !keys.has(keyOf(entry))) return false;
    if (revisions && (revision === undefined || !revisions.has(revision))) return false;
    return touched.some((one) => (kind ?? one.kind) === one.kind && (name ?? one.name) === one.name);
  });
  const end = Math.min(left ?? found.length, found.length);
  const begin = Math.max(0, end - limit);
  const page = found.slice(begin, end).toReversed();
  const effects = effectsOf(services, moments, page, peer);
  const items = [];
  for (const entry of page) {
    const commit = entry.revision === undefined ? undefined : await commitAt(services, workspace, entry.revision);
    const { resources: _, ...by } = commit ? commitView(commit) : NO_COMMIT;
    items.push({
      ...by,
      at: formatInstant(entry.at),
      revision: entry.revision ?? null,
      resources: entry.touched.map((one) => ({ ...one })),
      effect: effects.get(entry) ?? null,
    });
  }
  return { items, total: found.length, instants: instantsOf(found), left: begin, readSince: ofPeer?.since };
}

const NO_COMMIT = { actor: null, reason: null, workflow_id: null, reviewed_by: null, resources: [] } as const;

/** Everything that changed the network, oldest first; where time ends something in the instant of a commit, that is first. */
function entriesOf(start: NetworkState, steps: readonly NetworkStep[], ends: readonly number[]): Entry[] {
  const due = new Map<number, Set<string>>();
  const present = new Map<string, StoredRecord>();
  const put = (record: StoredRecord) => {
    const key = `${record.kind}/${record.name}`;
    present.set(key, record);
    for (const at of endOf(record)) due.set(at, (due.get(at) ?? new Set()).add(key));
  };
  for (const kind of DECIDING) for (const record of recordsOf(start, kind).values()) put(record);
  const entries: Entry[] = [];
  let next = 0;
  const endUpTo = (instant: number) => {
    for (let at = ends[next]; at !== undefined && at <= instant; at = ends[++next]) {
      const ended = [...(due.get(at) ?? [])].flatMap((key) => {
        const record = present.get(key);
        return record && endOf(record).includes(at) ? [{ type: 'ended' as const, ...named(record) }] : [];
      });
      if (ended.length > 0) entries.push({ at, revision: undefined, touched: ended });
    }
  };
  for (const { revision, at, changes } of steps) {
    endUpTo(at);
    for (const { type, record } of changes) {
      if (type === 'deleted') present.delete(`${record.kind}/${record.name}`);
      else put(record);
    }
    entries.push({ at, revision, touched: changes.map(({ type, record }) => ({ type, ...named(record) })) });
  }
  endUpTo(Number.POSITIVE_INFINITY);
  return entries;
}

const DECIDING = ['MeshPeer', 'MeshPolicy', 'MeshNetwork', 'AgentIdentity'] as const satisfies readonly Kind[];

function named({ kind, name }: StoredRecord) {
  return { kind: kind as DecidingKind, name };
}

/** Revisions of a range that an actor wrote. @throws MeshError `payload_too_large` */
async function revisionsBy(
  { store }: Services,
  workspace: string,
  actor: string,
  { since, to }: Range,
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  let before: number | undefined;
  for (let read = 0; read < MAX_AUDITED; read += AUDIT_PAGE) {
    const query = { actors: actorsNamed(actor), type: 'commit' as const, from: since, to, limit: AUDIT_PAGE };
    const entries = await store.audit(workspace, { ...query, ...(before !== undefined && { before }) });
    for (const { commit } of entries) if (commit) found.add(commit.revision);
    if (entries.length < AUDIT_PAGE) return found;
    before = entries.at(-1)?.seq;
  }
  throw new MeshError('payload_too_large', `${actor} wrote too much in this range: ask about a shorter one.`);
}

/** Returns what the entries of a page opened and closed, each compared with the moment just before it. */
function effectsOf(
  { states }: Services,
  moments: Iterable<StateMoment>,
  page: readonly Entry[],
  peer: Identity | undefined,
) {
  const effects = new Map<Entry, ChangeEffect>();
  const wanted = new Map(page.map((entry) => [keyOf(entry), entry]));
  let before: NetworkState | undefined;
  for (const moment of moments) {
    if (effects.size === wanted.size) break;
    const { state } = moment;
    const entry = wanted.get(keyOfMoment(moment));
    if (entry && before) effects.set(entry, effectBetween(states, before, state, entry, peer));
    before = state;
  }
  return effects;
}

function keyOfMoment({ at, revision, changes }: StateMoment): string {
  return keyOf({ at, revision: changes.length > 0 ? revision : undefined });
}

function keyOf({ at, revision }: Pick<Entry, 'at' | 'revision'>): string {
  return revision === undefined ? `end ${at}` : `revision ${revision}`;
}

export type ChangeEffect = ReturnType<typeof effectBetween>;

function effectBetween(
  states: NetworkServices['states'],
  old: NetworkState,
  now: NetworkState,
  { at, revision, touched }: Entry,
  peer: Identity | undefined,
) {
  const before = withNewNames(old, newNames(old, now));
  // The effect of a commit is computed apart from the effect of time at its instant; expiries show from one millisecond to the
  // next.
  const was = states.reachability(before, revision === undefined ? at - 1 : at);
  const whole = effectOf(was, states.reachability(now, at));
  const own = peer && (nameIn(now, peer) ?? nameIn(before, peer));
  const effect = own === undefined ? whole : effectOnPeer(whole, own);
  const policies = touched.flatMap(({ kind, name }) => (kind === 'MeshPolicy' ? [name] : []));
  const options = { limit: MAX_ROWS, named: namedTerms({ policies }, before, now) };
  const [opened, closed] = [effectTexts(effect, 'opened', now, options), effectTexts(effect, 'closed', now, options)];
  const rowsOf = ({ rows }: typeof opened) =>
    rows.map(({ from, to, shortPorts, pairs }) => ({ from, to, ports: shortPorts, pairs }));
  return {
    opened_pairs: effect.openedPairs,
    closed_pairs: effect.closedPairs,
    opened_outside: outsidePairs(effect, 'opened'),
    closed_outside: outsidePairs(effect, 'closed'),
    outside_compared: effect.outside !== undefined,
    opened: rowsOf(opened),
    closed: rowsOf(closed),
    omitted: opened.omittedRows + closed.omittedRows,
  };
}

/** Newest first; entries of one instant have it once. */
function instantsOf(found: readonly Entry[]): string[] {
  const instants = new Set<number>();
  for (const { at } of found.toReversed()) if (instants.size < MAX_INSTANTS) instants.add(at);
  return [...instants].map(formatInstant);
}
