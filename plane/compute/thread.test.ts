import { afterEach, describe, expect, test } from 'vitest';
import { ANONYMOUS } from '../../core/base/caller.ts';
import { MeshError } from '../../core/base/errors.ts';
import { StoreError } from '../../core/base/ports.ts';
import type { HeavyCall } from '../../core/compute/compute.ts';
import type { Writes } from './messages.ts';
import { startThread, type Thread, ThreadDied } from './thread.ts';

const { scopesIn: _, ...nobody } = ANONYMOUS;

const ENTRY = new URL('./breaking-thread.testkit.ts', import.meta.url);
const writes: Writes = { commit: () => Promise.reject(new Error('not asked')), record: async () => undefined };
const threads: Thread[] = [];

function thread(): Thread {
  const started = startThread(ENTRY, { heapMb: 64 });
  threads.push(started);
  return started;
}

function call(operation: string): HeavyCall {
  const rest = { requestId: 'r', face: 'rest', origin: '127.0.0.1', workspace: 'w_1' } as const;
  return { ...rest, operation, raw: {}, caller: { ...nobody, scopes: [] } };
}

afterEach(async () => {
  await Promise.all(threads.splice(0).map((one) => one.end()));
});

test('a thread answers one call after the other, each at the time of its call', async () => {
  const one = thread();
  const answers = [await one.run(call('say_time'), 1_000, writes), await one.run(call('say_time'), 2_000, writes)];
  expect(answers.map((text) => text.parse())).toEqual([{ answer: 1_000 }, { answer: 2_000 }]);
  expect(one.isFree).toBe(true);
});

test('what an operation throws arrives as what it was, and the thread goes on', async () => {
  const one = thread();
  const refused = await one.run(call('refuse'), 0, writes).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(MeshError);
  expect(refused).toMatchObject({ code: 'not_found', message: 'There is none.', details: { what: 'peer' } });
  const taken = await one.run(call('find_taken'), 0, writes).catch((error: unknown) => error);
  expect(taken).toBeInstanceOf(StoreError);
  expect(taken).toMatchObject({ code: 'unique', subject: 'the name web' });
  await expect(one.run(call('break'), 0, writes)).rejects.toThrow('a bug');
  expect((await one.run(call('say_time'), 3, writes)).parse()).toEqual({ answer: 3 });
});

test('what a thread writes goes through the store of its caller, whose refusal arrives', async () => {
  const asked: unknown[] = [];
  const one = thread();
  const guarded: Writes = {
    ...writes,
    async commit(...args) {
      asked.push(args);
      throw new StoreError('conflict', 'plan');
    },
  };
  await expect(one.run(call('write'), 0, guarded)).rejects.toMatchObject({ code: 'conflict', subject: 'plan' });
  expect(asked).toEqual([['w_1', [], { actor: 'user:ada', reason: 'because', requestId: 'r' }]]);
});

describe('a thread that dies in a call', () => {
  test.each([
    ['of too much memory', 'take_memory', true],
    ['by an exit', 'exit', false],
  ])('%s fails it at once and takes no other', async (_how, operation, outOfMemory) => {
    const one = thread();
    const error = await one.run(call(operation), 0, writes).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ThreadDied);
    expect(error).toMatchObject({ outOfMemory });
    expect(one.isFree).toBe(false);
    await expect(one.run(call('say_time'), 0, writes)).rejects.toBe(error);
  });

  test('because it was ended, wherever it was', async () => {
    const one = thread();
    await one.run(call('say_time'), 0, writes);
    const spinning = one.run(call('spin'), 0, writes);
    const ended = expect(spinning).rejects.toBeInstanceOf(ThreadDied);
    await one.end();
    await ended;
  });
});
