import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SecurityEvent } from '../../core/base/ports.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { testClock, WS } from '../contract/kit.ts';
import { openSqliteStore } from './store.ts';

/** A log of some thousand entries, of which one is of somebody else, near its beginning. */
async function longLog(others = 'user:ada') {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-search-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = await openSqliteStore({ path: path.join(folder, 'mesh.db'), clock: testClock(), log: silentLog });
  onTestFinished(() => store.close());
  const by = (actor: string): SecurityEvent => ({ type: 'login', actor, result: 'ok' });
  await store.record(WS, [by(others), by('user:"bob"'), by(others)]);
  for (let n = 0; n < 3; n += 1)
    await store.record(
      WS,
      Array.from({ length: 1_000 }, () => by(others)),
    );
  return store;
}

test('an actor is found however far back, with whatever stands in the name', async () => {
  const store = await longLog();
  const found = await store.audit(WS, { actors: ['user:"bob"'], limit: 5 });
  expect(found.map(({ seq, actor }) => [seq, actor])).toEqual([[1, 'user:"bob"']]);
  expect(await store.audit(WS, { actors: ['user:bob'], limit: 5 })).toEqual([]);
  expect(await store.audit(WS, { limit: 0 })).toEqual([]);
});

test('what callers did is found however far back, below thousands of entries of jobs', async () => {
  const store = await longLog('system:presence');
  const found = await store.audit(WS, { author: 'caller', limit: 5 });
  expect(found.map(({ seq, actor }) => [seq, actor])).toEqual([[1, 'user:"bob"']]);
});

test('many searches at once take turns with each other, and leave each turn of the event loop to all else too', async () => {
  const store = await longLog();
  let turns = 0;
  let isSearching = true;
  const count = () => {
    turns += 1;
    if (isSearching) setImmediate(count);
  };
  setImmediate(count);
  const searches = Array.from({ length: 20 }, () => store.audit(WS, { actors: ['user:nobody'], limit: 1 }));
  expect((await Promise.all(searches)).flat()).toEqual([]);
  isSearching = false;
  expect(turns).toBeGreaterThanOrEqual(20 * 3);
});
