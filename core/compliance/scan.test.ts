import { expect, test } from 'vitest';
import type { Store } from '../base/ports.ts';
import { listDrift } from './drift.ts';
import { MAX_SCANNED } from './scan.ts';

const RECORDS = 10_000;

/** A store with drift of `soc2` at each millisecond, of which the last is of `hipaa`; and how many records were read. */
function driftStore() {
  const controls = [{ control: 'SOC2-CC6.1', from: 'pass', to: 'fail', cause: null }];
  const all = Array.from({ length: RECORDS }, (_, index) => ({
    name: String(index).padStart(6, '0'),
    uid: `drift_${index}`,
    spec: { framework: index === RECORDS - 1 ? 'hipaa' : 'soc2', at: RECORDS - index, controls },
  }));
  const reads = { count: 0 };
  const list = async (_workspace: string, _kind: string, { after = '', limit = RECORDS } = {}) => {
    const rest = all.filter(({ name }) => name > after);
    reads.count += Math.min(rest.length, limit);
    return { items: rest.slice(0, limit), ...(rest.length > limit && { next: rest[limit - 1]?.name }) };
  };
  return { store: { list } as unknown as Store, reads };
}

test('a filter that leaves nearly all out looks at a bounded number of records a page, and finds the last of 10,000', async () => {
  const { store, reads } = driftStore();
  const found: string[] = [];
  for (let cursor: string | undefined; ; ) {
    reads.count = 0;
    const page = await listDrift({ store }, 'ws_1', { framework: 'hipaa', cursor, limit: 50 });
    expect(reads.count).toBeLessThanOrEqual(MAX_SCANNED + 200);
    found.push(...page.items.map(({ id }) => id));
    cursor = page.next;
    if (cursor === undefined) break;
  }
  expect(found).toEqual([`drift_${RECORDS - 1}`]);
});

test('what is older than is asked for is not read', async () => {
  const { store, reads } = driftStore();
  const { items, next } = await listDrift({ store }, 'ws_1', { since: RECORDS - 2, limit: 50 });
  expect([items.length, next, reads.count]).toEqual([3, undefined, 200]);
});
