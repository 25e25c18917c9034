import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { MeshError } from '../../core/base/errors.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { type HeavyCall, JsonText } from '../../core/compute/compute.ts';
import { COMPUTE_LIMITS, type ComputeLimits } from './limits.ts';
import type { Writes } from './messages.ts';
import { buildComputePool } from './pool.ts';
import { type Thread, ThreadDied } from './thread.ts';

const LIMITS: ComputeLimits = {
  threads: 1,
  waiting: { total: 20, perTenant: 10, perPrincipal: 4, perTenantAgents: 8 },
  runMs: 10_000,
  waitMs: 20_000,
  judgementWaitMs: 2_000,
  idleMs: 30_000,
  retryAfterSeconds: 5,
};
const text = new JsonText(new TextEncoder().encode('{}'));
const never = new AbortController().signal;
const writes: Writes = { commit: () => Promise.reject(new Error('not asked')), record: async () => undefined };

/** A pool over threads that compute until they are told; `begun` lists calls as `workspace-caller-operation`. */
function scene(over: Partial<ComputeLimits> = {}) {
  const begun: string[] = [];
  const answers = new Map<string, PromiseWithResolvers<JsonText>>();
  const threads: { ended: boolean }[] = [];
  const startThread = (): Thread => {
    const state = { ended: false, isFree: true };
    threads.push(state);
    return {
      get isFree() {
        return state.isFree;
      },
      async run(call) {
        const of = 'computation' in call ? [call.principal, call.computation] : [call.caller?.id, call.operation];
        const name = [call.workspace, ...of].join('-');
        const answer = Promise.withResolvers<JsonText>();
        begun.push(name);
        answers.set(name, answer);
        state.isFree = false;
        const outcome = await answer.promise.catch((error: Error) => error);
        state.isFree = !(outcome instanceof ThreadDied);
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
      async end() {
        state.ended = true;
      },
    };
  };
  const pool = buildComputePool({
    startThread,
    limits: { ...LIMITS, ...over },
    clock: { now: () => 0 },
    log: silentLog,
  });
  const ask = (name: string, signal = never) => {
    const asked = pool.run(callOf(name), { store: writes }, signal);
    asked.catch(() => undefined);
    return asked;
  };
  return {
    pool,
    begun,
    threads,
    ask,
    /** Has a write judged, or computes for a question. */
    judge: (name: string, isQuestion = false) => {
      const [workspace = '', principal = '', computation = ''] = name.split('-');
      const asked = pool.compute({ workspace, principal, computation, isQuestion, requestId: 'r', input: {} });
      asked.catch(() => undefined);
      return asked;
    },
    /** Asks, and looks no further. */
    send: (...names: readonly string[]) => void names.map((name) => ask(name)),
    /** Lets a running call answer, or fail. */
    async finish(name: string, error?: Error) {
      await settled();
      const answer = answers.get(name);
      if (error) answer?.reject(error);
      else answer?.resolve(text);
      await settled();
    },
  };
}

function callOf(name: string): HeavyCall {
  const [workspace = '', id = '', operation = ''] = name.split('-');
  const caller = { kind: 'user', subject: `user:${id}`, id, name: id, tokenId: id, workspaces: [workspace] } as const;
  const rest = { raw: {}, requestId: 'r', face: 'rest', origin: '127.0.0.1' } as const;
  return { ...rest, operation, workspace, caller: { ...caller, interactive: true, scopes: [] } };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("one workspace's flood does not hold up another's call by more than the call that runs", async () => {
  const { begun, finish, send } = scene();
  for (let index = 0; index < 10; index += 1) send(`flood-caller${index % 3}-${index}`);
  send('quiet-ada-only');
  await finish('flood-caller0-0');
  expect(begun).toEqual(['flood-caller0-0', 'quiet-ada-only']);
});

test('where there are several threads one workspace never has them all', async () => {
  const { begun, send } = scene({ threads: 3 });
  for (let index = 0; index < 4; index += 1) send(`flood-caller-${index}`);
  send('quiet-ada-only');
  await settled();
  expect(begun).toEqual(['flood-caller-0', 'flood-caller-1', 'quiet-ada-only']);
});

test('who finds no room is told when to come again, and everyone else still finds it', async () => {
  const { ask, pool, send } = scene();
  for (let index = 0; index < 5; index += 1) send(`one-greedy-${index}`);
  await expect(ask('one-greedy-6')).rejects.toMatchObject({ code: 'unavailable', details: { retryAfterSeconds: 5 } });
  send('one-modest-1');
  await settled();
  expect(pool.counts).toEqual({ running: 1, waiting: 5, refused: 1, died: 0 });
});

describe('the judgement of a write', () => {
  test('begins while questions fill all that they may have, of the same caller too, and none of them begins before it', async () => {
    for (const threads of [1, 2, 4]) {
      const { begun, finish, judge, send, pool } = scene({ threads });
      for (let index = 0; index < 8; index += 1) send(`one-agt_a-${index}`, `two-agt_b-${index}`);
      await settled();
      const running = [...begun];
      expect(running).toHaveLength(threads);
      for (const who of ['agt_a', 'agt_a', 'ada', 'ben']) {
        const before = begun.length;
        const asked = judge(`one-${who}-judge${before}`);
        await finish(`one-${who}-judge${before}`);
        expect(await asked).toBe(text);
      }
      expect(begun.slice(threads).every((name) => name.includes('judge'))).toBe(true);
      expect([begun.length, pool.counts.running]).toEqual([threads + 4, threads]);
    }
  });

  test('goes before the questions that wait where one of them ends, and leaves them their threads', async () => {
    const { begun, finish, judge, send } = scene({ threads: 2 });
    send('one-agt_a-1', 'two-agt_b-1', 'one-agt_a-2', 'two-agt_b-2');
    void judge('one-ada-j1');
    void judge('two-ben-j2');
    void judge('three-eve-j3');
    await settled();
    expect(begun).toEqual(['one-agt_a-1', 'two-agt_b-1', 'one-ada-j1']);
    await finish('one-agt_a-1');
    expect(begun.slice(3)).toEqual(['two-ben-j2']);
    await finish('two-agt_b-1');
    expect(begun.slice(4)).toEqual(['one-agt_a-2']);
    await finish('two-ben-j2');
    expect(begun.slice(5)).toEqual(['three-eve-j3']);
  });

  test('that finds no thread soon is refused, and what waits behind it goes on', async () => {
    const { begun, judge } = scene();
    void judge('one-ada-long');
    const refused = judge('two-ben-late');
    await settled();
    vi.advanceTimersByTime(LIMITS.judgementWaitMs);
    await expect(refused).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('was not'),
      details: { retryAfterSeconds: 5 },
    });
    expect(begun).toEqual(['one-ada-long']);
  });

  test('a computation that any number of calls may ask for at once waits as questions do', async () => {
    const { begun, judge, send } = scene();
    send('one-agt_a-1', 'one-agt_a-2');
    void judge('one-agt_a-preview', true);
    await settled();
    expect(begun).toEqual(['one-agt_a-1']);
  });
});

describe('a caller that goes', () => {
  test('ends the thread that computes for it, and the next call has a new one', async () => {
    const { ask, threads, begun, send } = scene();
    const leaving = new AbortController();
    const asked = ask('one-ada-long', leaving.signal);
    send('one-ben-next');
    await settled();
    leaving.abort();
    await expect(asked).rejects.toMatchObject({ code: 'unavailable' });
    await settled();
    expect(threads.map(({ ended }) => ended)).toEqual([true, false]);
    expect(begun).toEqual(['one-ada-long', 'one-ben-next']);
  });

  test('leaves its place in the queue, and its call never runs', async () => {
    const { ask, begun, finish, pool, send } = scene();
    const leaving = new AbortController();
    send('one-ada-first');
    const asked = ask('one-ben-waits', leaving.signal);
    leaving.abort();
    await expect(asked).rejects.toMatchObject({ code: 'unavailable' });
    await finish('one-ada-first');
    expect([begun, pool.counts.waiting]).toEqual([['one-ada-first'], 0]);
  });
});

test('a call that takes too long is ended and told to ask for less', async () => {
  const { ask, threads } = scene();
  const asked = ask('one-ada-long');
  await settled();
  vi.advanceTimersByTime(LIMITS.runMs);
  await expect(asked).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('ask for less') });
  expect(threads).toEqual([expect.objectContaining({ ended: true })]);
});

test('a call that waits too long is told when to come again', async () => {
  const { ask, send } = scene({ runMs: 60_000 });
  send('one-ada-long');
  const asked = ask('one-ben-waits');
  vi.advanceTimersByTime(LIMITS.waitMs);
  await expect(asked).rejects.toMatchObject({ code: 'unavailable', details: { retryAfterSeconds: 5 } });
});

test('a thread that dies costs its own call alone: the others are computed by a new one', async () => {
  const { ask, finish, pool, threads } = scene();
  const lost = ask('one-ada-huge');
  const other = ask('one-ben-fine');
  await finish('one-ada-huge', new ThreadDied('out of memory', true));
  await expect(lost).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('memory') });
  await finish('one-ben-fine');
  expect(await other).toBe(text);
  expect([pool.counts.died, threads.length]).toEqual([1, 2]);
});

test('what the operation itself refuses is told as it is, and the thread goes on', async () => {
  const { ask, finish, threads, send } = scene();
  const asked = ask('one-ada-wrong');
  await finish('one-ada-wrong', new MeshError('not_found', 'There is none.'));
  await expect(asked).rejects.toMatchObject({ code: 'not_found' });
  send('one-ada-right');
  await settled();
  expect(threads).toHaveLength(1);
});

test('a thread that nobody uses ends', async () => {
  const { finish, threads, send } = scene();
  send('one-ada-short');
  await finish('one-ada-short');
  vi.advanceTimersByTime(LIMITS.idleMs);
  expect(threads).toEqual([expect.objectContaining({ ended: true })]);
});

test('at the end what runs and what waits is refused, every thread has ended, and nothing more is taken', async () => {
  const { ask, pool, threads } = scene();
  const asked = [ask('one-ada-runs'), ask('two-ben-waits')];
  await settled();
  await pool.stop();
  const after = ask('one-ada-late');
  const outcomes = await Promise.allSettled([...asked, after]);
  expect(outcomes.map((one) => one.status === 'rejected' && one.reason.message)).toEqual(
    Array(3).fill('The control plane is stopping: try again when it is back.'),
  );
  expect(threads).toEqual([expect.objectContaining({ ended: true })]);
});

test('one caller may ask about all 56 pairs of eight peers at once', async () => {
  const { pool, begun, send } = scene({ waiting: COMPUTE_LIMITS.waiting });
  send(...Array.from({ length: 56 }, (_, index) => `a-planner-${index}`));
  await settled();
  expect([begun.length, pool.counts.waiting, pool.counts.refused]).toEqual([1, 55, 0]);
});
