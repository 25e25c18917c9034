import fc from 'fast-check';
import { expect, test } from 'vitest';
import { peer } from '../../test/kits/records/records.ts';
import { stillHeld } from '../../test/kits/records/still-held.ts';
import type { StoredRecord } from '../base/record.ts';
import { RecordMap } from './record-map.ts';

const names = ['a', 'b', 'c', 'Dee', 'e'] as const;
const changes = fc.array(fc.tuple(fc.constantFrom(...names), fc.option(fc.nat(9), { nil: undefined })), {
  maxLength: 4,
});
const steps = fc.array(fc.record({ from: fc.nat(30), isBranch: fc.boolean(), changes }), { maxLength: 30 });

function recordsOf(list: readonly (readonly [string, number | undefined])[]): Map<string, StoredRecord | undefined> {
  return new Map(
    list.map(([name, at]) => [
      name,
      at === undefined ? undefined : { ...peer(name), uid: `${name}-${at}`, revision: at },
    ]),
  );
}

function contents(records: ReadonlyMap<string, StoredRecord>): [string, string][] {
  return [...records].map(([name, { uid }]): [string, string] => [name, uid]).sort(([a], [b]) => (a < b ? -1 : 1));
}

test('every version stays as it was, whatever follows it or branches off', () => {
  fc.assert(
    fc.property(steps, (list) => {
      const versions = [RecordMap.from<StoredRecord>(new Map())];
      const plain = [new Map<string, StoredRecord>()];
      for (const { from, isBranch, changes: asked } of list) {
        const at = isBranch ? from % versions.length : versions.length - 1;
        const changed = recordsOf(asked);
        const copy = new Map(plain[at]);
        for (const [name, record] of changed) record === undefined ? copy.delete(name) : copy.set(name, record);
        const version = versions[at];
        if (version) versions.push(isBranch ? version.branch(changed) : version.with(changed));
        plain.push(copy);
      }
      for (const [at, version] of versions.entries()) {
        const expected = plain[at] ?? new Map();
        expect(contents(version)).toEqual(contents(expected));
        expect(version.size).toBe(expected.size);
        for (const name of names) {
          expect(version.get(name)).toBe(expected.get(name));
          expect(version.byFoldedName(name.toLowerCase())).toBe(expected.get(name));
          const record = expected.get(name);
          expect(record && version.byUid(record.uid)).toBe(record);
        }
        for (const other of versions) {
          const named = RecordMap.changedNames(version, other);
          const differ = names.filter((name) => version.get(name) !== other.get(name));
          expect(named === undefined || differ.every((name) => named.has(name))).toBe(true);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('an iteration that others are faster than goes on over what it began with', () => {
  const first = RecordMap.from<StoredRecord>(
    new Map([
      ['a', peer('a')],
      ['b', peer('b')],
    ]),
  );
  const seen: string[] = [];
  let last = first;
  for (const name of first.keys()) {
    seen.push(name);
    last = last.with(
      recordsOf([
        ['b', undefined],
        [`c-${name}`, 1],
      ]),
    );
  }
  expect(seen).toEqual(['a', 'b']);
  expect([...last.keys()].sort()).toEqual(['a', 'c-a', 'c-b']);
});

test('who keeps an old version keeps none of those between it and the newest', async () => {
  const first = RecordMap.from<StoredRecord>(new Map());
  const { newest, between } = followedBy(first, 100);
  expect(await stillHeld(between)).toHaveLength(0);
  expect([first.size, newest.size]).toEqual([0, 100]);
  expect([...(RecordMap.changedNames(first, newest) ?? [])]).toHaveLength(100);
});

/** In a frame of its own, which keeps no version alive once it has returned. */
function followedBy(first: RecordMap, count: number) {
  const between: WeakRef<RecordMap>[] = [];
  let newest = first;
  for (let nth = 0; nth < count; nth += 1) {
    if (newest !== first) between.push(new WeakRef(newest));
    newest = newest.with(new Map([[`peer-${nth}`, peer(`peer-${nth}`)]]));
  }
  return { newest, between };
}
