import { expect, test } from 'vitest';
import { DueDeliveries, FLIGHT_LIMITS } from './due.ts';

function waiting(workspace: string, webhook: string, count: number, nextAt = 0) {
  return Array.from({ length: count }, (_, index) => ({
    workspace,
    name: `${webhook}.${String(index).padStart(3, '0')}`,
    spec: { webhook, type: 'webhook.test', body: '{}' },
    status: { state: 'waiting', attempts: 0, nextAt } as const,
  }));
}

test('one webhook and one workspace have so many places, and leave the others to the others', () => {
  const due = new DueDeliveries();
  for (const one of waiting('w_1', 'wh_slow', 100)) due.note(one);
  for (const one of waiting('w_1', 'wh_2', 100, 1)) due.note(one);
  for (const one of waiting('w_1', 'wh_3', 100, 1)) due.note(one);
  for (const one of waiting('w_2', 'wh_4', 100, 2)) due.note(one);
  const taken = due.take(10);
  const count = (of: 'workspace' | 'webhook', id: string) => taken.filter((one) => one[of] === id).length;
  expect(count('webhook', 'wh_slow')).toBe(FLIGHT_LIMITS.webhook);
  expect(count('workspace', 'w_1')).toBe(FLIGHT_LIMITS.workspace);
  expect(count('workspace', 'w_2')).toBe(FLIGHT_LIMITS.webhook);
});

test('no more are under way than there are places in all, and each that lands makes room', () => {
  const due = new DueDeliveries();
  for (let workspace = 0; workspace < 20; workspace++) {
    for (const one of waiting(`w_${workspace}`, `wh_${workspace}`, 4)) due.note(one);
  }
  const taken = due.take(0);
  expect(taken).toHaveLength(FLIGHT_LIMITS.total);
  expect(due.take(0)).toEqual([]);
  for (const one of taken.slice(0, 3)) due.landed(one);
  expect(due.take(0)).toHaveLength(3);
});

test('what is not due is not taken, and says when it is', () => {
  const due = new DueDeliveries();
  for (const one of waiting('w_1', 'wh_1', 1, 50)) due.note(one);
  expect([due.take(49), due.nextAt()]).toEqual([[], 50]);
  expect(due.take(50)).toHaveLength(1);
  expect(due.nextAt()).toBeUndefined();
});

test('a workspace whose receivers are quick begins at once, however much waits for the slow ones of others', () => {
  const due = new DueDeliveries();
  const waits = (workspace: string, number: number, nextAt: number) =>
    due.note({
      workspace,
      name: `d${number}`,
      spec: { webhook: `wh_${workspace}_${number % 4}` },
      status: { state: 'waiting', nextAt },
    } as never);
  for (const workspace of ['a', 'b', 'c', 'd', 'e']) for (let n = 0; n < 50; n += 1) waits(workspace, n, n);
  expect(due.take(1_000)).toHaveLength(FLIGHT_LIMITS.total);
  waits('quick', 1, 900);
  expect(due.take(1_000).map(({ workspace }) => workspace)).toEqual(['quick']);
});
