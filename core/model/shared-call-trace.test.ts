import { expect, test } from 'vitest';
import type { SharedCalls } from '../base/shared.ts';
import { SharedCallTrace } from './shared-call-trace.ts';

const by = { workspace: 'w_1', caller: 'agt_1', family: 'agt_1' };
const call = (operation: string) => ({
  ...{ at: 1, operation, face: 'mcp' as const, outcome: 'ok', input: '{}', result: '{}', requestId: 'r_1' },
});

function prepared() {
  const kept: { seq: number; text: string }[] = [];
  const state = { isAway: false, writes: 0 };
  const shared: SharedCalls = {
    async append(calls) {
      if (state.isAway) throw new Error('away');
      state.writes += 1;
      kept.push(...calls);
    },
    newest: async (_of, limit) =>
      kept
        .toSorted((a, b) => b.seq - a.seq)
        .map(({ text }) => text)
        .slice(0, limit),
  };
  const warnings: string[] = [];
  const log = { warn: (_fields: object, message: string) => void warnings.push(message) };
  const traceAt = (now: number) => new SharedCallTrace(shared, { clock: { now: () => now }, log });
  return { state, warnings, traceAt };
}

const namesOf = (calls: readonly { operation: string }[]) => calls.map(({ operation }) => operation);

test('what was called at any control plane is told by all, the newest first', async () => {
  const { traceAt } = prepared();
  const [one, other] = [traceAt(1_000), traceAt(2_000)];
  one.keep(by, call('first'));
  one.keep(by, call('second'));
  await one.close();
  other.keep(by, call('third'));
  expect(namesOf(await other.of(by))).toEqual(['third', 'second', 'first']);
  expect(namesOf(await one.of(by))).toEqual(['third', 'second', 'first']);
});

test('calls that come while others are kept are kept in one go', async () => {
  const { state, traceAt } = prepared();
  const trace = traceAt(1_000);
  for (let n = 0; n < 100; n += 1) trace.keep(by, call(`${n}`));
  expect(await trace.of(by)).toHaveLength(100);
  expect(state.writes).toBeLessThan(3);
});

test('what could not be kept is kept once the store is there again', async () => {
  const { state, warnings, traceAt } = prepared();
  const trace = traceAt(1_000);
  state.isAway = true;
  trace.keep(by, call('first'));
  await trace.close();
  expect(warnings).toEqual(['calls of agents are kept later']);
  state.isAway = false;
  trace.keep(by, call('second'));
  expect(namesOf(await trace.of(by))).toEqual(['second', 'first']);
});
