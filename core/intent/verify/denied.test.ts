import { expect, it } from 'vitest';
import { network, peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import { effectOf } from '../../effect/effect.ts';
import type { PolicySpec } from '../../model/policy.ts';
import { compile } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import { deniedBefore } from './denied.ts';
import { narrowedDenies } from './narrowed.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const SCENE = [
  network('default', { defaultAction: 'ALLOW' }),
  peer('lab', { labels: { role: 'lab' }, address: '10.96.0.1' }),
  peer('web', { labels: { role: 'web' }, address: '10.96.0.2' }),
  peer('db', { labels: { role: 'db' }, address: '10.96.0.3' }),
];
const only = (role: string) => ({ matchLabels: { role } });
const LAB: PolicySpec = {
  action: 'DENY',
  peerSelector: only('db'),
  ingress: [{ from: [{ peerSelector: only('lab') }] }],
};
const NOT_PORT_22: PolicySpec = { ...LAB, ingress: [{ from: [{ peerSelector: only('lab') }], ports: [{ port: 80 }] }] };
const BLOCK: PolicySpec = {
  action: 'DENY',
  peerSelector: only('db'),
  egress: [{ to: [{ ipBlock: { cidr: '203.0.113.0/24' } }] }],
};

function compared(old: PolicySpec, now?: PolicySpec, name = 'no') {
  const before = stateWith(...SCENE, policy('no', old));
  const after = now ? stateWith(...SCENE, policy(name, now)) : stateWith(...SCENE);
  const [was, is] = [compile(modelOf(before, NOW)), compile(modelOf(after, NOW))];
  return { before, after, was, is, effect: effectOf(was, is) };
}

it('a DENY that denied peers, or addresses outside, is found with an example', () => {
  expect(deniedBefore(compared(LAB))).toEqual([{ policy: 'no', src: 'lab', dst: 'db' }]);
  expect(deniedBefore(compared(LAB, NOT_PORT_22))).toEqual([{ policy: 'no', src: 'lab', dst: 'db' }]);
  expect(deniedBefore(compared(BLOCK))).toEqual([{ policy: 'no', src: 'db', dst: '203.0.113.0/24' }]);
  expect(deniedBefore(compared(NOT_PORT_22, LAB))).toEqual([]);
});

it.each<[string, PolicySpec, PolicySpec | undefined, string, boolean]>([
  ['its ports are fewer', LAB, NOT_PORT_22, 'no', true],
  ['it ends sooner', LAB, { ...LAB, expiresAt: '2026-02-01T00:00:00Z' }, 'no', true],
  ['it becomes an ALLOW', LAB, { ...LAB, action: 'ALLOW' }, 'no', true],
  ['its ports are more', NOT_PORT_22, LAB, 'no', false],
  ['its subjects are all peers', LAB, { ...LAB, peerSelector: {} }, 'no', false],
  ['another name denies the same', LAB, LAB, 'renamed', false],
])('a DENY denies less where %s: %#', (_what, old, now, name, isLess) => {
  expect(narrowedDenies(compared(old, now, name))).toEqual(isLess ? ['no'] : []);
});
