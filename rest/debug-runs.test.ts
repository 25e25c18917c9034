import { expect, test } from 'vitest';
import { memoryCells } from '../core/base/memory-cells.ts';
import type { Scope } from '../core/base/scope.ts';
import { Secret } from '../core/base/secret.ts';
import type { SharedState } from '../core/base/shared.ts';
import { runIds } from './debug-ids.ts';
import { DebugRuns } from './debug-runs.ts';

const ids = runIds({ controlPrivateKey: new Secret('a key of a test') }, { now: () => 0 });
const clock = { time: 0, now: () => clock.time };
const READS: readonly Scope[] = ['snapshots:read'];
const holding = (scopes: readonly Scope[]) => ({ scopesIn: () => new Set(scopes) });
const ada = { id: 'u_ada', ...holding(READS) };
const bob = { id: 'u_bob', ...holding(READS) };
const root = { id: 'a_root', line: ['a_root'], ...holding(READS) };
const kid = { id: 'a_kid', line: ['a_kid', 'a_root'], ...holding(READS) };
const MANY = 400;

function keeping() {
  const runs = new DebugRuns(clock, ids);
  const begin = (owner: Parameters<DebugRuns['begin']>[1], workspace = 'w_1') => {
    clock.time += 1;
    return runs.begin(workspace, owner, {});
  };
  const isKept = async ({ id, workspace, owner }: { id: string; workspace: string; owner: string }) => {
    try {
      return (await runs.resume(`${id}.1`, workspace, { id: owner, ...holding(READS) }, {})).seen === 1;
    } catch {
      return false;
    }
  };
  return { runs, begin, isKept };
}

test.each([
  ['another person', bob],
  ['an agent', root],
  ['a sub-agent', kid],
])('however many questions %s asks, what others asked is kept, and what they read goes on', async (_who, asker) => {
  const { runs, begin, isKept } = keeping();
  const others = [ada, root, kid].filter(({ id }) => id !== asker.id && !(asker === root && id === kid.id));
  const kept = others.map((owner) => begin(owner));
  const reads = others.map((owner) => begin(owner));
  let stopped = 0;
  for (const run of reads) {
    runs.read(run, () => {
      stopped += 1;
    });
  }
  for (let index = 0; index < MANY; index++) begin(asker);
  expect(await Promise.all([...kept, ...reads].map(isKept))).not.toContain(false);
  expect(stopped).toBe(0);
  expect(runs.size).toBeLessThan(60);
});

test('who asks on and on keeps the latest answers, and what is over leaves before what is not', async () => {
  const { begin, isKept } = keeping();
  const unfinished = begin(ada);
  const all = Array.from({ length: 100 }, () => {
    const run = begin(ada);
    run.isOver = true;
    return run;
  });
  const kept = await Promise.all(all.map(isKept));
  expect(await isKept(unfinished)).toBe(true);
  expect(kept.lastIndexOf(false)).toBe(kept.indexOf(true) - 1);
});

test('who reads a whole share at once is refused another, until one of them is read no more', async () => {
  const { runs, begin } = keeping();
  const ends: (() => void)[] = [];
  const fill = () => {
    for (let index = 0; index < MANY; index++) ends.push(runs.read(begin(kid), () => undefined));
  };
  expect(fill).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  expect(begin(root).owner).toBe('a_root');
  ends[0]?.();
  expect(begin(kid).owner).toBe('a_kid');
});

test('a root agent has the room of those below it, and all workspaces together hold so many', async () => {
  const { runs, begin, isKept } = keeping();
  const first = begin(kid);
  for (let index = 0; index < MANY; index++) begin(root);
  expect(await isKept(first)).toBe(false);
  for (let index = 0; index < MANY; index++) {
    try {
      begin({ id: `u_${index}`, ...holding(READS) }, `w_${index}`);
    } catch {
      // Refused: others hold all.
    }
  }
  expect(runs.size).toBeLessThanOrEqual(200);
});

test('a stream that is read is kept for longer than five minutes, and five minutes more', async () => {
  const { runs, begin, isKept } = keeping();
  const run = begin(ada);
  const end = runs.read(run, () => undefined);
  clock.time += 600_000;
  begin(bob);
  expect(await isKept(run)).toBe(true);
  end();
  clock.time += 300_000;
  expect(await isKept(run)).toBe(true);
  clock.time += 1;
  expect(await isKept(run)).toBe(false);
});

test('a second reader of a run ends the first, whose end is not that of the second', async () => {
  const { runs, begin } = keeping();
  const run = begin(ada);
  let stopped = 0;
  const end = runs.read(run, () => {
    stopped += 1;
  });
  const second = () => undefined;
  runs.read(run, second);
  end();
  expect([stopped, run.stop]).toEqual([1, second]);
});

test.each<[string, readonly Scope[], boolean]>([
  ['the scopes that it was told to', ['snapshots:read', 'network:read', 'intents:plan'], true],
  ['more', ['snapshots:read', 'network:read', 'intents:plan', 'intents:apply'], true],
  ['no plans', ['snapshots:read', 'network:read'], false],
  ['plans, but not the network', ['snapshots:read', 'intents:plan'], false],
  ['the past alone', ['snapshots:read'], false],
])('a credential of the same person that holds %s reads an answer: %#', async (_what, scopes, reads) => {
  const { runs, begin } = keeping();
  const { id } = begin({ id: 'u_ada', ...holding(['snapshots:read', 'network:read', 'intents:plan']) });
  const resumed = runs.resume(`${id}.1`, 'w_1', { id: 'u_ada', ...holding(scopes) }, {}).then(({ seen }) => seen);
  if (reads) expect(await resumed).toBe(1);
  else await expect(resumed).rejects.toThrow('can no longer be resumed');
});

test('a run goes on at another control plane from where it was kept, for who may read it alone', async () => {
  const clock = { now: () => 1_000_000 };
  const cells = memoryCells<unknown>(clock, 10);
  const shared = { cells: () => cells } as unknown as Pick<SharedState, 'cells'>;
  const [one, other] = [new DebugRuns(clock, ids, shared), new DebugRuns(clock, ids, shared)];
  const ada = { id: 'u_ada', ...holding(READS) };
  const run = one.begin('w_1', ada, { question: 'why' });
  run.events.push({ event: 'step', data: 1 }, { event: 'tool', data: 2 });
  await one.keep(run);
  await expect(other.resume(`${run.id}.1`, 'w_1', { id: 'u_bob', ...holding(READS) }, {})).rejects.toThrow('resumed');
  await expect(other.resume(`${run.id}.1`, 'w_1', { id: 'u_ada', ...holding([]) }, {})).rejects.toThrow('resumed');
  const resumed = await other.resume(`${run.id}.1`, 'w_1', ada, {});
  // What a reader makes up costs nobody memory.
  await expect(new DebugRuns(clock, ids, shared).resume(`${run.id}.999999`, 'w_1', ada, {})).rejects.toThrow('resumed');
  expect([resumed.seen, resumed.run.events, resumed.run.asked]).toEqual([1, run.events, { question: 'why' }]);
  // Its reader has seen more than was kept, which is not told again under other numbers.
  resumed.run.events.push({ event: 'done', data: 3 });
  await other.keep(resumed.run);
  const back = await one.resume(`${run.id}.4`, 'w_1', ada, {});
  expect(back.run.events).toHaveLength(4);
});
