import { expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

const LIMITS = { total: 10, perTenant: 6, perPrincipal: 4, perTenantAgents: 5 };

function queueOf(...waiting: readonly string[]): FairQueue<string> {
  const queue = new FairQueue<string>(LIMITS);
  for (const name of waiting) queue.push(shareOf(name), name);
  return queue;
}

/** `A-a-1` is the first call of caller a of tenant A. */
function shareOf(name: string) {
  const [tenant = '', principal = ''] = name.split('-');
  return { tenant, principal };
}

function drain(queue: FairQueue<string>, mayRun?: (tenant: string) => boolean): string[] {
  const out: string[] = [];
  for (let next = queue.shift(mayRun); next; next = queue.shift(mayRun)) out.push(next.item);
  return out;
}

test('tenants take turns, and within a tenant its callers, whoever asked more', () => {
  const queue = queueOf('A-a-1', 'A-a-2', 'A-a-3', 'A-b-1', 'B-c-1', 'C-d-1', 'C-d-2');
  expect(drain(queue)).toEqual(['A-a-1', 'B-c-1', 'C-d-1', 'A-b-1', 'C-d-2', 'A-a-2', 'A-a-3']);
  expect(queue.size).toBe(0);
});

test('agents of a tenant leave room for its people', () => {
  const queue = queueOf('A-agt_a-1', 'A-agt_a-2', 'A-agt_a-3', 'A-agt_b-1', 'A-agt_b-2');
  expect(queue.push(shareOf('A-agt_c-1'), 'A-agt_c-1')).toBe('tenant');
  expect(queue.push(shareOf('A-person-1'), 'A-person-1')).toBeUndefined();
});

test('a caller, a tenant and everyone together have a limit, and who is below it still finds room', () => {
  const queue = queueOf('A-a-1', 'A-a-2', 'A-a-3', 'A-a-4');
  const push = (name: string) => queue.push(shareOf(name), name);
  expect(push('A-a-5')).toBe('principal');
  expect(['A-b-1', 'A-b-2', 'A-b-3'].map(push)).toEqual([undefined, undefined, 'tenant']);
  expect(['B-c-1', 'B-c-2', 'B-c-3', 'B-c-4', 'C-d-1'].map(push)).toEqual([
    ...[undefined, undefined, undefined, undefined],
    'everyone',
  ]);
  queue.shift();
  expect(push('C-d-1')).toBeUndefined();
});

test('a tenant that may not run is passed over and keeps its turn', () => {
  const queue = queueOf('A-a-1', 'B-b-1');
  expect(drain(queue, (tenant) => tenant !== 'A')).toEqual(['B-b-1']);
  expect(drain(queue)).toEqual(['A-a-1']);
});

test('what is removed is not given out, and leaves its room to others', () => {
  const queue = queueOf('A-a-1', 'A-a-2', 'A-a-3', 'A-a-4');
  expect(queue.remove(shareOf('A-a-2'), 'A-a-2')).toBe(true);
  expect(queue.remove(shareOf('A-a-2'), 'A-a-2')).toBe(false);
  expect(queue.push(shareOf('A-a-5'), 'A-a-5')).toBeUndefined();
  expect(drain(queue)).toEqual(['A-a-1', 'A-a-3', 'A-a-4', 'A-a-5']);
});
