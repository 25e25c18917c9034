import { expect, test } from 'vitest';
import { OwnTransactions } from './own-transaction.ts';

const TABLE = 'mesh_mesh0';
const deletions = (text: string) => text.split('\n').filter((line) => line.startsWith('delete '));

test('each mark of an own transaction counts once', () => {
  const own = new OwnTransactions(TABLE);
  const [begin = '', end = ''] = deletions(own.marked(7, ''));
  expect([begin, end].map((line) => own.told(line))).toEqual([
    { isBegin: true, load: 7 },
    { isBegin: false, load: 7 },
  ]);
  expect([begin, end].map((line) => own.told(line))).toEqual([undefined, undefined]);
});

test('marks that others make up, or saw, hide nothing', () => {
  const own = new OwnTransactions(TABLE);
  const [begin = '', end = ''] = deletions(own.marked(7, ''));
  for (const line of [
    `delete table inet ${TABLE}/begin/7`,
    `delete table inet ${TABLE}/begin/0123456789abcdef/7`,
    begin.replace(/7$/, '8'),
    begin.replace(TABLE, 'mesh_mesh1'),
  ])
    expect(own.told(line)).toBeUndefined();
  own.told(begin);
  expect(own.told(begin)).toBeUndefined();
  expect(own.told(end)).toEqual({ isBegin: false, load: 7 });
  const [missed = ''] = deletions(own.marked(8, ''));
  own.missed();
  expect(own.told(missed)).toBeUndefined();
});
