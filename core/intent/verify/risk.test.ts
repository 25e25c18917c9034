import { expect, it } from 'vitest';
import { network, peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import { type NetworkChange, planChanges } from '../../changes/changes.ts';
import { effectOf } from '../../effect/effect.ts';
import { compile } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import type { NetworkState } from '../../state/state.ts';
import { riskOf } from './risk.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const MARKED = peer('card-1', { labels: { role: 'card', pci: 'true' }, address: '10.96.0.1' });
const PLAIN = peer('card-2', { labels: { role: 'card' }, address: '10.96.0.2' });
const BEFORE = stateWith(
  network('default', { defaultAction: 'DENY' }),
  MARKED,
  PLAIN,
  peer('web-1', { address: '10.96.0.3' }),
  policy('out', { action: 'ALLOW', peerSelector: {}, egress: [{}] }),
);
const REACHED = 'opens new ways to 1 sensitive peer';
const UNMARKED = 'takes the mark of sensitive data from 1 peer';

const opening = (name: string): NetworkChange => ({
  action: 'create',
  resource: 'MeshPolicy',
  name: `to-${name}`,
  spec: {
    action: 'ALLOW',
    peerSelector: { peers: [name] },
    ingress: [{ from: [{ peerSelector: { peers: ['web-1'] } }], ports: [{ port: 443 }] }],
  },
});
const labelled = (name: string, labels: Record<string, string>): NetworkChange => ({
  action: 'update',
  resource: 'MeshPeer',
  name,
  labels,
});

const out = (name: string, ranges: readonly string[]): NetworkChange => ({
  action: 'create',
  resource: 'MeshPolicy',
  name: `out-${name}`,
  spec: {
    action: 'ALLOW',
    peerSelector: { peers: [name] },
    egress: ranges.map((cidr, index) => ({ to: [{ ipBlock: { cidr } }], ports: [{ port: 1_000 + index }] })),
  },
});

it.each<[string, NetworkChange[], string, string[]]>([
  ['opening a sensitive peer is high', [opening('card-1')], 'high', [REACHED]],
  [
    'taking its label off in the same plan makes it no less',
    [opening('card-1'), labelled('card-1', { role: 'card' })],
    'high',
    [REACHED, UNMARKED],
  ],
  [
    'a value that says no takes the mark off too',
    [labelled('card-1', { role: 'card', pci: 'false' })],
    'high',
    [UNMARKED],
  ],
  [
    'a peer that the same plan marks is sensitive',
    [opening('card-2'), labelled('card-2', { role: 'card', pci: 'true' })],
    'high',
    [REACHED],
  ],
  ['another label of a sensitive peer is no risk', [labelled('card-1', { pci: 'true' })], 'low', []],
])('%s', (_what, changes, level, reasons) => {
  const { after } = planChanges(BEFORE, changes, NOW);
  const effect = effectOf(compile(modelOf(BEFORE, NOW)), compile(modelOf(after, NOW)));
  expect(riskOf(effect, BEFORE, after, { callerPeer: undefined, findings: [] })).toEqual({ level, reasons });
});

it('a slice of ports is judged with what is open beside it', () => {
  const slice = (port: number): NetworkChange => ({
    action: 'create',
    resource: 'MeshPolicy',
    name: `slice-${port}`,
    spec: {
      action: 'ALLOW',
      peerSelector: { peers: ['card-2'] },
      ingress: [{ from: [{ peerSelector: { peers: ['web-1'] } }], ports: [{ port, endPort: port + 59 }] }],
    },
  });
  const first = planChanges(BEFORE, [slice(100)], NOW).after;
  const second = planChanges(first, [slice(200)], NOW).after;
  const risk = (before: NetworkState, after: NetworkState) =>
    riskOf(effectOf(compile(modelOf(before, NOW)), compile(modelOf(after, NOW))), before, after, {
      callerPeer: undefined,
      findings: [],
    }).level;
  expect([risk(BEFORE, first), risk(first, second)]).toEqual(['low', 'medium']);
});

it.each<[string, NetworkChange, string]>([
  ['a sensitive peer that reaches out is high', out('card-1', ['8.8.8.0/24']), 'sensitive'],
  [
    'many ranges out come to no less than all of them',
    out(
      'web-1',
      Array.from({ length: 20 }, (_, index) => `${20 + index}.0.0.0/8`),
    ),
    'anyone',
  ],
])('%s', (_what, change, reason) => {
  const before = stateWith(
    network('default', { defaultAction: 'DENY' }),
    MARKED,
    peer('web-1', { address: '10.96.0.3' }),
  );
  const { after } = planChanges(before, [change], NOW);
  const effect = effectOf(compile(modelOf(before, NOW)), compile(modelOf(after, NOW)));
  expect(riskOf(effect, before, after, { callerPeer: undefined, findings: [] })).toEqual({
    level: 'high',
    reasons: [expect.stringContaining(reason)],
  });
});
