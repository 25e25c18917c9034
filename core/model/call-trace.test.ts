import { expect, test } from 'vitest';
import { CallTrace, TRACE_LIMITS } from './call-trace.ts';

const call = (operation: string, size = 10) => ({
  at: 0,
  operation,
  face: 'mcp' as const,
  outcome: 'ok',
  input: '{}',
  result: 'x'.repeat(size),
  requestId: 'r_1',
});
const by = (family: string, caller = family) => ({ workspace: 'w_1', family, caller });

test('an agent that calls without end pushes out calls of its own family alone', async () => {
  const trace = new CallTrace();
  trace.keep(by('quiet'), call('get_peer'));
  trace.keep(by('busy'), call('list_peers'));
  for (let count = 0; count < TRACE_LIMITS.calls; count += 1) trace.keep(by('busy', 'child'), call('get_peer', 2_000));
  expect(await trace.of(by('quiet'))).toHaveLength(1);
  expect(await trace.of(by('busy'))).toEqual([]);
  const kept = await trace.of(by('busy', 'child'));
  const characters = kept.reduce((sum, { input, result }) => sum + input.length + result.length, 0);
  expect([characters <= TRACE_LIMITS.characters, characters > TRACE_LIMITS.characters - 2_002]).toEqual([true, true]);
});

test('of more families than are kept the one that called longest ago is forgotten', async () => {
  const trace = new CallTrace();
  for (let at = 0; at < TRACE_LIMITS.families; at += 1) trace.keep(by(`agent-${at}`), call('list_peers'));
  trace.keep(by('agent-0'), call('get_peer'));
  trace.keep(by('another'), call('get_peer'));
  expect(await trace.of(by('agent-1'))).toEqual([]);
  expect((await trace.of(by('agent-0'))).map(({ operation }) => operation)).toEqual(['get_peer', 'list_peers']);
});

test('once all workspaces together have too much, the one that has most forgets what called longest ago', async () => {
  const trace = new CallTrace({ allCharacters: 1_000 });
  const of = (workspace: string, family: string) => ({ workspace, family, caller: family });
  trace.keep(of('small', 'quiet'), call('get_peer', 100));
  for (let at = 0; at < 9; at += 1) trace.keep(of('large', `agent-${at}`), call('list_peers', 98));
  expect(await trace.of(of('large', 'agent-0'))).toEqual([]);
  expect(await trace.of(of('small', 'quiet'))).toHaveLength(1);
  expect(await trace.of(of('large', 'agent-8'))).toHaveLength(1);
});
