import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  OUTSIDE_ADDRESSES,
  outsideAddressesIn,
  playHistory,
  randomHistory,
} from '../../test/kits/plane/random-history.ts';
import type { StoredRecord } from '../base/record.ts';
import { sameValue } from '../model/value.ts';
import { compile } from '../reachability/engine.ts';
import { modelOf } from '../state/network-model.ts';
import { FIELD_OF_KIND, isStateKind, type NetworkState } from '../state/state.ts';
import { diffStates } from './diff.ts';

const FIELDS = ['peers', 'policies', 'networks', 'agents'] as const;

test('every row names changes that take it back alone when each is undone, or together where no single one does', async () => {
  const seen = { alone: 0, together: 0, time: 0, several: 0 };
  await fc.assert(
    fc.asyncProperty(randomHistory, fc.nat(8), fc.nat(20), async (history, first, length) => {
      const { kit, workspace, began, end } = await playHistory(history);
      await using _ = kit;
      const { store, states } = kit.services;
      const times = [began + 1_000 + first * 1_000, began + 3_000 + (first + length) * 1_000];
      const [from, to] = await Promise.all(
        times.map(async (time) => {
          const at = Math.min(time, end);
          return { state: await states.asOf(workspace, { at }), at };
        }),
      );
      if (!from || !to) return;
      const renamed = namedAs(from.state, to.state);
      const was = { at: from.at, state: calledAnew(from.state, renamed) };
      const commits = (await store.commits(workspace, 0, 1_000)).filter(
        ({ revision }) => revision > from.state.revision && revision <= to.state.revision,
      );
      const units = unitsOf(was.state, to.state, commits, renamed);
      const rows = new Map<string, string>();
      let cursor: string | undefined;
      do {
        const page = await diffStates({ store }, from, to, { limit: 1, cursor });
        const [group] = page.groups;
        if (!group) break;
        expect(group.pairs).toBe(page.connectivity.length);
        for (const row of page.connectivity) {
          for (const key of keysOf(row)) {
            expect([key, rows.has(key)]).toEqual([key, false]);
            rows.set(key, JSON.stringify([row.old, row.new]));
          }
          const isGone = (state: NetworkState, at = to.at) => isEach(state, at, row, row.old);
          // The changes of the group, each alone or all together.
          const single = units.filter(({ records }) => isGone(undo(to.state, records)));
          const byTime = isGone(to.state, from.at);
          expect(group.together).toBe(single.length === 0 && !byTime);
          const named = new Set(group.changes.flatMap(({ revisions }) => revisions));
          if (group.together) {
            const all = units.filter(({ revisions }) => revisions.every((one) => named.has(one)));
            const time = group.changes.some((one) => one.time);
            expect(
              isGone(
                undo(
                  to.state,
                  all.flatMap(({ records }) => records),
                ),
                time ? from.at : to.at,
              ),
            ).toBe(true);
            seen.together += 1;
          } else {
            expect(group.changes.some((one) => one.time)).toBe(byTime);
            for (const { revisions } of group.changes.filter((one) => !one.time)) {
              const own = units.filter((unit) => unit.revisions.slice(-revisions.length).join() === revisions.join());
              const isUndone = own.some(({ records, revisions: all }) => {
                const last = all.at(-revisions.length - 1);
                return isGone(undo(to.state, records, last));
              });
              expect(isUndone).toBe(true);
              if (revisions.length > 1) seen.several += 1;
            }
            for (const { revisions } of single) expect(revisions.some((one) => named.has(one))).toBe(true);
            seen.alone += 1;
          }
          // The resources, each alone or all together.
          const recordOf = new Map(units.flatMap(({ records }) => records).map((one) => [one.id, one]));
          const without = (ids: readonly string[]) =>
            isGone(
              undo(
                to.state,
                ids.flatMap((id) => recordOf.get(id) ?? []),
              ),
              ids.includes('time') ? from.at : to.at,
            );
          if (row.causes.includes('time')) seen.time += 1;
          expect(row.causes.length).toBeGreaterThan(0);
          if (row.together) {
            expect(without(row.causes)).toBe(true);
            for (const id of row.causes) expect(without(row.causes.filter((other) => other !== id))).toBe(false);
          } else for (const id of row.causes) expect([id, without([id])]).toEqual([id, true]);
        }
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      expect(rows).toEqual(everyRow(was, to));
    }),
    { numRuns: 60 },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
}, 240_000);

type Moment = { readonly state: NetworkState; readonly at: number };

interface Unit {
  readonly revisions: readonly number[];
  readonly records: readonly Written[];
}
interface Written {
  readonly id: string;
  readonly field: (typeof FIELDS)[number];
  readonly name: string;
  /** What each revision made of it, with what it was at first. */
  readonly versions: readonly { readonly revision: number; readonly record: StoredRecord | undefined }[];
}

/** Records that differ between two states by the revisions that wrote what decides of them. */
function unitsOf(
  from: NetworkState,
  to: NetworkState,
  commits: readonly { revision: number; changes: readonly { type: string; record: StoredRecord }[] }[],
  renamed: ReadonlyMap<string, string>,
): Unit[] {
  const nameOf = ({ uid, name }: StoredRecord) => renamed.get(uid) ?? name;
  /** Of a rename: gone from its old name, as which it is not known. */
  const isLeft = ({ uid }: StoredRecord, type: string) => type === 'deleted' && renamed.has(uid);
  const written = FIELDS.flatMap((field) => {
    const names = new Set([...from[field].keys(), ...to[field].keys()]);
    return [...names].flatMap((name): Written[] => {
      const olds: ReadonlyMap<string, StoredRecord> = from[field];
      const first = olds.get(name);
      const versions: { revision: number; record: StoredRecord | undefined }[] = [
        { revision: from.revision, record: first },
      ];
      for (const { revision, changes } of commits) {
        const own = changes.findLast(
          ({ type, record }) => fieldOf(record) === field && nameOf(record) === name && !isLeft(record, type),
        );
        if (!own) continue;
        const record = own.type === 'deleted' ? undefined : { ...own.record, name };
        if (!same(versions.at(-1)?.record, record)) versions.push({ revision, record });
      }
      return same(first, to[field].get(name)) ? [] : [{ id: `${field}/${name}`, field, name, versions }];
    });
  });
  const groups = Map.groupBy(written, ({ versions }) =>
    versions
      .slice(1)
      .map(({ revision }) => revision)
      .join(),
  );
  return [...groups.values()].map((records) => ({
    revisions: records[0]?.versions.slice(1).map(({ revision }) => revision) ?? [],
    records,
  }));
}

/** The later names of peers that have another one, but for those whose name a peer had that is gone. */
function namedAs(from: NetworkState, to: NetworkState): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  for (const { uid, name } of to.peers.values()) {
    const before = [...from.peers.values()].find((peer) => peer.uid === uid);
    if (before && before.name !== name) named.set(uid, name);
  }
  const isFree = (name: string) => {
    const holder = from.peers.get(name);
    return !holder || named.has(holder.uid);
  };
  while ([...named.values()].some((name) => !isFree(name)))
    for (const [uid, name] of named) if (!isFree(name)) named.delete(uid);
  return named;
}

function calledAnew(state: NetworkState, renamed: ReadonlyMap<string, string>): NetworkState {
  const peers = [...state.peers.values()].map((peer) => ({ ...peer, name: renamed.get(peer.uid) ?? peer.name }));
  return { ...state, peers: new Map(peers.map((peer) => [peer.name, peer])) };
}

function fieldOf({ kind }: StoredRecord): string | undefined {
  return isStateKind(kind) ? FIELD_OF_KIND[kind] : undefined;
}

function same(a: StoredRecord | undefined, b: StoredRecord | undefined): boolean {
  if (!a || !b) return a === b;
  return sameValue([a.uid, a.labels, a.spec, a.status], [b.uid, b.labels, b.spec, b.status]);
}

/** The records as they were at first, or after a revision. */
function undo(state: NetworkState, records: readonly Written[], revision = 0): NetworkState {
  const maps = Object.fromEntries(FIELDS.map((field) => [field, new Map<string, StoredRecord>(state[field])]));
  for (const { field, name, versions } of records) {
    const old = (versions.findLast((one) => one.revision <= revision) ?? versions[0])?.record;
    if (old) maps[field]?.set(name, old);
    else maps[field]?.delete(name);
  }
  return { ...state, ...maps };
}

type Ends = { readonly src: string; readonly dst: string };

/** The pairs that a row means: of an address each where it tells of addresses outside. */
function pairsOf({ src, dst }: Ends): Ends[] {
  const [from, to] = [src, dst].map((end) => outsideAddressesIn(end) ?? [end]);
  return (from ?? []).flatMap((one) => (to ?? []).map((other) => ({ src: one, dst: other })));
}

function keysOf(row: Ends): string[] {
  return pairsOf(row).map(({ src, dst }) => `${src}>${dst}`);
}

function isEach(state: NetworkState, at: number, row: Ends, allowed: unknown): boolean {
  const text = textOf(state, at);
  const pairs = pairsOf(row);
  expect([row, pairs.length]).not.toEqual([row, 0]);
  return pairs.every((pair) => text(pair) === JSON.stringify(allowed));
}

function textOf(state: NetworkState, at: number): (ends: Ends) => string {
  const reach = compile({ ...modelOf(state, at), externals: OUTSIDE_ADDRESSES });
  return ({ src, dst }) => JSON.stringify(reach.allowed(src, dst));
}

function everyRow(from: Moment, to: Moment): Map<string, string> {
  const peers = [...new Set([...from.state.peers.keys(), ...to.state.peers.keys()])];
  const names = [...peers, ...OUTSIDE_ADDRESSES.map(({ name }) => name)];
  const pairs = names.flatMap((src) => names.map((dst) => ({ src, dst })));
  const [was, is] = [textOf(from.state, from.at), textOf(to.state, to.at)];
  return new Map(
    pairs.flatMap((pair): [string, string][] => {
      if (pair.src === pair.dst || !(peers.includes(pair.src) || peers.includes(pair.dst))) return [];
      const [old, now] = [was(pair), is(pair)];
      return old === now ? [] : [[`${pair.src}>${pair.dst}`, `[${old},${now}]`]];
    }),
  );
}
