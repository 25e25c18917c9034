import { describe, expect, it } from 'vitest';
import { unmetExpectations } from '../../core/intent/verify/expectations.ts';
import type { PolicySpec } from '../../core/model/policy.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import { after, answerTo, ELSEWHERE, NOW, networkOf, OPEN, openIn } from './open-between.testkit.ts';

describe('who is closed to everyone but some', () => {
  const LEFT: readonly (readonly [string, string])[] = [
    ['api-1', ''],
    ['web-1', '5432/tcp '],
    ['the laptop', '22/tcp '],
  ];
  const some = (count: number, way: 'from' | 'to', on: boolean) =>
    LEFT.slice(0, count).map(([who, ports]) => `${on ? ports : ''}${way} ${who}`);
  const FRAMES: readonly (readonly ['in' | 'out', string, 'from' | 'to'])[] = [
    ['in', 'isolate db-1', 'from'],
    ['out', 'isolate db-1', 'to'],
    ['in', 'block everyone from db-1', 'from'],
    ['in', 'block all traffic to db-1', 'from'],
    ['out', 'block db-1 from everyone', 'to'],
    ['out', 'block db-1 from everything', 'to'],
  ];
  const JOINTS = [' and ', ', ', ' and except '];
  const cases = FRAMES.flatMap(([side, head, way]) =>
    [1, 2, 3].flatMap((count) =>
      [true, false].flatMap((on) =>
        JOINTS.map((joint): [string, 'in' | 'out'] => [`${head} except ${some(count, way, on).join(joint)}`, side]),
      ),
    ),
  );
  const planned = cases.filter(([intent]) => answerTo(intent, OPEN).outcome === 'changes');

  it('is planned with one exception and with several', () => {
    expect(planned.length).toBeGreaterThan(cases.length / 2);
  });

  it.each(planned)('is closed to who is outside, and expected to be: %s', (intent, side) => {
    const next = after(intent, OPEN);
    const [from, to] = side === 'in' ? [[ELSEWHERE], ['db-1']] : [['db-1'], [ELSEWHERE]];
    expect(openIn(next, from, to, 22)).toEqual([]);
    const answer = answerTo(intent, OPEN);
    const { expectations } = answer.outcome === 'changes' ? answer : { expectations: [] };
    const closed: PolicySpec =
      side === 'in'
        ? { action: 'DENY', peerSelector: { peers: ['p_db-1'] }, ingress: [{ from: [{ peerSelector: {} }] }] }
        : { action: 'DENY', peerSelector: { peers: ['p_db-1'] }, egress: [{ to: [{ peerSelector: {} }] }] };
    const state = networkOf('ALLOW', ['all-but-outside', closed]);
    const unmet = unmetExpectations(expectations, state, compile(modelOf(state, NOW)));
    const end = side === 'in' ? ('src' as const) : ('dst' as const);
    expect(unmet.filter((one) => one.expect === 'deny').map((one) => one[end])).toContain('outside');
  });
});
