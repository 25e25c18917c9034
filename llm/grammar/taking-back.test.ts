import { describe, expect, it } from 'vitest';
import { planChanges } from '../../core/changes/changes.ts';
import type { PolicySpec } from '../../core/model/policy.ts';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';
import { effectOfChanges } from './loosened.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const PEERS = [
  peer('laptop', { labels: { team: 'dev' }, address: '10.96.0.1' }),
  peer('db-1', { labels: { role: 'db' }, address: '10.96.0.2' }),
  peer('web-1', { labels: { role: 'web' }, address: '10.96.0.3' }),
];
const uidOf = (name: string) => PEERS.find((one) => one.name === name)?.uid ?? name;
const grant: PolicySpec = {
  action: 'ALLOW',
  peerSelector: { peers: [uidOf('db-1')] },
  ingress: [{ from: [{ peerSelector: { peers: [uidOf('laptop')] } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
};
const shut: PolicySpec = { action: 'ALLOW', peerSelector: { peers: [uidOf('db-1')] }, ingress: [] };

function taken(policies: Readonly<Record<string, PolicySpec>>) {
  const state = stateWith(...PEERS, ...Object.entries(policies).map(([name, spec]) => policy(name, spec)));
  const answer = planByGrammar({ intent: 'take back laptop access to db-1', state, now: NOW });
  if (answer.outcome !== 'changes') throw new Error(JSON.stringify(answer));
  const { after } = planChanges(state, answer.changes, NOW);
  return {
    changes: answer.changes.map(({ action, name }) => `${action} ${name}`),
    opened: effectOfChanges(answer.changes, state, NOW).openedPairs,
    left: [...after.policies.keys()],
  };
}

describe('taking the last access back', () => {
  it.each<[string, Readonly<Record<string, PolicySpec>>, string[]]>([
    ['leaves the policy where nothing else isolates the peer', { grant }, ['update grant']],
    ['deletes it where another isolates the same peer', { grant, shut }, ['delete grant']],
    [
      'deletes it where another isolates everyone',
      { grant, base: { action: 'DENY', peerSelector: {} } },
      ['delete grant'],
    ],
    [
      'leaves it where the other one is about another direction',
      { grant, out: { action: 'ALLOW', peerSelector: { peers: [uidOf('db-1')] }, egress: [] } },
      ['update grant'],
    ],
    [
      'leaves it where the other one ends before',
      { grant, shut: { ...shut, expiresAt: '2026-01-05T13:00:00Z' } },
      ['update grant'],
    ],
    ['leaves one of two that isolate it alone', { grant, twin: grant }, ['delete grant', 'update twin']],
  ])('%s, and opens nothing', (_what, policies, changes) => {
    expect(taken(policies)).toMatchObject({ changes, opened: 0 });
  });
});
