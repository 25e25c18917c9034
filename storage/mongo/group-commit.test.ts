import { expect, test } from 'vitest';
import type { Commit } from '../../core/base/ports.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { draft, testClock, WHY, WS } from '../contract/kit.ts';
import type { Connection } from './connect.ts';
import { buildGroupCommit } from './group-commit.ts';
import { buildWriteQueue } from './write-queue.ts';

function groupsOn(connection: Connection, tell: (commit: Commit) => Promise<void>) {
  return buildGroupCommit(
    connection,
    testClock(),
    silentLog,
    buildWriteQueue(connection, { hear: async () => undefined }),
    tell,
  );
}

const job = { workspace: WS, ops: [], context: WHY };

/** Answers what each transaction would, one revision after the other. */
function connectionOf(wait: () => Promise<unknown> = async () => undefined) {
  let revision = 0;
  const transaction = async () => {
    await wait();
    revision += 1;
    return [{ commit: { workspace: WS, revision, changes: [{}] } as unknown as Commit }];
  };
  return { transaction } as unknown as Connection;
}

test('a commit that cannot be told of yet stands, and the next are written', async () => {
  let canTell = false;
  const told: number[] = [];
  const groups = groupsOn(connectionOf(), async ({ revision }) => {
    if (!canTell) throw new Error('the log cannot be read');
    told.push(revision);
  });
  expect(await groups.enqueue(job)).toMatchObject({ revision: 1 });
  canTell = true;
  expect(await groups.enqueue(job)).toMatchObject({ revision: 2 });
  expect(told).toEqual([2]);
});

test('what is written now is settled while more of it waits', async () => {
  const { promise: blocked, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: second, resolve: secondBegun } = Promise.withResolvers<void>();
  let transactions = 0;
  const wait = () => {
    transactions += 1;
    if (transactions === 1) return Promise.resolve();
    secondBegun();
    return blocked;
  };
  const { promise: told, resolve: tell } = Promise.withResolvers<void>();
  const groups = groupsOn(connectionOf(wait), ({ revision }) => (revision === 1 ? told : Promise.resolve()));
  const first = groups.enqueue(job);
  await expect.poll(() => transactions).toBe(1);
  const settled = groups.settled();
  const next = groups.enqueue(job);
  tell();
  await settled;
  await second;
  goOn();
  expect(await Promise.all([first, next])).toMatchObject([{ revision: 1 }, { revision: 2 }]);
});

test('what waits is written in groups of a few megabytes, and what is larger alone', async () => {
  const answered: number[] = [];
  let transactions = 0;
  const groups = groupsOn(
    connectionOf(async () => {
      transactions += 1;
    }),
    async () => undefined,
  );
  const sized = (characters: number) => {
    const record = draft('a', { spec: { hostname: 'x'.repeat(characters) } });
    return groups.enqueue({ ...job, ops: [{ op: 'create', record }] }).then(() => answered.push(transactions));
  };
  await Promise.all([1_500_000, 1_500_000, 1_500_000, 9_000_000, 1, 1].map(sized));
  expect(answered).toEqual([1, 1, 2, 3, 4, 4]);
});
