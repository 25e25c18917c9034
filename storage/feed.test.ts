import { expect, test } from 'vitest';
import type { Commit } from '../core/base/ports.ts';
import { silentLog } from '../core/base/silent-log.ts';
import { buildFeed } from './feed.ts';

const commitOf = (revision: number) => ({ workspace: 'w', revision, changes: [] }) as unknown as Commit;

/** A feed over a log in memory that counts how often it is read. */
function countedFeed() {
  const log: Commit[] = [];
  let reads = 0;
  const feed = buildFeed(silentLog, async (_workspace, from, limit) => {
    reads += 1;
    return log.filter(({ revision }) => revision > from).slice(0, limit);
  });
  return {
    feed,
    reads: () => reads,
    write() {
      const commit = commitOf(log.length + 1);
      log.push(commit);
      feed.publish(commit);
      return commit;
    },
  };
}

test('watchers who have seen the same read a commit together and get the same object', async () => {
  const { feed, reads, write } = countedFeed();
  write();
  const end = new AbortController();
  const watchers = Array.from({ length: 100 }, () => feed.watch('w', 1, end.signal));
  const waiting = watchers.map((watcher) => watcher.next());
  const second = write();
  const got = await Promise.all(waiting);
  expect(got.every(({ value }) => value === second)).toBe(true);
  expect(reads()).toBe(1);
  const more = watchers.map((watcher) => watcher.next());
  write();
  write();
  expect((await Promise.all(more)).map(({ value }) => value?.revision)).toEqual(Array.from({ length: 100 }, () => 3));
  expect(reads()).toBeLessThanOrEqual(3);
  const rest = await Promise.all(watchers.map((watcher) => watcher.next()));
  expect(rest.map(({ value }) => value?.revision)).toEqual(Array.from({ length: 100 }, () => 4));
  end.abort();
});

test('one who comes late reads for itself what was missed', async () => {
  const { feed, write } = countedFeed();
  for (let count = 0; count < 3; count += 1) write();
  const end = new AbortController();
  const late = feed.watch('w', 0, end.signal);
  const seen = [];
  for (let count = 0; count < 3; count += 1) seen.push((await late.next()).value?.revision);
  expect(seen).toEqual([1, 2, 3]);
  end.abort();
});
