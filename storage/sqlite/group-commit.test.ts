import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { type Database, openDatabase } from './database.ts';
import { buildGroupCommit } from './group-commit.ts';

function newDatabase(): Database {
  const database = openDatabase(':memory:');
  onTestFinished(() => database.close());
  database.exec('CREATE TABLE line (text TEXT) STRICT');
  return database;
}

function linesOf(database: Database): string[] {
  return database
    .statement<{ text: string }>('SELECT text FROM line')
    .all()
    .map(({ text }) => text);
}

const insert = (database: Database, text: string) => () =>
  database.statement('INSERT INTO line (text) VALUES (?)').run(text);

async function settle(calls: readonly Promise<unknown>[]): Promise<string[]> {
  return (await Promise.allSettled(calls)).map(({ status }) => status);
}

test('jobs of one tick share one transaction, and one that throws is undone alone', async () => {
  const database = newDatabase();
  let transactions = 0;
  const counted: Database = {
    ...database,
    transaction: (work) => {
      transactions++;
      return database.transaction(work);
    },
  };
  const { enqueue } = buildGroupCommit(counted, silentLog);
  const heard: number[] = [];
  const calls = [
    enqueue(insert(database, 'a'), (changed) => heard.push(changed)),
    enqueue(() => {
      insert(database, 'undone')();
      throw new Error('a precondition');
    }),
    enqueue(insert(database, 'b')),
  ];
  expect(await settle(calls)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect({ lines: linesOf(database), transactions, heard }).toEqual({ lines: ['a', 'b'], transactions: 1, heard: [1] });
});

test('a full disk fails the whole group as full, and the next one works once there is room', async () => {
  const database = newDatabase();
  const { enqueue } = buildGroupCommit(database, silentLog);
  await enqueue(insert(database, 'before'));
  database.exec('PRAGMA max_page_count = 4');
  const big = 'x'.repeat(64 * 1024);
  const full = enqueue(insert(database, big));
  const small = enqueue(insert(database, 'small'));
  expect(await Promise.allSettled([full, small])).toMatchObject([
    { status: 'rejected', reason: { code: 'full' } },
    { status: 'rejected', reason: { code: 'full' } },
  ]);
  database.exec('PRAGMA max_page_count = 1000');
  await enqueue(insert(database, 'after'));
  expect(linesOf(database)).toEqual(['before', 'after']);
});

test('closing runs what is queued and refuses what comes later', async () => {
  const database = newDatabase();
  const { enqueue, close } = buildGroupCommit(database, silentLog);
  const queued = Array.from({ length: 300 }, (_, n) => enqueue(insert(database, `${n}`)));
  close();
  expect(new Set(await settle(queued))).toEqual(new Set(['fulfilled']));
  await expect(enqueue(insert(database, 'late'))).rejects.toMatchObject({ code: 'unavailable' });
  expect(linesOf(database)).toHaveLength(300);
});
