import { expect, test } from 'vitest';
import { type Connection, ConnectionQuotas } from './connection-quotas.ts';

function sharesOf(limits: { total: number; perSource: number }) {
  const shares = new ConnectionQuotas(limits);
  const cut: string[] = [];
  const opened = (source: string, { isShared = false, isBusy = false, name = source } = {}) => {
    const connection: Connection = { source, isShared, isBusy: () => isBusy, cut: () => void cut.push(name) };
    return { connection, isIn: shares.add(connection) };
  };
  return { shares, cut, opened };
}

test('one source cannot hold everything, whatever it opens, and the others keep what they have', () => {
  const { shares, cut, opened } = sharesOf({ total: 100, perSource: 40 });
  for (let n = 0; n < 30; n++) opened(`other ${n}`);
  for (let n = 0; n < 1_000; n++) expect(opened('flood').isIn).toBe(true);
  expect(shares.size).toBe(70);
  expect(new Set(cut)).toEqual(new Set(['flood']));
});

test('many sources of one flood make room for a newcomer, and who has one connection keeps it', () => {
  const { cut, opened } = sharesOf({ total: 100, perSource: 40 });
  opened('lone');
  for (let n = 0; n < 120; n++) opened(`flood ${n % 4}`);
  expect(opened('newcomer').isIn).toBe(true);
  expect(cut).not.toContain('lone');
});

test('a proxy has no limit of its own, gives after a flood, and before those who have less', () => {
  const { cut, opened } = sharesOf({ total: 20, perSource: 8 });
  opened('lone');
  for (let n = 0; n < 13; n++) opened('proxy', { isShared: true });
  for (let n = 0; n < 6; n++) opened('flood');
  for (const name of ['a', 'b', 'c', 'd']) expect(opened(name).isIn).toBe(true);
  expect(cut).toEqual(['flood', 'flood', 'proxy', 'proxy']);
});

test('where everything is being answered, a newcomer finds no room, until something leaves', () => {
  const { shares, cut, opened } = sharesOf({ total: 2, perSource: 2 });
  const { connection } = opened('a', { isBusy: true });
  opened('b', { isBusy: true });
  expect(opened('c').isIn).toBe(false);
  shares.remove(connection);
  shares.remove(connection);
  expect([opened('c').isIn, shares.size, cut]).toEqual([true, 2, []]);
});

test('what does something waits anew', () => {
  const { shares, cut, opened } = sharesOf({ total: 10, perSource: 2 });
  const { connection } = opened('a', { name: 'first' });
  opened('a', { name: 'second' });
  shares.touch(connection);
  opened('a', { name: 'third' });
  expect(cut).toEqual(['second']);
});
