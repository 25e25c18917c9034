import { expect, test } from 'vitest';
import { callerWith } from './plane.testkit.ts';
import { limitPrincipals } from './principal-rate.ts';

const agentOf = (id: string, line: readonly string[], workspaces: readonly string[] = ['w_1']) =>
  callerWith([], { kind: 'agent', id, line, workspaces });

/** How many of a thousand requests at one instant pass. */
function passed(count: ReturnType<typeof limitPrincipals>, caller: ReturnType<typeof callerWith>, now = 0): number {
  let passes = 0;
  for (let asked = 0; asked < 1_000; asked += 1) {
    try {
      count(caller, now);
      passes += 1;
    } catch {}
  }
  return passes;
}

test('one principal is refused when it asks too often, and no other is, until its minute is over', () => {
  const count = limitPrincipals(10);
  const [greedy, other] = [agentOf('a', ['a']), agentOf('b', ['b'])];
  expect([passed(count, greedy), passed(count, other)]).toEqual([50, 50]);
  expect(() => count(greedy, 59_001)).toThrow(
    expect.objectContaining({
      code: 'rate_limited',
      message: 'Too many requests of yours: wait 1 s and try again.',
      details: { limit: 'requests', share: 'principal', retryAfterSeconds: 1 },
    }),
  );
  expect(passed(count, greedy, 60_000)).toBe(50);
});

test('sub-agents share what their root may ask', () => {
  const count = limitPrincipals(10);
  const asked = ['c', 'd', 'e'].map((id) => passed(count, agentOf(id, [id, 'root'])));
  expect([...asked, passed(count, agentOf('root', ['root']))]).toEqual([25, 25, 0, 0]);
});

test('the principals of one workspace take nothing from another', () => {
  const count = limitPrincipals(10);
  const asked = Array.from({ length: 8 }, (_, index) => passed(count, agentOf(`a${index}`, [`a${index}`])));
  expect(asked).toEqual([50, 50, 50, 50, 0, 0, 0, 0]);
  expect(passed(count, agentOf('b', ['b'], ['w_2']))).toBe(50);
});
